//! The Python class `Distribution`.

use std::hash::{DefaultHasher, Hash, Hasher};

use dappled_protocol::exchange::{self, halo_receives, halo_sends};
use dappled_protocol::slice::SliceKey;
use dappled_protocol::{self as protocol, Export, Held};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use super::export::VersionArgument;
use super::index::{self, parse_indices, parse_rank};
use super::options::{DistributionOptions, exports_from_dim_data};
use super::parcels::parcels;
use super::piece::dim_dicts;
use super::repr;
use crate::errors::Raise;

/// How an array is distributed: a process grid, and a map of indices to ranks for each axis.
///
/// `dist` has a letter for each axis: 'b' block, 'c' cyclic, 'u' unstructured, 'n' undistributed;
/// None is all 'b'. `nprocs` is the number of processes; without `grid_shape` a grid is chosen that
/// keeps pieces compact. An option is one value for all axes, or a sequence with an entry for each
/// axis, None where it does not apply. `bounds`, `indices` and edge widths need an entry for each
/// axis.
///
/// - `block_size` (c): the number of indices per block.
/// - `bounds` (b): the bounds of the ranks' index ranges, from 0 to the size.
/// - `indices` (u): a list of global indices for each rank of the grid's axis.
/// - `padding` (b): a width for all edges, or the widths of all edges from left to right.
/// - `periodic` (b): whether boundary padding is a copy of the opposite end.
/// - `one_to_one` (u): whether every index is on one rank only.
///
/// >>> from dappled.protocol import Distribution
/// >>> distribution = Distribution((5, 9), 'bc', nprocs=4)
/// >>> distribution
/// Distribution((5, 9), 'bc', grid_shape=(2, 2))
/// >>> distribution.owner((3, 4))
/// (2, (0, 2))
/// >>> distribution.dim_data(2)[1]
/// {'dist_type': 'c', 'proc_grid_rank': 0, 'proc_grid_size': 2, 'size': 9, 'start': 0}
#[pyclass(frozen, name = "Distribution", module = "dappled.protocol")]
pub struct PyDistribution {
    pub inner: protocol::Distribution,
}

impl From<protocol::Distribution> for PyDistribution {
    fn from(inner: protocol::Distribution) -> Self {
        Self { inner }
    }
}

impl PyDistribution {
    fn parse_rank_of(&self, object: &Bound<'_, PyAny>) -> PyResult<u64> {
        parse_rank(object, self.inner.nprocs())
    }

    /// Parses a rank of this distribution or of the other.
    fn parse_rank_of_either(
        &self,
        object: &Bound<'_, PyAny>,
        other: &PyDistribution,
    ) -> PyResult<u64> {
        parse_rank(object, self.inner.nprocs().max(other.inner.nprocs()))
    }

    fn ndim(&self) -> usize {
        self.inner.axes().len()
    }
}

#[pymethods]
impl PyDistribution {
    #[new]
    #[pyo3(signature = (shape, dist=None, *, nprocs=None, grid_shape=None, block_size=None,
        bounds=None, indices=None, padding=None, periodic=None, one_to_one=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python class")]
    fn new(
        shape: &Bound<'_, PyAny>,
        dist: Option<&Bound<'_, PyAny>>,
        nprocs: Option<&Bound<'_, PyAny>>,
        grid_shape: Option<&Bound<'_, PyAny>>,
        block_size: Option<&Bound<'_, PyAny>>,
        bounds: Option<&Bound<'_, PyAny>>,
        indices: Option<&Bound<'_, PyAny>>,
        padding: Option<&Bound<'_, PyAny>>,
        periodic: Option<&Bound<'_, PyAny>>,
        one_to_one: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let options = DistributionOptions {
            shape,
            dist,
            nprocs,
            grid_shape,
            block_size,
            bounds,
            indices,
            padding,
            periodic,
            one_to_one,
        };
        let spec = options.spec().map_err(Raise::raise)?;
        spec.build().map(Self::from).map_err(Raise::raise)
    }

    /// Build the distribution that the `dim_data` of all ranks, in rank order, describe.
    ///
    /// `local_shapes` are the shapes of the buffers, needed only for dictionaries `{}`.
    ///
    /// >>> from dappled.protocol import Distribution
    /// >>> block = Distribution((10,), nprocs=3)
    /// >>> Distribution.from_dim_data([block.dim_data(rank) for rank in range(3)]) == block
    /// True
    #[staticmethod]
    #[pyo3(signature = (per_rank, *, local_shapes=None, version=VersionArgument::CURRENT), text_signature = "(per_rank, *, local_shapes=None, version='0.10.0')")]
    fn from_dim_data(
        per_rank: &Bound<'_, PyAny>,
        local_shapes: Option<&Bound<'_, PyAny>>,
        version: VersionArgument,
    ) -> PyResult<Self> {
        let exports: Vec<Export> =
            exports_from_dim_data(per_rank, local_shapes, version.meaning()?)
                .map_err(Raise::raise)?;
        protocol::Distribution::from_exports(&exports).map(Self::from).map_err(Raise::raise)
    }

