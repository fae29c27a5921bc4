//! Distributions: a process grid, and one axis map for each axis of the array.

mod derived;
mod equality;
mod from_exports;
mod process_grid;
mod slicing;
mod spec;
mod spec_checks;
mod spec_padding;
mod to_spec;
mod trailing_axis;

use std::ops::Range;
use std::sync::Arc;

pub use spec::{AxisSpec, Padding, Spec};

use crate::axis::{AxisKind, AxisMap};
use crate::dim::{Dim, DimKind, Entries};
use crate::error::ProtocolError;
use crate::exchange::LabelsError;
use crate::rules;
use crate::version::Meaning;

/// The distribution of an array over ranks.
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
    padding_exceptions: Arc<[PaddingException]>,
}

/// The ranks that hold an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Held {
    /// Each rank of the grid holds its piece.
    Grid,
    /// Every rank holds the whole array: replicated. Always so for a 0-d array that is not a view.
    All,
    /// A single rank holds the value: a 0-d view.
    One(u64),
}

/// Boundary padding that differs from the other pieces at the same grid coordinate, which rule C03
/// allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct PaddingException {
    rank: u64,
    axis: usize,
    padding: (u64, u64),
}

impl Distribution {
    /// Starts the specification of a distribution; by default blocks on one rank.
    pub fn spec(shape: &[u64]) -> Spec {
        Spec::new(shape)
    }

    fn on_grid(axes: Vec<AxisMap>, nprocs: u64) -> Self {
        let held = match axes.is_empty() {
            true => Held::All,
            false => Held::Grid,
        };
        Self { axes: axes.into(), nprocs, held, padding_exceptions: Arc::default() }
    }

    /// Returns the axis maps.
    pub fn axes(&self) -> &[AxisMap] {
        &self.axes
    }

    /// Returns the number of ranks.
    pub fn nprocs(&self) -> u64 {
        self.nprocs
    }

    /// Returns which ranks hold the array.
    pub fn held(&self) -> Held {
        self.held
    }

    /// Returns whether a rank has a piece, possibly an empty one.
    pub fn holds(&self, rank: u64) -> bool {
        match self.held {
            Held::Grid | Held::All => rank < self.nprocs,
            Held::One(holder) => rank == holder,
        }
    }

