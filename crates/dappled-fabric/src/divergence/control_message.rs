//! Control messages: a query, a failure report, or a goodbye.

use crate::config::MAX_REASON_BYTES;
use crate::tag::{FieldHashes, OperationLabel, Tag, decode_field_hashes};

/// The state of one rank, as sent to another rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ControlMessage {
    pub rank: u64,
    pub kind: ControlKind,
    /// The most recent operations of the rank.
    pub log: Vec<Tag>,
    /// The exit status, if the rank has reached the end of its program.
    pub exit_status: Option<i32>,
    /// The error text of a failure report.
    pub reason: String,
    /// Number of control messages sent to the receiver before this one.
    pub sent_before: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ControlKind {
    /// The rank has waited for the receiver for a long time.
    Query,
    /// The rank cannot continue.
    Failure,
    /// The rank has reached the end of its program.
    Goodbye,
}

const CONTROL_KINDS: [ControlKind; 3] =
    [ControlKind::Query, ControlKind::Failure, ControlKind::Goodbye];

impl ControlMessage {
    /// Upper bound of the encoded length.
    pub const MAX_BYTES: usize = 16 << 10;

    pub fn encode(&self) -> Vec<u8> {
        let reason = &self.reason[..self.reason.floor_char_boundary(MAX_REASON_BYTES)];
        let exit_status = self.exit_status.map_or(u64::MAX, |status| u64::from(status as u32));
        let mut bytes =
            vec![CONTROL_KINDS.iter().position(|kind| *kind == self.kind).unwrap_or(0) as u8];
        for word in
            [self.rank, exit_status, self.sent_before, reason.len() as u64, self.log.len() as u64]
        {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(reason.as_bytes());
        for tag in &self.log {
            bytes.extend(tag.sequence_number.to_le_bytes());
            bytes.extend(tag.hash.to_le_bytes());
            bytes.extend(tag.field_hashes.iter().flat_map(|aspect| aspect.to_le_bytes()));
            bytes.push(tag.label.as_bytes().len() as u8);
            bytes.extend(tag.label.as_bytes());
        }
        bytes
    }

    /// Decodes the message at the start of `bytes`; None if it is truncated.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let kind = *CONTROL_KINDS.get(usize::from(take_bytes(rest, 1)?[0]))?;
        let (rank, exit_status, sent_before) =
            (take_word(rest)?, take_word(rest)?, take_word(rest)?);
        let (reason, tags) = (take_word(rest)?, take_word(rest)?);
        let reason = String::from_utf8_lossy(take_bytes(rest, reason as usize)?).into_owned();
        let log = (0..tags).map(|_| take_tag(rest)).collect::<Option<Vec<Tag>>>()?;
        let exit_status = (exit_status != u64::MAX).then_some(exit_status as i32);
        Some(Self { rank, kind, log, exit_status, reason, sent_before })
    }
}

fn take_bytes<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(first)
}

fn take_word(bytes: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take_bytes(bytes, 8)?.try_into().ok()?))
}

fn take_tag(bytes: &mut &[u8]) -> Option<Tag> {
    let (number, hash) = (take_word(bytes)?, take_word(bytes)?);
    let aspects = decode_field_hashes(take_bytes(bytes, size_of::<FieldHashes>())?);
    let length = take_bytes(bytes, 1)?[0];
    let place = OperationLabel::from_bytes(
        take_bytes(bytes, length.into())?.get(..OperationLabel::MAX_BYTES.min(length.into()))?,
    );
    Some(Tag { sequence_number: number, hash, field_hashes: aspects, label: place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_round_trips() {
        let tag = Tag {
            sequence_number: 3,
            hash: 9,
            field_hashes: [1, 2, 3, 4, 5, 6, 7, 8],
            label: OperationLabel::new(&"x".repeat(500)),
        };
        let long = ControlMessage {
            rank: 2,
            kind: ControlKind::Failure,
            log: vec![tag; 32],
            exit_status: Some(-1),
            reason: "ü".repeat(3000),
            sent_before: 5,
        };
        let mut bytes = long.encode();
        assert!(bytes.len() <= ControlMessage::MAX_BYTES);
        bytes.resize(ControlMessage::MAX_BYTES, 0);
        let decoded = ControlMessage::decode(&bytes).unwrap();
        assert_eq!(decoded, ControlMessage { reason: "ü".repeat(1000), ..long });
        assert_eq!(ControlMessage::decode(&bytes[..99]), None);
    }
}
