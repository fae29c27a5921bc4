//! One dimension over the exports of all processes.

use crate::dim::Dim;
use crate::export::Export;
use crate::version::Meaning;

/// One dimension over the exports of all processes, in the order of their ranks.
pub(crate) struct Along<'a> {
    pub(crate) exports: &'a [Export],
    pub(crate) dimension: usize,
}

/// A process, and its dimension.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) rank: u64,
    pub(super) dim: &'a Dim,
}

impl<'a> Along<'a> {
    /// Every process.
    pub(super) fn places(&self) -> impl Iterator<Item = Place<'a>> {
        let dimension = self.dimension;
        let dims = self.exports.iter().map(move |export| export.dims.get(dimension));
        (0..).zip(dims).filter_map(|(rank, dim)| Some(Place { rank, dim: dim? }))
    }

    /// One process for each grid rank, in their order: the one that is first in all other
    /// dimensions. By C03 it speaks for all others of its grid rank.
    pub(super) fn line(&self) -> Vec<Place<'a>> {
        let first =
            |(dimension, dim): (usize, &Dim)| dimension == self.dimension || dim.grid_rank == 0;
        let export = |place: &Place<'a>| self.exports.get(place.rank as usize);
        let on_line = |place: &Place<'a>| {
            export(place).is_some_and(|export| export.dims.iter().enumerate().all(first))
        };
        self.places().filter(on_line).collect()
    }

    /// Every grid rank but the last with the one after it.
    pub(super) fn neighbours(&self) -> Vec<[Place<'a>; 2]> {
        self.line().array_windows().copied().collect()
    }

    /// What the versions mean: the same for all, by C01.
    pub(super) fn meaning(&self) -> Meaning {
        self.exports.first().map_or(Meaning::Current, |export| export.meaning)
    }
}
