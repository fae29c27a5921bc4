//! The operations of a rank: counted, folded into one hash, and the last of them remembered.
//!
//! Every rank notes the same operations in the same order, so that at the same number all have the
//! same hash: one that differs says that the ranks diverged there or before, also where the
//! operation itself needed no message.

use std::collections::VecDeque;

use crate::tag::{Aspects, Place, Tag, mixed};

/// So many operations are remembered, for people.
const KEPT: usize = 32;

/// The operations that this rank has begun.
#[derive(Default)]
pub(crate) struct Logbook {
    last: VecDeque<Tag>,
}

impl Logbook {
    /// Notes the next operation; what ranks must agree on is `hash`.
    pub fn note(&mut self, hash: u64, aspects: Aspects, place: Place) -> Tag {
        let before = self.last.back().map_or((0, 0), |tag| (tag.number, tag.hash));
        let tag = Tag { number: before.0 + 1, hash: mixed(before.1, hash), aspects, place };
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(tag);
        tag
    }

    /// The last operations, the newest at the end.
    pub fn last(&self) -> Vec<Tag> {
        self.last.iter().copied().collect()
    }
}

/// The first operation at which two of these logs, each of a rank, differ.
pub(crate) fn first_difference(logs: &[(u64, &[Tag])]) -> Option<[(u64, Tag); 2]> {
    let all = || logs.iter().flat_map(|(rank, log)| log.iter().map(|tag| (*rank, *tag)));
    let differs = |(_, tag): &(u64, Tag)| {
        all().any(|(_, other)| other.number == tag.number && other.hash != tag.hash)
    };
    let one = all().filter(differs).min_by_key(|(rank, tag)| (tag.number, *rank))?;
    let other = all().find(|(_, tag)| tag.number == one.1.number && tag.hash != one.1.hash)?;
    Some([one, other])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(hashes: &[u64]) -> Vec<Tag> {
        let mut book = Logbook::default();
        for hash in hashes {
            book.note(*hash, Aspects::default(), Place::new(&hash.to_string()));
        }
        book.last()
    }

    #[test]
    fn the_first_difference_is_found_whoever_comes_last() {
        let (one, other) = (log(&[1, 2, 3, 4]), log(&[1, 2, 5, 4, 6]));
        let [first, second] = first_difference(&[(0, &one), (1, &one), (2, &other)]).unwrap();
        assert_eq!((first.0, first.1.number, first.1.place), (0, 3, Place::new("3")));
        assert_eq!((second.0, second.1.place), (2, Place::new("5")));
        assert_eq!(first_difference(&[(0, &one), (1, &log(&[1, 2]))]), None);
    }

    #[test]
    fn what_is_forgotten_is_still_told_apart() {
        let [one, other] = [1, 2].map(|first| {
            let hashes: Vec<u64> = std::iter::once(first).chain([7; 100]).collect();
            log(&hashes)
        });
        assert_eq!(one.len(), KEPT);
        assert_eq!(first_difference(&[(0, &one), (1, &other)]).unwrap()[0].1.number, 70);
    }
}
