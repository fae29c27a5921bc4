//! The common interface of block and cyclic maps.

use std::ops::{Range, RangeInclusive};

/// Consecutive positions that are contiguous in the piece of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnedRun {
    /// The owner.
    pub rank: u64,
    /// The local index of the first position, padding included.
    pub local: u64,
    /// The first position after the run.
    pub stop: u64,
}

/// The common interface of block and cyclic maps: ownership is computed, and each rank holds its
/// positions in ascending order.
pub(crate) trait StructuredMap {
    fn size(&self) -> u64;
    fn grid(&self) -> u64;
    /// Returns the period of the owners in positions; None if each rank has one range.
    fn period(&self) -> Option<u128>;
    /// Returns the range of a rank, if each has one.
    fn range(&self, rank: u64) -> Option<Range<u64>>;
    /// Returns the run that starts at a position.
    fn run_at(&self, position: u64) -> OwnedRun;
    /// Counts the positions below `position` that a rank owns.
    fn owned_before(&self, rank: u64, position: u64) -> u64;
    /// Returns the position of a rank's owned element number `count`, which must exist.
    fn nth_owned(&self, rank: u64, count: u64) -> u64;

    /// Returns the local index of the first owned cell, which follows the left padding.
    fn first_local(&self, _rank: u64) -> u64 {
        0
    }

    /// Returns the first position from `position` on that the rank owns.
    fn next_owned(&self, rank: u64, position: u64) -> Option<u64> {
        let before = self.owned_before(rank, position);
        (before < self.owned_before(rank, self.size())).then(|| self.nth_owned(rank, before))
    }
}

/// Returns the ranges that a rank owns.
pub(super) fn owned_ranges<M: StructuredMap>(
    map: &M,
    rank: u64,
) -> impl Iterator<Item = RangeInclusive<i64>> {
    let mut position = 0;
    std::iter::from_fn(move || {
        let start = map.next_owned(rank, position)?;
        position = map.run_at(start).stop;
        Some(start as i64..=position as i64 - 1)
    })
}