    /// The shape of the global array.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.shape())
    }

    /// A letter for each axis: 'b', 'c', 'u' or 'n'.
    #[getter]
    fn dist(&self) -> String {
        self.inner.dist()
    }

    /// The number of ranks along each axis.
    #[getter]
    fn grid_shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.grid_shape())
    }

    /// The number of processes.
    #[getter]
    fn nprocs(&self) -> u64 {
        self.inner.nprocs()
    }

    /// True if each of several processes holds the whole array.
    #[getter]
    fn is_whole(&self) -> bool {
        self.inner.held() == Held::All && self.inner.nprocs() > 1
    }

    /// Return a rank's coordinates on the process grid; the last coordinate varies fastest.
    #[pyo3(signature = (rank, /))]
    fn coords<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.coords(self.parse_rank_of(rank)?))
    }

    /// Return the rank at these coordinates of the process grid.
    #[pyo3(signature = (coords, /))]
    fn rank(&self, coords: &Bound<'_, PyAny>) -> PyResult<u64> {
        let coordinates = parse_indices(coords, self.ndim())?;
        let grid = self.inner.grid_shape();
        let inside = |(&at, &ranks): (&i64, &u64)| u64::try_from(at).ok().filter(|&at| at < ranks);
        let coords: Option<Vec<u64>> = coordinates.iter().zip(&grid).map(inside).collect();
        let off_grid = || {
            PyIndexError::new_err(format!(
                "coordinates {coordinates:?} are not on the grid {grid:?}"
            ))
        };
        coords.map(|coords| self.inner.rank(&coords)).ok_or_else(off_grid)
    }

    /// Return the shape of a rank's buffer, padding included.
    #[pyo3(signature = (rank, /))]
    fn local_shape<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.local_shape(self.parse_rank_of(rank)?))
    }

    /// Return a rank's dimension dictionaries, one for each axis.
    ///
    /// >>> from dappled.protocol import Distribution
    /// >>> Distribution((18,), nprocs=2, padding=1).dim_data(1)[0]['padding']
    /// (1, 1)
    #[pyo3(signature = (rank, /, version=VersionArgument::CURRENT), text_signature = "($self, rank, /, version='0.10.0')")]
    fn dim_data<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
        version: VersionArgument,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (rank, meaning) = (self.parse_rank_of(rank)?, version.meaning()?);
        dim_dicts(py, self.inner.dim_dicts(rank, meaning).map_err(Raise::raise)?)
    }

    /// Return the rank that owns an element, and the element's position in that rank's buffer.
    ///
    /// If several ranks own an unstructured index, the lowest is returned. Raises IndexError if
    /// there is no such element.
    #[pyo3(signature = (index, /))]
    fn owner<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'_, PyAny>,
    ) -> PyResult<(u64, Bound<'py, PyTuple>)> {
        let index = parse_indices(index, self.ndim())?;
        let (rank, local) = self.inner.owner(&index).ok_or_else(|| self.no_such_element(&index))?;
        Ok((rank, PyTuple::new(py, local)?))
    }

    /// Return all ranks that own an element, each with the element's position in its buffer.
    #[pyo3(signature = (index, /))]
    fn owners<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<(u64, Bound<'py, PyTuple>)>> {
        let index = parse_indices(index, self.ndim())?;
        let pairs = self.inner.owners(&index);
        if pairs.len() == 0 {
            return Err(self.no_such_element(&index));
        }
        let mut owners = Vec::new();
        let too_many =
            |_| PyMemoryError::new_err(format!("index {index:?} has {} owners", pairs.len()));
        owners.try_reserve_exact(pairs.len()).map_err(too_many)?;
        for (rank, local) in pairs {
            owners.push((rank, PyTuple::new(py, local)?));
        }
        Ok(owners)
    }

    /// Return the global index of the element at a position of a rank's buffer, padding included.
    #[pyo3(signature = (rank, local, /))]
    fn global_index<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
        local: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let rank = self.parse_rank_of(rank)?;
        let position = parse_indices(local, self.ndim())?;
        let local: Option<Vec<u64>> = position.iter().map(|&at| u64::try_from(at).ok()).collect();
        let global = local.and_then(|local| self.inner.global(rank, &local));
        let shape = || self.inner.local_shape(rank);
        let no_cell = || {
            PyIndexError::new_err(format!(
                "position {position:?} is not in the buffer of rank {rank}, of shape {:?}",
                shape()
            ))
        };
        PyTuple::new(py, global.ok_or_else(no_cell)?)
    }

    /// Return the distribution of the view that a key (ints, slices, Ellipsis, None) selects.
    ///
    /// Every rank holds the selected elements that it held before. The grid axis of an axis that an
    /// int removes is merged into a neighbour's.
    ///
    /// >>> from dappled.protocol import Distribution
    /// >>> Distribution((10, 10), nprocs=4).slice((slice(2, 8, 3), 7)).grid_shape
    /// (4,)
    #[pyo3(signature = (key, /))]
    fn slice(&self, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let items = index::parse_key(key)?;
        let key = SliceKey::new(&items, &self.inner.shape()).map_err(Raise::raise)?;
        self.inner.slice(&key).map(Self::from).map_err(Raise::raise)
    }

    /// Return what a rank sends to redistribute the array: a list of `(peer, boxes)`.
    ///
    /// The list includes what the rank keeps. A box has `(start, stop, step)` or an array of positions
    /// in this rank's source buffer for each axis. The peer's `receives` has the matching boxes.
    ///
    /// >>> from dappled.protocol import Distribution
    /// >>> rows, columns = Distribution((4, 4), nprocs=2), Distribution((4, 4), grid_shape=(1, 2))
    /// >>> rows.sends(0, columns)
    /// [(0, [((0, 2, 1), (0, 2, 1))]), (1, [((0, 2, 1), (2, 4, 1))])]
    #[pyo3(signature = (rank, other, /))]
    fn sends<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
        other: &Self,
    ) -> PyResult<Bound<'py, PyList>> {
        let rank = self.parse_rank_of_either(rank, other)?;
        parcels(py, exchange::sends(&self.inner, &other.inner, rank).map_err(Raise::raise)?)
    }

    /// Return what a rank receives to redistribute the array: a list of `(peer, boxes)`.
    ///
    /// A box has positions in this rank's target buffer; see `sends`.
    ///
    /// >>> from dappled.protocol import Distribution
    /// >>> rows, columns = Distribution((4, 4), nprocs=2), Distribution((4, 4), grid_shape=(1, 2))
    /// >>> rows.receives(0, columns)
    /// [(0, [((0, 2, 1), (0, 2, 1))]), (1, [((2, 4, 1), (0, 2, 1))])]
    #[pyo3(signature = (rank, other, /))]
    fn receives<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
        other: &Self,
    ) -> PyResult<Bound<'py, PyList>> {
        let rank = self.parse_rank_of_either(rank, other)?;
        parcels(py, exchange::receives(&self.inner, &other.inner, rank).map_err(Raise::raise)?)
    }

    /// Return what a rank sends in a halo exchange: a list of `(peer, boxes)`; see `sends`.
    ///
    /// >>> from dappled.protocol import Distribution
    /// >>> Distribution((18,), nprocs=2, padding=1).halo_sends(0)
    /// [(1, [((8, 9, 1),)])]
    #[pyo3(signature = (rank, /))]
    fn halo_sends<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        parcels(py, halo_sends(&self.inner, self.parse_rank_of(rank)?).into_iter())
    }

    /// Return what a rank receives in a halo exchange: a list of `(peer, boxes)`.
    ///
    /// >>> from dappled.protocol import Distribution
    /// >>> Distribution((18,), nprocs=2, padding=1).halo_receives(1)
    /// [(0, [((0, 1, 1),)])]
    #[pyo3(signature = (rank, /))]
    fn halo_receives<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        parcels(py, halo_receives(&self.inner, self.parse_rank_of(rank)?).into_iter())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.inner == other.get().inner)
    }

    fn __hash__(&self) -> u64 {
        // Ranks compare hashes, so the hasher has no random keys.
        let mut hasher = DefaultHasher::new();
        self.inner.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        repr::distribution_repr(&self.inner)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = postcard::to_stdvec(&self.inner)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let restore = py.get_type::<Self>().getattr("_from_bytes")?;
        Ok((restore, (PyBytes::new(py, &bytes),)))
    }

    #[staticmethod]
    fn _from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let inner = postcard::from_bytes(bytes);
        inner.map(|inner| Self { inner }).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The picture shown in a notebook.
    fn _repr_svg_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("dappled.show")?.call_method1("svg", (slf,))
    }

    /// The picture and the table shown in a notebook.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("dappled.show")?.call_method1("html", (slf,))
    }
}

impl PyDistribution {
    fn no_such_element(&self, index: &[i64]) -> PyErr {
        let shape = self.inner.shape();
        PyIndexError::new_err(format!(
            "index {index:?} is out of bounds for an array of shape {shape:?}"
        ))
    }
}
