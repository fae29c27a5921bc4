//! Block: each rank owns one range.
//!
//! | with `chunk = ceil(size / grid)` | regular | irregular |
//! |---|---|---|
//! | rank `r` owns from | `min(r * chunk, size)` | `bounds[r]` |
//! | owner of `g` | `g / chunk` | the last `r` with `bounds[r] <= g` |
//! | local index of `g` | `g - from(r)` + left padding | the same |
//!
//! A view of a block axis is again one range a rank, in the order of the ranks where the step
//! is positive, in the opposite order where it is negative.

use std::ops::Range;

use super::{Bounds, Edges, Run, Structured};
use crate::region::Region;

/// The block axis map, seen through a region.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Block {
    pub bounds: Bounds,
    pub edges: Edges,
    pub periodic: bool,
    /// 0.9's periodic padding: the outer edges lie outside the array.
    pub wraps: bool,
    /// Written as `'n'`. Means nothing: a block on a grid of 1 is the same.
    pub undistributed: bool,
    region: Region,
}

impl Block {
    pub fn new(bounds: Bounds, edges: Edges) -> Self {
        let region = Region::all(bounds.size());
        Self { bounds, edges, periodic: false, wraps: false, undistributed: false, region }
    }

    /// All of an axis on a grid of 1.
    pub fn whole(size: u64) -> Self {
        Self::new(Bounds::Regular { size, grid: 1 }, Edges::Uniform(0))
    }

    /// What is left of the axis in a region of it. Padding belongs to the axis, not to views.
    pub fn view(&self, region: Region) -> Self {
        Self { region: self.region.then(region), ..self.without_padding() }
    }

    /// Do the ranks hold their ranges in the opposite order?
    pub fn is_reversed(&self) -> bool {
        self.region.step() < 0
    }

    /// Is it an axis itself, not a part of one?
    pub fn is_axis(&self) -> bool {
        self.region.is_all(self.bounds.size())
    }

    pub fn is_padded(&self) -> bool {
        !self.edges.is_none()
    }

    /// The widths at the two ends of a rank's piece, of either kind of padding.
    pub fn padding(&self, rank: u64) -> (u64, u64) {
        (self.edges.at(rank, &self.bounds), self.edges.at(rank + 1, &self.bounds))
    }

    /// The widths of a rank's communication padding: cells that another rank owns.
    pub fn communication(&self, rank: u64) -> (u64, u64) {
        let (left, right) = self.padding(rank);
        let is_last = rank + 1 == self.grid();
        (
            if rank == 0 && !self.wraps { 0 } else { left },
            if is_last && !self.wraps { 0 } else { right },
        )
    }

    /// The positions that a rank owns.
    pub fn owned(&self, rank: u64) -> Range<u64> {
        self.region.positions(self.bounds.range(rank))
    }

    /// Where the positions of the ranks from `rank` on begin; not for a reversed view.
    pub fn bound(&self, rank: u64) -> u64 {
        if rank == 0 { 0 } else { self.owned(rank - 1).end }
    }

    /// The index at a place of a rank's piece, padding included: outside the array, where the
    /// axis wraps, that of the element copied there.
    pub fn global(&self, rank: u64, local: u64) -> Option<i64> {
        let (owned, (left, right)) = (self.owned(rank), self.communication(rank));
        let position = i128::from(owned.start) + i128::from(local) - i128::from(left);
        let size = i128::from(self.size());
        let inside = position < i128::from(owned.end) + i128::from(right);
        (inside && size > 0).then(|| position.rem_euclid(size) as i64)
    }

    /// The same ranges with nothing around them.
    pub fn without_padding(&self) -> Self {
        Self { edges: Edges::Uniform(0), periodic: false, wraps: false, ..self.clone() }
    }
}

impl Structured for Block {
    fn size(&self) -> u64 {
        self.region.len()
    }

    fn grid(&self) -> u64 {
        self.bounds.grid()
    }

    fn period(&self) -> Option<u128> {
        None
    }

    fn range(&self, rank: u64) -> Option<Range<u64>> {
        Some(self.owned(rank))
    }

    fn run_at(&self, position: u64) -> Run {
        let rank = self.bounds.rank_of(self.region.at(position));
        let owned = self.owned(rank);
        let local = position - owned.start + self.first_local(rank);
        Run { rank, local, stop: owned.end }
    }

    fn first_local(&self, rank: u64) -> u64 {
        self.communication(rank).0
    }

    fn owned_before(&self, rank: u64, position: u64) -> u64 {
        let owned = self.owned(rank);
        position.clamp(owned.start, owned.end) - owned.start
    }

    fn nth_owned(&self, rank: u64, count: u64) -> u64 {
        self.owned(rank).start + count
    }
}
