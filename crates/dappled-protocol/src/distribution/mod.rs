//! A distribution: a grid of ranks, and one axis map for each axis of the array.

mod equal;
mod folded;
mod grid;
mod read;
mod respec;
mod sliced;
mod spec;
mod spec_axis;
mod spec_block;
mod trailing;

use std::ops::Range;
use std::sync::Arc;

pub use spec::{AxisSpec, Padding, Spec};

use crate::axis::{AxisMap, Kind};
use crate::dim::{Dim, DimKind, Entries};
use crate::error::ProtocolError;
use crate::exchange::LabelsError;
use crate::rules;
use crate::version::Meaning;

/// How an array is shared among ranks.
///
/// ```
/// use dappled_protocol::Distribution;
/// let distribution = Distribution::spec(&[5, 9]).dist("bc").grid_shape(&[2, 2]).build()?;
/// assert_eq!(distribution.owner(&[3, 4]), Some((2, vec![0, 2])));
/// assert_eq!(distribution.local_shape(1), [3, 4]);
/// # Ok::<(), dappled_protocol::ProtocolError>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Distribution {
    axes: Arc<[AxisMap]>,
    nprocs: u64,
    held: Held,
    odd_edges: Arc<[OddEdge]>,
}

/// Which ranks hold an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Held {
    /// Each rank of the grid its piece.
    Grid,
    /// Every rank the whole array (a 0-d array always, unless it is a view).
    All,
    /// One rank alone: a 0-d view.
    One(u64),
}

/// Boundary padding that is not that of the other pieces at the same place of the grid's axis
/// (rule C03 allows it; each piece keeps its own).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct OddEdge {
    rank: u64,
    axis: usize,
    padding: (u64, u64),
}

impl Distribution {
    /// Starts to describe a distribution of an array of this shape; by default blocks on one rank.
    pub fn spec(shape: &[u64]) -> Spec {
        Spec::new(shape)
    }

    fn on_grid(axes: Vec<AxisMap>, nprocs: u64) -> Self {
        let held = match axes.is_empty() {
            true => Held::All,
            false => Held::Grid,
        };
        Self { axes: axes.into(), nprocs, held, odd_edges: Arc::default() }
    }

    /// The axis maps.
    pub fn axes(&self) -> &[AxisMap] {
        &self.axes
    }

    /// The number of ranks.
    pub fn nprocs(&self) -> u64 {
        self.nprocs
    }

    /// Which ranks hold the array.
    pub fn held(&self) -> Held {
        self.held
    }

    /// Has a rank a piece, if perhaps an empty one?
    pub fn holds(&self, rank: u64) -> bool {
        match self.held {
            Held::Grid | Held::All => rank < self.nprocs,
            Held::One(holder) => rank == holder,
        }
    }

