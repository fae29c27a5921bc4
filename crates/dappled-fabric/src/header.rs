//! What every message says about itself, and what its receiver makes of it.

use std::fmt;

use crate::error::FabricError;
use crate::notice::aspects;
use crate::tag::{Aspects, Place, Tag};

/// One message between two ranks: which one it is, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The number of the message among those of this sender to this receiver, from 1.
    pub sequence: u64,
    /// The operation.
    pub tag: Tag,
}

/// A stamp and the length of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub stamp: Stamp,
    pub bytes: u64,
}

/// What a rank expects of the next message of a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expectation {
    pub stamp: Stamp,
    /// None: as long as the sender says.
    pub bytes: Option<u64>,
}

impl Header {
    /// The bytes of a header: four words, the aspects, the length of the place, the place.
    pub const BYTES: usize = 32 + size_of::<Aspects>() + 1 + Place::ROOM;
    /// Where the length of the place is.
    const LENGTH: usize = 32 + size_of::<Aspects>();

    pub fn encode(&self) -> [u8; Self::BYTES] {
        let place = self.stamp.tag.place.as_bytes();
        let mut bytes = [0; Self::BYTES];
        let Stamp { sequence, tag } = self.stamp;
        for (at, word) in [sequence, tag.hash, tag.number, self.bytes].into_iter().enumerate() {
            bytes[8 * at..8 * at + 8].copy_from_slice(&word.to_le_bytes());
        }
        for (at, aspect) in tag.aspects.into_iter().enumerate() {
            bytes[32 + 2 * at..34 + 2 * at].copy_from_slice(&aspect.to_le_bytes());
        }
        bytes[Self::LENGTH] = place.len() as u8;
        bytes[Self::LENGTH + 1..][..place.len()].copy_from_slice(place);
        bytes
    }

    /// The header at the start of an envelope.
    pub fn decode(bytes: &[u8]) -> Self {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 * at + byte]));
        let length = usize::from(bytes[Self::LENGTH]).min(Place::ROOM);
        let place = Place::from_bytes(&bytes[Self::LENGTH + 1..][..length]);
        let aspects = aspects(&bytes[32..]);
        let tag = Tag { hash: word(1), number: word(2), aspects, place };
        let stamp = Stamp { sequence: word(0), tag };
        Self { stamp, bytes: word(3) }
    }
}

impl Expectation {
    /// Is this header, of a message from `peer` to `rank`, the one expected?
    pub fn check(&self, rank: u64, peer: u64, header: &Header) -> Result<(), FabricError> {
        let (awaited, found) = (self.stamp, header.stamp);
        let agree = (awaited.sequence, awaited.tag.hash) == (found.sequence, found.tag.hash);
        if !agree && found.tag.hash == Tag::LEAVING {
            return Err(FabricError::left(peer, rank, awaited.tag));
        }
        if !agree {
            let (awaited, found) = (awaited.into(), found.into());
            return Err(FabricError::Diverged { rank, peer, awaited, found });
        }
        match self.bytes.filter(|&bytes| bytes != header.bytes) {
            None => Ok(()),
            Some(awaited_bytes) => Err(FabricError::Length {
                rank,
                peer,
                awaited_bytes,
                found_bytes: header.bytes,
                stamp: found.into(),
            }),
        }
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "message {} ({})", self.sequence, self.tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(sequence: u64, hash: u64, bytes: u64) -> Header {
        Header { stamp: Stamp { sequence, tag: Tag::new(hash, "a.py:3") }, bytes }
    }

    #[test]
    fn a_header_comes_back_as_it_went() {
        let sent = header(3, u64::MAX, 1 << 40);
        assert_eq!(Header::decode(&sent.encode()), sent);
    }

    #[test]
    fn what_differs_is_named() {
        let expected = Expectation { stamp: header(3, 7, 0).stamp, bytes: Some(8) };
        let said = |found| expected.check(0, 1, &found).unwrap_err().to_string();
        assert_eq!(expected.check(0, 1, &header(3, 7, 8)), Ok(()));
        assert_eq!(
            said(header(2, 9, 8)),
            "ranks diverged: rank 0 awaits message 3 (operation 0: a.py:3), \
             but rank 1 sent message 2 (operation 0: a.py:3)"
        );
        assert!(
            said(header(3, 7, 16)).starts_with("rank 0 awaits 8 bytes from rank 1, which sent 16")
        );
        let left = "ranks diverged: rank 1 left, but rank 0 is in operation 0: a.py:3";
        assert_eq!(said(header(3, Tag::LEAVING, 0)), left);
    }
}
