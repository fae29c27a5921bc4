//! Placement of the ranks of an axis map on the grid axis.
//!
//! Usually the identity. Indexing removes an axis of the array but not its grid axis, which is
//! merged into a neighbouring one; of the merged ranks only those that owned the index hold data.

/// Maps rank `r` of the map to grid rank `offset + stride * r` of `grid` ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct GridPlacement {
    offset: u64,
    stride: u64,
    grid: u64,
}

impl GridPlacement {
    /// Creates the identity placement.
    pub fn identity(grid: u64) -> Self {
        Self { offset: 0, stride: 1, grid }
    }

    /// Creates the placement of a single map rank at `rank`.
    pub fn single_rank(rank: u64, grid: u64) -> Self {
        Self { offset: rank, stride: 1, grid }
    }

    /// Returns the number of ranks of the grid axis.
    pub fn grid(self) -> u64 {
        self.grid
    }

    /// Returns whether a map over `map_grid` ranks fills the grid axis.
    pub fn is_identity(self, map_grid: u64) -> bool {
        self == Self::identity(map_grid)
    }

    /// Returns the grid rank of a map rank.
    pub fn to_grid_rank(self, map_rank: u64) -> u64 {
        self.offset + self.stride * map_rank
    }

    /// Returns the map rank at a grid rank, if there is one.
    pub fn to_map_rank(self, rank: u64, map_grid: u64) -> Option<u64> {
        let from = rank.checked_sub(self.offset)?;
        let map_rank = from / self.stride;
        (from.is_multiple_of(self.stride) && map_rank < map_grid).then_some(map_rank)
    }

    /// Returns the number of map ranks placed before `rank`.
    pub fn map_ranks_before(self, rank: u64, map_grid: u64) -> u64 {
        rank.saturating_sub(self.offset).div_ceil(self.stride).min(map_grid)
    }

    /// Returns the placement on a merged grid axis: `before` ranks vary slower and `after` ranks
    /// faster, and this map is at `at_before` and `at_after` of them.
    pub fn merged(self, (at_before, before): (u64, u64), (at_after, after): (u64, u64)) -> Self {
        Self {
            offset: (at_before * self.grid + self.offset) * after + at_after,
            stride: self.stride * after,
            grid: before * self.grid * after,
        }
    }
}
