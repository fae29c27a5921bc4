//! Message header: identifies a message, so that the receiver can check it.

use crate::error::FabricError;
use crate::tag::{FieldHashes, MessageId, OperationLabel, Tag, decode_field_hashes};

/// The id of a message and the length of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageHeader {
    pub id: MessageId,
    pub bytes: u64,
}

/// The message that a rank expects next from a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpectedMessage {
    pub id: MessageId,
    /// The expected payload length; None accepts any length.
    pub bytes: Option<u64>,
}

impl MessageHeader {
    /// Encoded length: four words, the field hashes, the label length and the label.
    pub const ENCODED_BYTES: usize = 32 + size_of::<FieldHashes>() + 1 + OperationLabel::MAX_BYTES;
    /// Offset of the label length.
    const LABEL_LENGTH_OFFSET: usize = 32 + size_of::<FieldHashes>();

    pub fn encode(&self) -> [u8; Self::ENCODED_BYTES] {
        let place = self.id.tag.label.as_bytes();
        let mut bytes = [0; Self::ENCODED_BYTES];
        let MessageId { sequence, tag } = self.id;
        for (at, word) in
            [sequence, tag.hash, tag.sequence_number, self.bytes].into_iter().enumerate()
        {
            bytes[8 * at..8 * at + 8].copy_from_slice(&word.to_le_bytes());
        }
        for (at, aspect) in tag.field_hashes.into_iter().enumerate() {
            bytes[32 + 2 * at..34 + 2 * at].copy_from_slice(&aspect.to_le_bytes());
        }
        bytes[Self::LABEL_LENGTH_OFFSET] = place.len() as u8;
        bytes[Self::LABEL_LENGTH_OFFSET + 1..][..place.len()].copy_from_slice(place);
        bytes
    }

    /// Decodes the header at the start of an envelope.
    pub fn decode(bytes: &[u8]) -> Self {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 * at + byte]));
        let length = usize::from(bytes[Self::LABEL_LENGTH_OFFSET]).min(OperationLabel::MAX_BYTES);
        let place = OperationLabel::from_bytes(&bytes[Self::LABEL_LENGTH_OFFSET + 1..][..length]);
        let aspects = decode_field_hashes(&bytes[32..]);
        let tag =
            Tag { hash: word(1), sequence_number: word(2), field_hashes: aspects, label: place };
        let id = MessageId { sequence: word(0), tag };
        Self { id, bytes: word(3) }
    }
}

impl ExpectedMessage {
    /// Checks that this header, of a message from `peer` to `rank`, is the expected one.
    pub fn check(&self, rank: u64, peer: u64, header: &MessageHeader) -> Result<(), FabricError> {
        let (expected, received) = (self.id, header.id);
        let agree =
            (expected.sequence, expected.tag.hash) == (received.sequence, received.tag.hash);
        if !agree && received.tag.hash == Tag::LEAVING_HASH {
            return Err(FabricError::left(peer, rank, expected.tag));
        }
        if !agree {
            let (expected, received) = (expected.into(), received.into());
            return Err(FabricError::Diverged { rank, peer, expected, received });
        }
        match self.bytes.filter(|&bytes| bytes != header.bytes) {
            None => Ok(()),
            Some(expected_bytes) => Err(FabricError::LengthMismatch {
                rank,
                peer,
                expected_bytes,
                received_bytes: header.bytes,
                id: received.into(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(sequence: u64, hash: u64, bytes: u64) -> MessageHeader {
        MessageHeader { id: MessageId { sequence, tag: Tag::new(hash, "a.py:3") }, bytes }
    }

    #[test]
    fn encoding_round_trips() {
        let sent = header(3, u64::MAX, 1 << 40);
        assert_eq!(MessageHeader::decode(&sent.encode()), sent);
    }

    #[test]
    fn mismatches_are_reported() {
        let expected = ExpectedMessage { id: header(3, 7, 0).id, bytes: Some(8) };
        let error_text = |header| expected.check(0, 1, &header).unwrap_err().to_string();
        assert_eq!(expected.check(0, 1, &header(3, 7, 8)), Ok(()));
        assert_eq!(
            error_text(header(2, 9, 8)),
            "ranks diverged: rank 0 expects message 3 (operation 0: a.py:3), \
             but rank 1 sent message 2 (operation 0: a.py:3)"
        );
        assert!(
            error_text(header(3, 7, 16))
                .starts_with("rank 0 expects 8 bytes from rank 1, which sent 16")
        );
        let left = "ranks diverged: rank 1 left, but rank 0 is in operation 0: a.py:3";
        assert_eq!(error_text(header(3, Tag::LEAVING_HASH, 0)), left);
    }
}
