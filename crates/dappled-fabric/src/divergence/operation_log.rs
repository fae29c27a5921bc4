//! Log of the operations of a rank, chained into one hash.
//!
//! All ranks log the same operations in the same order, so the hashes at one sequence number are
//! equal. A different hash shows that the ranks diverged at that operation or earlier, even if the
//! operation itself sent no message.

use std::collections::VecDeque;

use crate::config::LOGGED_OPERATIONS;
use crate::tag::{FieldHashes, OperationLabel, Tag, mix_hash};

/// The operations that this rank has started: a running hash and the most recent entries.
#[derive(Default)]
pub(crate) struct OperationLog {
    recent: VecDeque<Tag>,
}

impl OperationLog {
    /// Appends the next operation. `hash` covers everything that ranks must agree on.
    pub fn record(&mut self, hash: u64, aspects: FieldHashes, place: OperationLabel) -> Tag {
        let before = self.recent.back().map_or((0, 0), |tag| (tag.sequence_number, tag.hash));
        let tag = Tag {
            sequence_number: before.0 + 1,
            hash: mix_hash(before.1, hash),
            field_hashes: aspects,
            label: place,
        };
        if self.recent.len() == LOGGED_OPERATIONS {
            self.recent.pop_front();
        }
        self.recent.push_back(tag);
        tag
    }

    /// Returns the most recent operations, oldest first.
    pub fn recent(&self) -> Vec<Tag> {
        self.recent.iter().copied().collect()
    }
}

/// Returns the first operation at which two of these per-rank logs differ.
pub(crate) fn first_difference(logs: &[(u64, &[Tag])]) -> Option<[(u64, Tag); 2]> {
    let all = || logs.iter().flat_map(|(rank, log)| log.iter().map(|tag| (*rank, *tag)));
    let differs = |(_, tag): &(u64, Tag)| {
        all().any(|(_, other)| {
            other.sequence_number == tag.sequence_number && other.hash != tag.hash
        })
    };
    let one = all().filter(differs).min_by_key(|(rank, tag)| (tag.sequence_number, *rank))?;
    let other = all()
        .find(|(_, tag)| tag.sequence_number == one.1.sequence_number && tag.hash != one.1.hash)?;
    Some([one, other])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(hashes: &[u64]) -> Vec<Tag> {
        let mut log = OperationLog::default();
        for hash in hashes {
            log.record(*hash, FieldHashes::default(), OperationLabel::new(&hash.to_string()));
        }
        log.recent()
    }

    #[test]
    fn first_difference_is_found_in_any_order() {
        let (one, other) = (log(&[1, 2, 3, 4]), log(&[1, 2, 5, 4, 6]));
        let [first, second] = first_difference(&[(0, &one), (1, &one), (2, &other)]).unwrap();
        assert_eq!(
            (first.0, first.1.sequence_number, first.1.label),
            (0, 3, OperationLabel::new("3"))
        );
        assert_eq!((second.0, second.1.label), (2, OperationLabel::new("5")));
        assert_eq!(first_difference(&[(0, &one), (1, &log(&[1, 2]))]), None);
    }

    #[test]
    fn hashes_cover_operations_that_left_the_log() {
        let [one, other] = [1, 2].map(|first| {
            let hashes: Vec<u64> = std::iter::once(first).chain([7; 100]).collect();
            log(&hashes)
        });
        assert_eq!(one.len(), LOGGED_OPERATIONS);
        assert_eq!(first_difference(&[(0, &one), (1, &other)]).unwrap()[0].1.sequence_number, 70);
    }
}
