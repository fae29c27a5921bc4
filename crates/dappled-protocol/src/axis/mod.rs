//! Axis maps: how the global indices of one axis are distributed over the ranks.
//!
//! One file per kind, with its index formulas at the head. A slice of an axis is the same map
//! restricted to a region, so slicing moves no data and tabulates nothing. The properties of every
//! kind are tested by one suite, `tests/suite/axis_maps.rs`.

mod block;
mod block_bounds;
mod cyclic;
mod dim_data;
mod grid_placement;
mod slicing;
mod structured;
mod unstructured;

use std::ops::RangeInclusive;
use std::sync::Arc;

pub(crate) use block::BlockMap;
pub(crate) use block_bounds::{BlockBounds, EdgePadding};
pub(crate) use cyclic::{CyclicMap, gcd};
pub(crate) use grid_placement::GridPlacement;
use structured::owned_ranges;
pub(crate) use structured::{OwnedRun, StructuredMap};
pub(crate) use unstructured::UnstructuredMap;

/// The distribution of one axis over the ranks of its grid axis.
///
/// ```
/// use dappled_protocol::AxisMap;
/// let map = AxisMap::block_cyclic(10, 3, 2); // 10 indices, 3 ranks, blocks of 2
/// assert_eq!(map.owner(7), Some((0, 3)));    // rank 0 has 0 1 6 7
/// assert_eq!(map.global(0, 3), Some(7));
/// assert_eq!(map.owned(1), 4);               // rank 1 has 2 3 8 9
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AxisMap {
    pub(crate) kind: AxisKind,
    pub(crate) placement: GridPlacement,
}

/// The kinds of axis maps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum AxisKind {
    Block(BlockMap),
    Cyclic(CyclicMap),
    Unstructured(UnstructuredMap),
}

impl AxisMap {
    /// Creates a block map: ranges of `ceil(size / grid)`, the last ones shorter or empty.
    pub fn block(size: u64, grid: u64) -> Self {
        AxisKind::Block(BlockMap::new(
            BlockBounds::Regular { size, grid: grid.max(1) },
            EdgePadding::Uniform(0),
        ))
        .into()
    }

    /// Creates a cyclic map with blocks of one index.
    pub fn cyclic(size: u64, grid: u64) -> Self {
        Self::block_cyclic(size, grid, 1)
    }

    /// Creates a block-cyclic map.
    pub fn block_cyclic(size: u64, grid: u64, block_size: u64) -> Self {
        AxisKind::Cyclic(CyclicMap::new(size, grid.max(1), block_size.max(1))).into()
    }

    /// Creates an unstructured map from one list of labels per rank.
    pub fn unstructured(size: u64, lists: Vec<Vec<i64>>, one_to_one: bool) -> Self {
        let lists = lists.into_iter().map(Arc::from).collect();
        AxisKind::Unstructured(UnstructuredMap::new(size, lists, one_to_one)).into()
    }

    /// Creates the map of an axis on a grid of 1.
    pub fn whole(size: u64) -> Self {
        AxisKind::Block(BlockMap::undistributed(size)).into()
    }

    /// Returns the number of global indices.
    pub fn size(&self) -> u64 {
        match &self.kind {
            AxisKind::Unstructured(map) => map.size(),
            _ => self.structured().map_or(0, |map| map.size()),
        }
    }

    /// Returns the number of ranks of the grid axis.
    pub fn grid(&self) -> u64 {
        self.placement.grid()
    }

    /// Returns the owner of a global index and its local index, padding included. If several ranks
    /// have the label, the lowest rank.
    pub fn owner(&self, global: i64) -> Option<(u64, u64)> {
        self.owners(global).next()
    }

    /// Returns all owners of a global index; several if labels of an unstructured axis repeat.
    pub fn owners(&self, global: i64) -> impl Iterator<Item = (u64, u64)> {
        self.owners_in_map(global).map(|(rank, local)| (self.placement.to_grid_rank(rank), local))
    }

