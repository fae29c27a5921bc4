//! Where the ranks of an axis map stand among the ranks of the grid's axis.
//!
//! Mostly they are the same. An axis of the array that an index took away leaves its grid axis
//! behind; that one is merged into a neighbour, and of the merged ranks only those that held
//! the index hold anything.

/// Rank `r` of the map stands at `offset + stride * r` of `grid` ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Place {
    offset: u64,
    stride: u64,
    grid: u64,
}

impl Place {
    /// Every rank where it is.
    pub fn same(grid: u64) -> Self {
        Self { offset: 0, stride: 1, grid }
    }

    /// One rank alone among `grid` ranks.
    pub fn alone(rank: u64, grid: u64) -> Self {
        Self { offset: rank, stride: 1, grid }
    }

    /// The ranks of the grid's axis.
    pub fn grid(self) -> u64 {
        self.grid
    }

    /// Does a map over this many ranks fill the grid's axis?
    pub fn is_same(self, map_grid: u64) -> bool {
        self == Self::same(map_grid)
    }

    /// Where rank `r` of the map stands.
    pub fn outer(self, map_rank: u64) -> u64 {
        self.offset + self.stride * map_rank
    }

    /// Which rank of a map over `map_grid` ranks stands there, if one does.
    pub fn inner(self, rank: u64, map_grid: u64) -> Option<u64> {
        let from = rank.checked_sub(self.offset)?;
        let map_rank = from / self.stride;
        (from.is_multiple_of(self.stride) && map_rank < map_grid).then_some(map_rank)
    }

    /// How many ranks of a map over `map_grid` ranks stand before `rank`.
    pub fn before(self, rank: u64, map_grid: u64) -> u64 {
        rank.saturating_sub(self.offset).div_ceil(self.stride).min(map_grid)
    }

    /// The same ranks on a grid axis merged with those around it: `before` ranks vary slower,
    /// of which we are in `at_before`, and `after` ranks vary faster, we in `at_after`.
    pub fn merged(self, (at_before, before): (u64, u64), (at_after, after): (u64, u64)) -> Self {
        Self {
            offset: (at_before * self.grid + self.offset) * after + at_after,
            stride: self.stride * after,
            grid: before * self.grid * after,
        }
    }
}
