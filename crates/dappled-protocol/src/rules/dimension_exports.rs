//! One dimension of the exports of all ranks.

use crate::dim::Dim;
use crate::export::Export;
use crate::version::Meaning;

/// One dimension of the exports of all ranks, in rank order.
pub(crate) struct DimensionExports<'a> {
    pub(crate) exports: &'a [Export],
    pub(crate) dimension: usize,
}

/// A rank and its dimension.
#[derive(Clone, Copy)]
pub(super) struct RankDim<'a> {
    pub(super) rank: u64,
    pub(super) dim: &'a Dim,
}

impl<'a> DimensionExports<'a> {
    /// Iterates over all ranks.
    pub(super) fn all_ranks(&self) -> impl Iterator<Item = RankDim<'a>> {
        let dimension = self.dimension;
        let dims = self.exports.iter().map(move |export| export.dims.get(dimension));
        (0..).zip(dims).filter_map(|(rank, dim)| Some(RankDim { rank, dim: dim? }))
    }

    /// Returns one rank per grid rank, in order: the one at coordinate 0 of all other dimensions.
    /// By C03 it represents all ranks of its grid rank.
    pub(super) fn grid_line(&self) -> Vec<RankDim<'a>> {
        let first =
            |(dimension, dim): (usize, &Dim)| dimension == self.dimension || dim.grid_rank == 0;
        let export = |rank_dim: &RankDim<'a>| self.exports.get(rank_dim.rank as usize);
        let on_line = |rank_dim: &RankDim<'a>| {
            export(rank_dim).is_some_and(|export| export.dims.iter().enumerate().all(first))
        };
        self.all_ranks().filter(on_line).collect()
    }

    /// Returns the pairs of neighbouring grid ranks.
    pub(super) fn neighbours(&self) -> Vec<[RankDim<'a>; 2]> {
        self.grid_line().array_windows().copied().collect()
    }

    /// Returns the meaning of the versions; equal on all ranks by C01.
    pub(super) fn meaning(&self) -> Meaning {
        self.exports.first().map_or(Meaning::Current, |export| export.meaning)
    }
}
