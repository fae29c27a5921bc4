//! `Distribution`, as Python sees it.

use std::hash::{DefaultHasher, Hash, Hasher};

use dappled_protocol::exchange::{self, halo_receives, halo_sends};
use dappled_protocol::slice::Key;
use dappled_protocol::{self as protocol, Export, Held};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::boxes::parcels;
use crate::errors::Raise;
use crate::export::Spoken;
use crate::index::{indices, key, rank};
use crate::options::{Options, from_dim_data};
use crate::piece::dictionaries;
use crate::repr;

/// How an array is shared among processes: a grid of ranks, and for each axis a map of its
/// indices to the ranks of the grid's axis.
///
/// `dist` has a letter for each axis: 'b' block, 'c' cyclic, 'u' unstructured, 'n' undistributed;
/// None is all 'b'. `nprocs` is the number of processes; without `grid_shape` a grid is chosen that
/// keeps pieces compact. An option is one value for all axes, or a sequence with an entry for each
/// axis, None where it does not apply; `bounds`, `indices` and edge widths always have an entry for
/// each axis.
///
/// - `block_size` (c): the indices of a block.
/// - `bounds` (b): the bounds of what the ranks own, from 0 to the size.
/// - `indices` (u): a list of global indices for each rank of the grid's axis.
/// - `padding` (b): a width for all edges, or the widths of all edges from left to right.
/// - `periodic` (b): is boundary padding a copy of the other end?
/// - `one_to_one` (u): is every index on one rank only?
///
/// >>> from dappled.protocol import Distribution
/// >>> distribution = Distribution((5, 9), 'bc', nprocs=4)
/// >>> distribution
/// Distribution((5, 9), 'bc', grid_shape=(2, 2))
/// >>> distribution.owner((3, 4))
/// (2, (0, 2))
/// >>> distribution.dim_data(2)[1]
/// {'dist_type': 'c', 'proc_grid_rank': 0, 'proc_grid_size': 2, 'size': 9, 'start': 0}
#[pyclass(frozen, module = "dappled.protocol")]
pub struct Distribution {
    pub inner: protocol::Distribution,
}

impl From<protocol::Distribution> for Distribution {
    fn from(inner: protocol::Distribution) -> Self {
        Self { inner }
    }
}

impl Distribution {
    fn rank_of(&self, object: &Bound<'_, PyAny>) -> PyResult<u64> {
        rank(object, self.inner.nprocs())
    }

    /// A rank of this distribution or of the other.
    fn rank_of_either(&self, object: &Bound<'_, PyAny>, other: &Distribution) -> PyResult<u64> {
        rank(object, self.inner.nprocs().max(other.inner.nprocs()))
    }

    fn ndim(&self) -> usize {
        self.inner.axes().len()
    }
}

