//! An axis map: how the global indices of one axis are shared among the ranks of the grid.
//!
//! One file for each kind, with the formulas at its head. A part of an axis (a slice of the
//! array) is the same map seen through a region, so that slicing moves nothing and makes no
//! table. What must hold for every kind is written once, in `tests/axis_maps.rs`.

mod block;
mod bounds;
mod cyclic;
mod describe;
mod part;
mod place;
mod structured;
mod unstructured;

use std::ops::RangeInclusive;
use std::sync::Arc;

pub(crate) use block::Block;
pub(crate) use bounds::{Bounds, Edges};
pub(crate) use cyclic::{Cyclic, gcd};
pub(crate) use place::Place;
use structured::runs_of;
pub(crate) use structured::{Run, Structured};
pub(crate) use unstructured::Unstructured;

/// How one axis is shared among the ranks of its grid axis.
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
    pub(crate) kind: Kind,
    pub(crate) place: Place,
}

/// The kinds of axis maps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Kind {
    Block(Block),
    Cyclic(Cyclic),
    Unstructured(Unstructured),
}

impl AxisMap {
    /// Equal ranges of `ceil(size / grid)`, the last ones shorter or empty.
    pub fn block(size: u64, grid: u64) -> Self {
        Kind::Block(Block::new(Bounds::Regular { size, grid: grid.max(1) }, Edges::Uniform(0)))
            .into()
    }

    /// Single indices dealt out in turn.
    pub fn cyclic(size: u64, grid: u64) -> Self {
        Self::block_cyclic(size, grid, 1)
    }

    /// Blocks of indices dealt out in turn.
    pub fn block_cyclic(size: u64, grid: u64, block_size: u64) -> Self {
        Kind::Cyclic(Cyclic::new(size, grid.max(1), block_size.max(1))).into()
    }

    /// One list of labels a rank.
    pub fn unstructured(size: u64, lists: Vec<Vec<i64>>, one_to_one: bool) -> Self {
        let lists = lists.into_iter().map(Arc::from).collect();
        Kind::Unstructured(Unstructured::new(size, lists, one_to_one)).into()
    }

    /// All of the axis on a grid of 1.
    pub fn whole(size: u64) -> Self {
        Kind::Block(Block::whole(size)).into()
    }

    /// The number of global indices.
    pub fn size(&self) -> u64 {
        match &self.kind {
            Kind::Unstructured(map) => map.size(),
            _ => self.structured().map_or(0, |map| map.size()),
        }
    }

    /// The number of ranks of the grid's axis.
    pub fn grid(&self) -> u64 {
        self.place.grid()
    }

    /// Who owns a global index, and where it lies in the owner's piece, padding included.
    /// Where several ranks have a label, the lowest.
    pub fn owner(&self, global: i64) -> Option<(u64, u64)> {
        self.owners(global).next()
    }

    /// All who own a global index: several where the labels of an unstructured axis repeat.
    pub fn owners(&self, global: i64) -> impl Iterator<Item = (u64, u64)> {
        self.owners_in_map(global).map(|(rank, local)| (self.place.outer(rank), local))
    }

    /// The owners by their ranks in the map, wherever those stand.
    pub(crate) fn owners_in_map(&self, global: i64) -> impl Iterator<Item = (u64, u64)> {
        let listed = match &self.kind {
            Kind::Unstructured(map) => map.places(global),
            _ => &[],
        };
        let run = self.structured().and_then(|map| {
            let position = u64::try_from(global).ok().filter(|&position| position < map.size())?;
            Some(map.run_at(position))
        });
        let listed = listed.iter().map(|entry| (entry.rank, entry.local));
        listed.chain(run.map(|run| (run.rank, run.local)))
    }

    /// Which global index lies at a place of a rank's piece, padding included.
    pub fn global(&self, rank: u64, local: u64) -> Option<i64> {
        let rank = self.map_rank(rank)?;
        match &self.kind {
            Kind::Block(map) => map.global(rank, local),
            Kind::Cyclic(map) => {
                let owned = map.owned_before(rank, map.size());
                (local < owned).then(|| map.nth_owned(rank, local) as i64)
            }
            Kind::Unstructured(map) => map.labels(rank).get(usize::try_from(local).ok()?).copied(),
        }
    }

    /// How many indices a rank owns.
    pub fn owned(&self, rank: u64) -> u64 {
        match (self.map_rank(rank), &self.kind) {
            (None, _) => 0,
            (Some(rank), Kind::Unstructured(map)) => map.count(rank),
            (Some(rank), _) => {
                self.structured().map_or(0, |map| map.owned_before(rank, map.size()))
            }
        }
    }

    /// How many cells a rank's piece has, padding included.
    pub fn extent(&self, rank: u64) -> u64 {
        let (left, right) = match (self.map_rank(rank), &self.kind) {
            (Some(rank), Kind::Block(map)) => map.communication(rank),
            _ => (0, 0),
        };
        left + self.owned(rank) + right
    }

    /// The global indices that a rank owns as ranges, in the order of its piece.
    ///
    /// ```
    /// use dappled_protocol::AxisMap;
    /// let ranges: Vec<_> = AxisMap::block_cyclic(10, 3, 2).owned_ranges(1).collect();
    /// assert_eq!(ranges, [2..=3, 8..=9]);
    /// ```
    pub fn owned_ranges(&self, rank: u64) -> Box<dyn Iterator<Item = RangeInclusive<i64>> + '_> {
        match (self.map_rank(rank), &self.kind) {
            (None, _) => Box::new(std::iter::empty()),
            (Some(rank), Kind::Unstructured(map)) => {
                let labels = map.labels(rank);
                Box::new((0..labels.len()).map(move |local| labels[local]..=labels[local]))
            }
            (Some(rank), Kind::Block(map)) => Box::new(runs_of(map, rank)),
            (Some(rank), Kind::Cyclic(map)) => Box::new(runs_of(map, rank)),
        }
    }

    /// Are the indices exactly 0 to size - 1, each at one place? False only for unstructured
    /// axes with other labels.
    pub fn labels_are_indices(&self) -> bool {
        match &self.kind {
            Kind::Unstructured(map) => map.is_exact(),
            _ => true,
        }
    }

    /// The rank of the map that stands at a rank of the grid's axis.
    pub(crate) fn map_rank(&self, rank: u64) -> Option<u64> {
        let grid = match &self.kind {
            Kind::Unstructured(map) => map.grid(),
            _ => self.structured().map_or(0, |map| map.grid()),
        };
        self.place.inner(rank, grid)
    }

    pub(crate) fn structured(&self) -> Option<&dyn Structured> {
        match &self.kind {
            Kind::Block(map) => Some(map),
            Kind::Cyclic(map) => Some(map),
            Kind::Unstructured(_) => None,
        }
    }
}

impl From<Kind> for AxisMap {
    fn from(kind: Kind) -> Self {
        let grid = match &kind {
            Kind::Block(map) => map.grid(),
            Kind::Cyclic(map) => map.grid(),
            Kind::Unstructured(map) => map.grid(),
        };
        AxisMap { kind, place: Place::same(grid) }
    }
}
