//! Where the ranges of block ranks begin and end, and how wide the padding at their edges is.

use std::ops::Range;
use std::sync::Arc;

/// Where the ranges of the ranks begin and end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Bounds {
    /// All ranges equal but the last ones.
    Regular { size: u64, grid: u64 },
    /// `grid + 1` bounds, from 0 to the size; never those of a regular one.
    Irregular(Arc<[u64]>),
}

/// The widths of the padding at the `grid + 1` edges of the ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Edges {
    /// The same at every edge that has cells on both sides (on the inner side, at the ends).
    Uniform(u64),
    /// One width an edge; never those of a uniform one.
    Each(Arc<[u64]>),
}

impl Bounds {
    /// These bounds; as regular ones if they are.
    pub fn new(bounds: &[u64]) -> Self {
        let (grid, size) = (bounds.len() as u64 - 1, bounds[bounds.len() - 1]);
        let regular = Bounds::Regular { size, grid };
        match bounds.iter().enumerate().all(|(rank, &bound)| regular.at(rank as u64) == bound) {
            true => regular,
            false => Bounds::Irregular(bounds.into()),
        }
    }

    pub fn size(&self) -> u64 {
        match self {
            Bounds::Regular { size, .. } => *size,
            Bounds::Irregular(bounds) => bounds[bounds.len() - 1],
        }
    }

    pub fn grid(&self) -> u64 {
        match self {
            Bounds::Regular { grid, .. } => *grid,
            Bounds::Irregular(bounds) => bounds.len() as u64 - 1,
        }
    }

    /// Where the range of `rank` begins and that of the rank before it ends; up to `grid`.
    pub fn at(&self, rank: u64) -> u64 {
        match self {
            Bounds::Regular { size, grid } => rank.saturating_mul(size.div_ceil(*grid)).min(*size),
            Bounds::Irregular(bounds) => bounds[rank as usize],
        }
    }

    /// What a rank owns.
    pub fn range(&self, rank: u64) -> Range<u64> {
        self.at(rank)..self.at(rank + 1)
    }

    pub fn rank_of(&self, global: u64) -> u64 {
        match self {
            Bounds::Regular { size, grid } => global / size.div_ceil(*grid),
            Bounds::Irregular(bounds) => {
                bounds.partition_point(|&bound| bound <= global) as u64 - 1
            }
        }
    }

    /// Has this edge cells on each side that has a rank?
    pub fn touches_cells(&self, edge: u64) -> bool {
        let has_cells = |rank: u64| !self.range(rank).is_empty();
        (edge == 0 || has_cells(edge - 1)) && (edge == self.grid() || has_cells(edge))
    }
}

impl Edges {
    /// These widths; as uniform ones if they are.
    pub fn new(widths: &[u64], bounds: &Bounds) -> Self {
        let uniform = Edges::Uniform(widths.iter().copied().max().unwrap_or(0));
        let is_uniform = widths
            .iter()
            .enumerate()
            .all(|(edge, &width)| uniform.at(edge as u64, bounds) == width);
        if is_uniform { uniform } else { Edges::Each(widths.into()) }
    }

    /// The width at an edge.
    pub fn at(&self, edge: u64, bounds: &Bounds) -> u64 {
        match self {
            Edges::Uniform(0) => 0,
            Edges::Uniform(width) => *width * u64::from(bounds.touches_cells(edge)),
            Edges::Each(widths) => widths[edge as usize],
        }
    }

    pub fn is_none(&self) -> bool {
        *self == Edges::Uniform(0)
    }
}
