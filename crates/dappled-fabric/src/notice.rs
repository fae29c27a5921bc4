//! What a rank says aside, beside its messages: a question, that it failed, or its farewell.

use crate::tag::{Aspects, Place, Tag};

/// What one rank tells another about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub rank: u64,
    pub kind: Kind,
    /// Its last operations.
    pub log: Vec<Tag>,
    /// The exit status with which it leaves, where it is at its end.
    pub leaving: Option<i32>,
    /// Why it failed, for people.
    pub reason: String,
    /// Notices that it has sent to the receiver before this one.
    pub told: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It has waited for the receiver for a while.
    Asks,
    /// It can't go on.
    Failed,
    /// It is at the end of its program.
    Leaves,
}

const KINDS: [Kind; 3] = [Kind::Asks, Kind::Failed, Kind::Leaves];
const LONGEST_REASON: usize = 2000;

impl Notice {
    /// No notice is longer.
    pub const LONGEST: usize = 16 << 10;

    pub fn encode(&self) -> Vec<u8> {
        let reason = &self.reason[..self.reason.floor_char_boundary(LONGEST_REASON)];
        let leaving = self.leaving.map_or(u64::MAX, |status| u64::from(status as u32));
        let mut bytes = vec![KINDS.iter().position(|kind| *kind == self.kind).unwrap_or(0) as u8];
        for word in [self.rank, leaving, self.told, reason.len() as u64, self.log.len() as u64] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(reason.as_bytes());
        for tag in &self.log {
            bytes.extend(tag.number.to_le_bytes());
            bytes.extend(tag.hash.to_le_bytes());
            bytes.extend(tag.aspects.iter().flat_map(|aspect| aspect.to_le_bytes()));
            bytes.push(tag.place.as_bytes().len() as u8);
            bytes.extend(tag.place.as_bytes());
        }
        bytes
    }

    /// The notice that these bytes begin with; None if it is cut off.
    pub fn decode(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let kind = *KINDS.get(usize::from(taken(rest, 1)?[0]))?;
        let (rank, leaving, told) = (word(rest)?, word(rest)?, word(rest)?);
        let (reason, tags) = (word(rest)?, word(rest)?);
        let reason = String::from_utf8_lossy(taken(rest, reason as usize)?).into_owned();
        let log = (0..tags).map(|_| tag(rest)).collect::<Option<Vec<Tag>>>()?;
        let leaving = (leaving != u64::MAX).then_some(leaving as i32);
        Some(Self { rank, kind, log, leaving, reason, told })
    }
}

fn taken<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(first)
}

fn word(bytes: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(taken(bytes, 8)?.try_into().ok()?))
}

fn tag(bytes: &mut &[u8]) -> Option<Tag> {
    let (number, hash) = (word(bytes)?, word(bytes)?);
    let aspects = aspects(taken(bytes, size_of::<Aspects>())?);
    let length = taken(bytes, 1)?[0];
    let place =
        Place::from_bytes(taken(bytes, length.into())?.get(..Place::ROOM.min(length.into()))?);
    Some(Tag { number, hash, aspects, place })
}

/// The aspects that these bytes are.
pub(crate) fn aspects(bytes: &[u8]) -> Aspects {
    std::array::from_fn(|at| u16::from_le_bytes([bytes[2 * at], bytes[2 * at + 1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_comes_back_as_it_went() {
        let tag = Tag {
            number: 3,
            hash: 9,
            aspects: [1, 2, 3, 4, 5, 6, 7, 8],
            place: Place::new(&"x".repeat(500)),
        };
        let long = Notice {
            rank: 2,
            kind: Kind::Failed,
            log: vec![tag; 32],
            leaving: Some(-1),
            reason: "ü".repeat(3000),
            told: 5,
        };
        let mut bytes = long.encode();
        assert!(bytes.len() <= Notice::LONGEST);
        bytes.resize(Notice::LONGEST, 0);
        let found = Notice::decode(&bytes).unwrap();
        assert_eq!(found, Notice { reason: "ü".repeat(1000), ..long });
        assert_eq!(Notice::decode(&bytes[..99]), None);
    }
}