    /// Returns the owners by their ranks in the map rather than on the grid axis.
    pub(crate) fn owners_in_map(&self, global: i64) -> impl Iterator<Item = (u64, u64)> {
        let listed = match &self.kind {
            AxisKind::Unstructured(map) => map.entries(global),
            _ => &[],
        };
        let run = self.structured().and_then(|map| {
            let position = u64::try_from(global).ok().filter(|&position| position < map.size())?;
            Some(map.run_at(position))
        });
        let listed = listed.iter().map(|entry| (entry.rank, entry.local));
        listed.chain(run.map(|run| (run.rank, run.local)))
    }

    /// Returns the global index of a local index of a rank, padding included.
    pub fn global(&self, rank: u64, local: u64) -> Option<i64> {
        let rank = self.map_rank(rank)?;
        match &self.kind {
            AxisKind::Block(map) => map.global(rank, local),
            AxisKind::Cyclic(map) => {
                let owned = map.owned_before(rank, map.size());
                (local < owned).then(|| map.nth_owned(rank, local) as i64)
            }
            AxisKind::Unstructured(map) => {
                map.labels(rank).get(usize::try_from(local).ok()?).copied()
            }
        }
    }

    /// Returns the number of indices that a rank owns.
    pub fn owned(&self, rank: u64) -> u64 {
        match (self.map_rank(rank), &self.kind) {
            (None, _) => 0,
            (Some(rank), AxisKind::Unstructured(map)) => map.count(rank),
            (Some(rank), _) => {
                self.structured().map_or(0, |map| map.owned_before(rank, map.size()))
            }
        }
    }

    /// Returns the number of cells of a rank's piece, padding included.
    pub fn extent(&self, rank: u64) -> u64 {
        let (left, right) = match (self.map_rank(rank), &self.kind) {
            (Some(rank), AxisKind::Block(map)) => map.communication_padding(rank),
            _ => (0, 0),
        };
        left + self.owned(rank) + right
    }

    /// Returns the global indices that a rank owns as ranges, in local order.
    ///
    /// ```
    /// use dappled_protocol::AxisMap;
    /// let ranges: Vec<_> = AxisMap::block_cyclic(10, 3, 2).owned_ranges(1).collect();
    /// assert_eq!(ranges, [2..=3, 8..=9]);
    /// ```
    pub fn owned_ranges(&self, rank: u64) -> Box<dyn Iterator<Item = RangeInclusive<i64>> + '_> {
        match (self.map_rank(rank), &self.kind) {
            (None, _) => Box::new(std::iter::empty()),
            (Some(rank), AxisKind::Unstructured(map)) => {
                let labels = map.labels(rank);
                Box::new((0..labels.len()).map(move |local| labels[local]..=labels[local]))
            }
            (Some(rank), AxisKind::Block(map)) => Box::new(owned_ranges(map, rank)),
            (Some(rank), AxisKind::Cyclic(map)) => Box::new(owned_ranges(map, rank)),
        }
    }

    /// Returns whether the indices are exactly 0 to size - 1, each once. False only for
    /// unstructured axes with other labels.
    pub fn labels_are_indices(&self) -> bool {
        match &self.kind {
            AxisKind::Unstructured(map) => map.labels_are_indices(),
            _ => true,
        }
    }

    /// Returns the rank of the map at a rank of the grid axis, if any.
    pub(crate) fn map_rank(&self, rank: u64) -> Option<u64> {
        let grid = match &self.kind {
            AxisKind::Unstructured(map) => map.grid(),
            _ => self.structured().map_or(0, |map| map.grid()),
        };
        self.placement.to_map_rank(rank, grid)
    }

    pub(crate) fn structured(&self) -> Option<&dyn StructuredMap> {
        match &self.kind {
            AxisKind::Block(map) => Some(map),
            AxisKind::Cyclic(map) => Some(map),
            AxisKind::Unstructured(_) => None,
        }
    }
}

impl From<AxisKind> for AxisMap {
    fn from(kind: AxisKind) -> Self {
        let grid = match &kind {
            AxisKind::Block(map) => map.grid(),
            AxisKind::Cyclic(map) => map.grid(),
            AxisKind::Unstructured(map) => map.grid(),
        };
        AxisMap { kind, placement: GridPlacement::identity(grid) }
    }
}