#[pymethods]
impl Distribution {
    #[new]
    #[pyo3(signature = (shape, dist=None, *, nprocs=None, grid_shape=None, block_size=None,
        bounds=None, indices=None, padding=None, periodic=None, one_to_one=None))]
    #[expect(clippy::too_many_arguments, reason = "they are Python's keyword arguments")]
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
        let options = Options {
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

    /// The distribution that the `dim_data` of all ranks, in rank order, describe.
    ///
    /// `local_shapes` are the shapes of the buffers, needed only where a dictionary is `{}`.
    ///
    /// >>> from dappled.protocol import Distribution
    /// >>> block = Distribution((10,), nprocs=3)
    /// >>> Distribution.from_dim_data([block.dim_data(rank) for rank in range(3)]) == block
    /// True
    #[staticmethod]
    #[pyo3(signature = (per_rank, *, local_shapes=None, version=Spoken::CURRENT), text_signature = "(per_rank, *, local_shapes=None, version='0.10.0')")]
    fn from_dim_data(
        per_rank: &Bound<'_, PyAny>,
        local_shapes: Option<&Bound<'_, PyAny>>,
        version: Spoken,
    ) -> PyResult<Self> {
        let exports: Vec<Export> =
            from_dim_data(per_rank, local_shapes, version.meaning()?).map_err(Raise::raise)?;
        protocol::Distribution::from_exports(&exports).map(Self::from).map_err(Raise::raise)
    }

    /// The shape of the whole array.
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

    /// Has every one of several processes the whole array?
    #[getter]
    fn is_whole(&self) -> bool {
        self.inner.held() == Held::All && self.inner.nprocs() > 1
    }

    /// Where a rank stands on the grid; the last coordinate changes fastest.
    #[pyo3(signature = (rank, /))]
    fn coords<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.coords(self.rank_of(rank)?))
    }

    /// The rank that stands at these coordinates of the grid.
    #[pyo3(signature = (coords, /))]
    fn rank(&self, coords: &Bound<'_, PyAny>) -> PyResult<u64> {
        let given = indices(coords, self.ndim())?;
        let grid = self.inner.grid_shape();
        let inside = |(&at, &ranks): (&i64, &u64)| u64::try_from(at).ok().filter(|&at| at < ranks);
        let coords: Option<Vec<u64>> = given.iter().zip(&grid).map(inside).collect();
        let off_grid =
            || PyIndexError::new_err(format!("coordinates {given:?} are not on the grid {grid:?}"));
        coords.map(|coords| self.inner.rank(&coords)).ok_or_else(off_grid)
    }

    /// The shape of a rank's buffer, padding included.
    #[pyo3(signature = (rank, /))]
    fn local_shape<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.local_shape(self.rank_of(rank)?))
    }

    /// A rank's dimension dictionaries, one for each axis.
    ///
    /// >>> from dappled.protocol import Distribution
    /// >>> Distribution((18,), nprocs=2, padding=1).dim_data(1)[0]['padding']
    /// (1, 1)
    #[pyo3(signature = (rank, /, version=Spoken::CURRENT), text_signature = "($self, rank, /, version='0.10.0')")]
    fn dim_data<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
        version: Spoken,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (rank, meaning) = (self.rank_of(rank)?, version.meaning()?);
        dictionaries(py, self.inner.dim_dicts(rank, meaning).map_err(Raise::raise)?)
    }

    /// The rank that owns an element, and where it lies in that rank's buffer. The lowest rank,
    /// where an unstructured index is on several. IndexError where there is no such element.
    #[pyo3(signature = (index, /))]
    fn owner<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'_, PyAny>,
    ) -> PyResult<(u64, Bound<'py, PyTuple>)> {
        let index = indices(index, self.ndim())?;
        let found = self.inner.owner(&index).ok_or_else(|| self.no_element(&index))?;
        Ok((found.0, PyTuple::new(py, found.1)?))
    }

    /// All ranks that own an element, each with the place in its buffer.
    #[pyo3(signature = (index, /))]
    fn owners<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<(u64, Bound<'py, PyTuple>)>> {
        let index = indices(index, self.ndim())?;
        let found = self.inner.owners(&index);
        if found.len() == 0 {
            return Err(self.no_element(&index));
        }
        let mut owners = Vec::new();
        let too_many = |_| PyMemoryError::new_err(format!("{} owners", found.len()));
        owners.try_reserve_exact(found.len()).map_err(too_many)?;
        for (rank, local) in found {
            owners.push((rank, PyTuple::new(py, local)?));
        }
        Ok(owners)
    }

    /// The element that lies at a place of a rank's buffer, padding included.
    #[pyo3(signature = (rank, local, /))]
    fn global_index<'py>(
        &self,
        py: Python<'py>,
        rank: &Bound<'_, PyAny>,
        local: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let rank = self.rank_of(rank)?;
        let given = indices(local, self.ndim())?;
        let local: Option<Vec<u64>> = given.iter().map(|&at| u64::try_from(at).ok()).collect();
        let found = local.and_then(|local| self.inner.global(rank, &local));
        let shape = || self.inner.local_shape(rank);
        let no_cell = || {
            PyIndexError::new_err(format!(
                "{given:?} is not in the buffer of rank {rank}, of shape {:?}",
                shape()
            ))
        };
        PyTuple::new(py, found.ok_or_else(no_cell)?)
    }

    /// The distribution of what a key (ints, slices, Ellipsis, None) selects: the same ranks, each
    /// holding what it held. An axis that an int takes away is merged into a neighbour's grid axis.
    ///
    /// >>> from dappled.protocol import Distribution
    /// >>> Distribution((10, 10), nprocs=4).slice((slice(2, 8, 3), 7)).grid_shape
    /// (4,)
    #[pyo3(signature = (key, /))]
    fn slice(&self, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let items = self::key(key)?;
        let key = Key::new(&items, &self.inner.shape()).map_err(Raise::raise)?;
        self.inner.slice(&key).map(Self::from).map_err(Raise::raise)
    }

    /// What a rank sends when the array is moved to another distribution: a list of `(peer,
    /// boxes)`, what it keeps included. A box has for each axis `(start, stop, step)`, or the
    /// positions, in this rank's source buffer. The peer's `receives` has the matching boxes.
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
        let rank = self.rank_of_either(rank, other)?;
        parcels(py, exchange::sends(&self.inner, &other.inner, rank).map_err(Raise::raise)?)
    }

    /// What a rank receives when the array is moved to another distribution: like `sends`, with
    /// positions in this rank's target buffer.
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
        let rank = self.rank_of_either(rank, other)?;
        parcels(py, exchange::receives(&self.inner, &other.inner, rank).map_err(Raise::raise)?)
    }

    /// What a rank sends when padding is brought up to date: like `sends`, within this
    /// distribution.
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
        parcels(py, halo_sends(&self.inner, self.rank_of(rank)?).into_iter())
    }

    /// What a rank receives when padding is brought up to date.
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
        parcels(py, halo_receives(&self.inner, self.rank_of(rank)?).into_iter())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.inner == other.get().inner)
    }

    fn __hash__(&self) -> u64 {
        // The same on every rank and in every run: no random keys.
        let mut hasher = DefaultHasher::new();
        self.inner.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        repr::distribution(&self.inner)
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

    /// The picture that a notebook shows.
    fn _repr_svg_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("dappled.show")?.call_method1("svg", (slf,))
    }

    /// The picture and a table, for a notebook.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("dappled.show")?.call_method1("html", (slf,))
    }
}

impl Distribution {
    fn no_element(&self, index: &[i64]) -> PyErr {
        let shape = self.inner.shape();
        PyIndexError::new_err(format!("{index:?} is no element of an array of shape {shape:?}"))
    }
}
