//! What block and cyclic maps have in common.

use std::ops::{Range, RangeInclusive};

/// Positions from one on that lie side by side in the piece of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Who owns them.
    pub rank: u64,
    /// Where the first lies in the owner's piece, padding included.
    pub local: u64,
    /// The first position after them.
    pub stop: u64,
}

/// What block and cyclic maps have in common: owners follow from arithmetic, and each rank
/// holds its positions in ascending order.
pub(crate) trait Structured {
    fn size(&self) -> u64;
    fn grid(&self) -> u64;
    /// After how many positions the owners repeat; None where each rank has one range.
    fn period(&self) -> Option<u128>;
    /// The range of a rank, where each has one.
    fn range(&self, rank: u64) -> Option<Range<u64>>;
    /// The run that begins at a position.
    fn run_at(&self, position: u64) -> Run;
    /// How many positions below this one a rank owns.
    fn owned_before(&self, rank: u64, position: u64) -> u64;
    /// The position a rank owns `count` others before; it must exist.
    fn nth_owned(&self, rank: u64, count: u64) -> u64;

    /// Where the first owned cell lies in a rank's piece: behind its left padding.
    fn first_local(&self, _rank: u64) -> u64 {
        0
    }

    /// The first position from this one on that the rank owns.
    fn next_owned(&self, rank: u64, position: u64) -> Option<u64> {
        let before = self.owned_before(rank, position);
        (before < self.owned_before(rank, self.size())).then(|| self.nth_owned(rank, before))
    }
}

/// The ranges that a rank owns.
pub(super) fn runs_of<M: Structured>(
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