    /// Returns the global shape.
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().map(AxisMap::size).collect()
    }

    /// Returns the shape of the process grid.
    pub fn grid_shape(&self) -> Vec<u64> {
        self.axes.iter().map(AxisMap::grid).collect()
    }

    /// Returns the `dist_type` of each axis: `b`, `c`, `u`, `n`.
    pub fn dist(&self) -> String {
        self.axes.iter().map(AxisMap::dist_type).collect()
    }

    /// Returns the grid coordinates of a rank; the last axis varies fastest.
    pub fn coords(&self, rank: u64) -> Vec<u64> {
        let mut rest = if self.held == Held::Grid { rank } else { 0 };
        let mut coords = vec![0; self.axes.len()];
        for (at, axis) in coords.iter_mut().zip(&*self.axes).rev() {
            (rest, *at) = (rest / axis.grid(), rest % axis.grid());
        }
        coords
    }

    /// Returns the rank at grid coordinates, which must be in bounds.
    pub fn rank(&self, coords: &[u64]) -> u64 {
        match self.held {
            Held::One(holder) => holder,
            _ => {
                coords.iter().zip(&*self.axes).fold(0, |rank, (&at, axis)| rank * axis.grid() + at)
            }
        }
    }

    /// Returns the shape of a rank's piece, padding included.
    pub fn local_shape(&self, rank: u64) -> Vec<u64> {
        self.coords(rank).iter().zip(&*self.axes).map(|(&at, axis)| axis.extent(at)).collect()
    }

    /// Returns the cells of a rank's piece that it owns, one range per axis.
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

    /// Returns the owner of an element, the lowest of several, and its local index, padding
    /// included. None if the index is out of bounds.
    pub fn owner(&self, index: &[i64]) -> Option<(u64, Vec<u64>)> {
        let owners = self.axes.iter().zip(index).map(|(axis, &at)| axis.owner(at));
        let owners: Vec<(u64, u64)> = owners.collect::<Option<_>>()?;
        let (coords, local): (Vec<u64>, Vec<u64>) = owners.into_iter().unzip();
        Some((self.rank(&coords), local))
    }

    /// Returns all owners of an element, with its local index on each.
    pub fn owners(&self, index: &[i64]) -> Box<dyn ExactSizeIterator<Item = (u64, Vec<u64>)>> {
        if self.held == Held::All {
            let ranks = if self.owner(index).is_some() { self.nprocs } else { 0 };
            let local: Vec<u64> = index.iter().map(|&at| at as u64).collect();
            return Box::new((0..ranks as usize).map(move |rank| (rank as u64, local.clone())));
        }
        let mut owners = vec![(Vec::new(), Vec::new())];
        for (axis, &at) in self.axes.iter().zip(index) {
            let extend = |(coords, local): (Vec<u64>, Vec<u64>)| {
                axis.owners(at).map(move |(rank, index)| {
                    ([&coords[..], &[rank]].concat(), [&local[..], &[index]].concat())
                })
            };
            owners = owners.into_iter().flat_map(extend).collect();
        }
        let owners: Vec<_> =
            owners.into_iter().map(|(coords, local)| (self.rank(&coords), local)).collect();
        Box::new(owners.into_iter())
    }

    /// Returns the global index of a local index of a rank, padding included.
    pub fn global(&self, rank: u64, local: &[u64]) -> Option<Vec<i64>> {
        let coords = self.coords(rank);
        let indices = self.axes.iter().zip(&coords).zip(local);
        indices.map(|((axis, &at), &local)| axis.global(at, local)).collect()
    }

    /// Returns the dimension data of a rank's piece, one dimension per axis. A replicated array has
    /// none (rule C02).
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
            if let (DimKind::Block { padding, .. }, Some(exception)) =
                (&mut dim.kind, self.padding_exception(rank, axis))
            {
                *padding = exception;
            }
            Ok(dim)
        };
        self.axes.iter().enumerate().map(dim).collect()
    }

    /// Returns the dimension dictionaries of a rank's piece in the given meaning. Checks the outer
    /// ranks too, so that every rank gets the same error if the version cannot express the
    /// distribution.
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

    /// Returns whether any piece has padding along this axis.
    pub fn is_padded(&self, axis: usize) -> bool {
        self.axes[axis].is_padded()
            || self.padding_exceptions.iter().any(|exception| exception.axis == axis)
    }

    /// Fails if an unstructured axis has labels that are not indices.
    pub fn check_labels(&self) -> Result<(), LabelsError> {
        match self.axes.iter().position(|axis| !axis.labels_are_indices()) {
            Some(axis) => Err(LabelsError { axis, last: self.axes[axis].size() as i64 - 1 }),
            None => Ok(()),
        }
    }

    pub(crate) fn has_padding_exceptions(&self) -> bool {
        !self.padding_exceptions.is_empty()
    }

    fn padding_exception(&self, rank: u64, axis: usize) -> Option<(u64, u64)> {
        let exception = self
            .padding_exceptions
            .iter()
            .find(|exception| (exception.rank, exception.axis) == (rank, axis));
        exception.map(|exception| exception.padding)
    }

    /// Returns the padding widths of a piece along an axis.
    pub(crate) fn padding(&self, rank: u64, axis: usize) -> (u64, u64) {
        let map = &self.axes[axis];
        let regular = || match (&map.kind, map.map_rank(self.coords(rank)[axis])) {
            (AxisKind::Block(block), Some(at)) => block.padding(at),
            _ => (0, 0),
        };
        self.padding_exception(rank, axis).unwrap_or_else(regular)
    }
}
