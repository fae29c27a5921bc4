//! Bounds of the ranges of a block axis, and padding widths at their edges.

use std::ops::Range;
use std::sync::Arc;

/// The bounds of the ranges of all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum BlockBounds {
    /// Ranges of equal size, except the last ones.
    Regular { size: u64, grid: u64 },
    /// `grid + 1` bounds from 0 to the size, not equal to the regular ones.
    Irregular(Arc<[u64]>),
}

/// The padding widths at the `grid + 1` edges of the ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum EdgePadding {
    /// One width at every edge whose adjacent ranks own cells.
    Uniform(u64),
    /// One width per edge, not all uniform.
    Each(Arc<[u64]>),
}

impl BlockBounds {
    /// Creates bounds, in the regular form if possible.
    pub fn new(bounds: &[u64]) -> Self {
        let (grid, size) = (bounds.len() as u64 - 1, bounds[bounds.len() - 1]);
        let regular = BlockBounds::Regular { size, grid };
        match bounds.iter().enumerate().all(|(rank, &bound)| regular.at(rank as u64) == bound) {
            true => regular,
            false => BlockBounds::Irregular(bounds.into()),
        }
    }

    pub fn size(&self) -> u64 {
        match self {
            BlockBounds::Regular { size, .. } => *size,
            BlockBounds::Irregular(bounds) => bounds[bounds.len() - 1],
        }
    }

    pub fn grid(&self) -> u64 {
        match self {
            BlockBounds::Regular { grid, .. } => *grid,
            BlockBounds::Irregular(bounds) => bounds.len() as u64 - 1,
        }
    }

    /// Returns the start of the range of `rank`, which is the end of the previous one; up to
    /// `grid`.
    pub fn at(&self, rank: u64) -> u64 {
        match self {
            BlockBounds::Regular { size, grid } => {
                rank.saturating_mul(size.div_ceil(*grid)).min(*size)
            }
            BlockBounds::Irregular(bounds) => bounds[rank as usize],
        }
    }

    /// Returns the range that a rank owns.
    pub fn range(&self, rank: u64) -> Range<u64> {
        self.at(rank)..self.at(rank + 1)
    }

    pub fn rank_of(&self, global: u64) -> u64 {
        match self {
            BlockBounds::Regular { size, grid } => global / size.div_ceil(*grid),
            BlockBounds::Irregular(bounds) => {
                bounds.partition_point(|&bound| bound <= global) as u64 - 1
            }
        }
    }

    /// Returns whether every rank next to this edge owns cells.
    pub fn touches_cells(&self, edge: u64) -> bool {
        let has_cells = |rank: u64| !self.range(rank).is_empty();
        (edge == 0 || has_cells(edge - 1)) && (edge == self.grid() || has_cells(edge))
    }
}

impl EdgePadding {
    /// Creates padding widths, in the uniform form if possible.
    pub fn new(widths: &[u64], bounds: &BlockBounds) -> Self {
        let uniform = EdgePadding::Uniform(widths.iter().copied().max().unwrap_or(0));
        let is_uniform = widths
            .iter()
            .enumerate()
            .all(|(edge, &width)| uniform.at(edge as u64, bounds) == width);
        if is_uniform { uniform } else { EdgePadding::Each(widths.into()) }
    }

    /// Returns the width at an edge.
    pub fn at(&self, edge: u64, bounds: &BlockBounds) -> u64 {
        match self {
            EdgePadding::Uniform(0) => 0,
            EdgePadding::Uniform(width) => *width * u64::from(bounds.touches_cells(edge)),
            EdgePadding::Each(widths) => widths[edge as usize],
        }
    }

    pub fn is_none(&self) -> bool {
        *self == EdgePadding::Uniform(0)
    }
}