    /// The shape of the whole array.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(AxisMap::size).collect()
    }

    /// The shape of the grid.
    pub fn grid_shape(&self) -> Vec<u64> {
        self.axes.iter().map(AxisMap::grid).collect()
    }

    /// The kinds of the axes: `b`, `c`, `u`, `n`.
    pub fn dist(&self) -> String {
        self.axes.iter().map(AxisMap::dist_type).collect()
    }

    /// Where a rank stands on the grid; the last axis changes fastest.
    pub fn coords(&self, rank: u64) -> Vec<u64> {
        let mut rest = if self.held == Held::Grid { rank } else { 0 };
        let mut coords = vec![0; self.axes.len()];
        for (at, axis) in coords.iter_mut().zip(&*self.axes).rev() {
            (rest, *at) = (rest / axis.grid(), rest % axis.grid());
        }
        coords
    }

    /// The rank at these coordinates, which must be on the grid.
    pub fn rank(&self, coords: &[u64]) -> u64 {
        match self.held {
            Held::One(holder) => holder,
            _ => {
                coords.iter().zip(&*self.axes).fold(0, |rank, (&at, axis)| rank * axis.grid() + at)
            }
        }
    }

    /// The shape of a rank's piece, padding included.
    pub fn local_shape(&self, rank: u64) -> Vec<u64> {
        self.coords(rank).iter().zip(&*self.axes).map(|(&at, axis)| axis.extent(at)).collect()
    }

    /// The cells of a rank's piece that it owns, one range an axis.
    pub fn owned_cells(&self, rank: u64) -> Vec<Range<u64>> {
        let owned = |(&at, axis): (&u64, &AxisMap)| {
            let first = match (axis.structured(), axis.map_rank(at)) {
                (Some(map), Some(at)) => map.first_local(at),
                _ => 0,
            };
            first..first + axis.owned(at)
        };
        self.coords(rank).iter().zip(&*self.axes).map(owned).collect()
    }

    /// The rank that owns an element (the lowest of several), and where it lies in its piece,
    /// padding included. None where there is no such element.
    pub fn owner(&self, index: &[i64]) -> Option<(u64, Vec<u64>)> {
        let found = self.axes.iter().zip(index).map(|(axis, &at)| axis.owner(at));
        let found: Vec<(u64, u64)> = found.collect::<Option<_>>()?;
        let (coords, local): (Vec<u64>, Vec<u64>) = found.into_iter().unzip();
        Some((self.rank(&coords), local))
    }

    /// All ranks that own an element, with its place in each piece.
    pub fn owners(&self, index: &[i64]) -> Box<dyn ExactSizeIterator<Item = (u64, Vec<u64>)>> {
        if self.held == Held::All {
            let ranks = if self.owner(index).is_some() { self.nprocs } else { 0 };
            let local: Vec<u64> = index.iter().map(|&at| at as u64).collect();
            return Box::new((0..ranks as usize).map(move |rank| (rank as u64, local.clone())));
        }
        let mut found = vec![(Vec::new(), Vec::new())];
        for (axis, &at) in self.axes.iter().zip(index) {
            let more = |(coords, local): (Vec<u64>, Vec<u64>)| {
                axis.owners(at).map(move |(rank, place)| {
                    ([&coords[..], &[rank]].concat(), [&local[..], &[place]].concat())
                })
            };
            found = found.into_iter().flat_map(more).collect();
        }
        let found: Vec<_> =
            found.into_iter().map(|(coords, local)| (self.rank(&coords), local)).collect();
        Box::new(found.into_iter())
    }

    /// The element that lies at a place of a rank's piece, padding included.
    pub fn global(&self, rank: u64, local: &[u64]) -> Option<Vec<i64>> {
        let coords = self.coords(rank);
        let places = self.axes.iter().zip(&coords).zip(local);
        places.map(|((axis, &at), &local)| axis.global(at, local)).collect()
    }

    /// What the protocol says of a rank's piece: one dimension an axis. An array that every
    /// rank holds whole has no description (rule C02).
    pub fn dim_data(&self, rank: u64) -> Result<Vec<Dim>, ProtocolError> {
        if self.held == Held::All && !self.axes.is_empty() && self.nprocs > 1 {
            let expected = "a grid of as many ranks as there are processes: an array that every \
                            rank holds whole has no description in the protocol";
            return Err(ProtocolError::new(&rules::C02, expected)
                .with_value(format!("a grid of 1 and {} processes", self.nprocs)));
        }
        let coords = self.coords(rank);
        let dim = |(axis, map): (usize, &AxisMap)| {
            let mut dim = map.dim(coords[axis]).map_err(|error| error.with_dimension(axis))?;
            if let (DimKind::Block { padding, .. }, Some(odd)) =
                (&mut dim.kind, self.odd_edge(rank, axis))
            {
                *padding = odd;
            }
            Ok(dim)
        };
        self.axes.iter().enumerate().map(dim).collect()
    }

    /// The same as dictionaries, written in a version with this meaning. What that version can't
    /// say is the same error on every rank: the outer ones, whose matter it is, are asked too.
    pub fn dim_dicts(&self, rank: u64, meaning: Meaning) -> Result<Vec<Entries>, ProtocolError> {
        let write = |axis: usize, dim: Dim| -> Result<Entries, ProtocolError> {
            let map = &self.axes[axis];
            for end in [0, map.grid() - 1].into_iter().filter(|_| dim.periodic) {
                map.dim(end)?.write(meaning, true)?;
            }
            dim.write(meaning, self.is_padded(axis))
        };
        let dims = self.dim_data(rank)?.into_iter().enumerate();
        dims.map(|(axis, dim)| write(axis, dim).map_err(|error| error.with_dimension(axis)))
            .collect()
    }

    /// Has any piece padding along this axis?
    pub fn is_padded(&self, axis: usize) -> bool {
        self.axes[axis].is_padded() || self.odd_edges.iter().any(|odd| odd.axis == axis)
    }

    /// An unstructured axis with labels that are not indices is an error.
    pub fn check_labels(&self) -> Result<(), LabelsError> {
        match self.axes.iter().position(|axis| !axis.labels_are_indices()) {
            Some(axis) => Err(LabelsError { axis, last: self.axes[axis].size() as i64 - 1 }),
            None => Ok(()),
        }
    }

    pub(crate) fn has_odd_edges(&self) -> bool {
        !self.odd_edges.is_empty()
    }

    fn odd_edge(&self, rank: u64, axis: usize) -> Option<(u64, u64)> {
        let odd = self.odd_edges.iter().find(|odd| (odd.rank, odd.axis) == (rank, axis));
        odd.map(|odd| odd.padding)
    }

    /// The widths of the padding of a piece along an axis.
    pub(crate) fn padding(&self, rank: u64, axis: usize) -> (u64, u64) {
        let map = &self.axes[axis];
        let regular = || match (&map.kind, map.map_rank(self.coords(rank)[axis])) {
            (Kind::Block(block), Some(at)) => block.padding(at),
            _ => (0, 0),
        };
        self.odd_edge(rank, axis).unwrap_or_else(regular)
    }
}
