//! Block axis map: each rank owns one contiguous range.
//!
//! | with `chunk = ceil(size / grid)` | regular | irregular |
//! |---|---|---|
//! | first index of rank `r` | `min(r * chunk, size)` | `bounds[r]` |
//! | owner of `g` | `g / chunk` | the last `r` with `bounds[r] <= g` |
//! | local index of `g` | `g - first(r)` + left padding | `g - first(r)` + left padding |
//!
//! A view of a block axis again has one range per rank, in rank order for a positive step and in
//! reverse rank order for a negative one.

use std::ops::Range;

use super::{BlockBounds, EdgePadding, OwnedRun, StructuredMap};
use crate::region::Region;

/// A block axis map, restricted to a region.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BlockMap {
    pub bounds: BlockBounds,
    pub edges: EdgePadding,
    pub periodic: bool,
    /// Periodic padding of version 0.9: the outer edges are outside the array.
    pub wraps: bool,
    /// Whether the `dist_type` was `'n'`, which is equivalent to a block on a grid of 1.
    pub undistributed: bool,
    region: Region,
}

impl BlockMap {
    pub fn new(bounds: BlockBounds, edges: EdgePadding) -> Self {
        let region = Region::all(bounds.size());
        Self { bounds, edges, periodic: false, wraps: false, undistributed: false, region }
    }

    /// Creates the map of an axis on a grid of 1.
    pub fn undistributed(size: u64) -> Self {
        Self::new(BlockBounds::Regular { size, grid: 1 }, EdgePadding::Uniform(0))
    }

    /// Returns the map of a region of the axis. Views have no padding.
    pub fn view(&self, region: Region) -> Self {
        Self { region: self.region.then(region), ..self.without_padding() }
    }

    /// Returns whether the ranges are in reverse rank order.
    pub fn is_reversed(&self) -> bool {
        self.region.step() < 0
    }

    /// Returns whether this is a complete axis rather than a view.
    pub fn is_axis(&self) -> bool {
        self.region.is_all(self.bounds.size())
    }

    pub fn is_padded(&self) -> bool {
        !self.edges.is_none()
    }

    /// Returns the widths of the padding at both ends of a rank's piece, of either kind.
    pub fn padding(&self, rank: u64) -> (u64, u64) {
        (self.edges.at(rank, &self.bounds), self.edges.at(rank + 1, &self.bounds))
    }

    /// Returns the widths of a rank's communication padding: cells that another rank owns.
    pub fn communication_padding(&self, rank: u64) -> (u64, u64) {
        let (left, right) = self.padding(rank);
        let is_last = rank + 1 == self.grid();
        (
            if rank == 0 && !self.wraps { 0 } else { left },
            if is_last && !self.wraps { 0 } else { right },
        )
    }

    /// Returns the positions that a rank owns.
    pub fn owned(&self, rank: u64) -> Range<u64> {
        self.region.positions(self.bounds.range(rank))
    }

    /// Returns the first position of the ranks from `rank` on; not for a reversed view.
    pub fn bound(&self, rank: u64) -> u64 {
        if rank == 0 { 0 } else { self.owned(rank - 1).end }
    }

    /// Returns the global index of a local index, padding included. In padding that wraps this is
    /// the index of the copied element.
    pub fn global(&self, rank: u64, local: u64) -> Option<i64> {
        let (owned, (left, right)) = (self.owned(rank), self.communication_padding(rank));
        let position = i128::from(owned.start) + i128::from(local) - i128::from(left);
        let size = i128::from(self.size());
        let inside = position < i128::from(owned.end) + i128::from(right);
        (inside && size > 0).then(|| position.rem_euclid(size) as i64)
    }

    /// Returns the same ranges without padding.
    pub fn without_padding(&self) -> Self {
        Self { edges: EdgePadding::Uniform(0), periodic: false, wraps: false, ..self.clone() }
    }
}

impl StructuredMap for BlockMap {
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

    fn run_at(&self, position: u64) -> OwnedRun {
        let rank = self.bounds.rank_of(self.region.at(position));
        let owned = self.owned(rank);
        let local = position - owned.start + self.first_local(rank);
        OwnedRun { rank, local, stop: owned.end }
    }

    fn first_local(&self, rank: u64) -> u64 {
        self.communication_padding(rank).0
    }

    fn owned_before(&self, rank: u64, position: u64) -> u64 {
        let owned = self.owned(rank);
        position.clamp(owned.start, owned.end) - owned.start
    }

    fn nth_owned(&self, rank: u64, count: u64) -> u64 {
        self.owned(rank).start + count
    }
}
