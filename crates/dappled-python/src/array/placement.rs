//! Where an array lies: what NumPy does not have.

use dappled::graph::Array;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::class::NdArray;
use super::exclusive::exclusive;
use super::lending::{borrowed, numpy_array};
use super::session::session;
use crate::distribution::Distribution;
use crate::errors::Raise;

#[pymethods]
impl NdArray {
    /// How the elements are shared among the ranks.
    ///
    /// >>> import dappled as np
    /// >>> np.zeros((4, 6)).distribution
    /// Distribution((4, 6), 'nn', grid_shape=(1, 1))
    #[getter]
    fn distribution(&self) -> PyResult<Distribution> {
        let array = self.ours().map_err(|_| not_native())?;
        array.distribution().map(Distribution::from).map_err(Raise::raise)
    }

    /// This rank's piece as NumPy's array, padding included: the memory itself. Collective.
    #[getter]
    fn local<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Some(array) = slf.get().array() else { return slf.getattr("_held") };
        let piece = exclusive(py, usize::MAX, || array.piece())?;
        numpy_array(py, piece.loan, &piece.view, slf.get().is_writeable())
    }

    /// A copy with the same values in another distribution over the same ranks: a `Distribution`, or
    /// a letter for each axis ('b', 'c', 'n'). It is moved in as many rounds as `DAPPLED_BUDGET` asks
    /// for, the bytes that may be used beside the two arrays on each rank. Collective.
    ///
    /// >>> import dappled as np
    /// >>> a = np.arange(6.0)
    /// >>> b = a.redistribute('c')
    /// >>> b.local          # on one rank, all of it
    /// array([0., 1., 2., 3., 4., 5.])
    fn redistribute<'py>(
        &self,
        py: Python<'py>,
        distribution: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, NdArray>> {
        let array = self.ours().map_err(|_| not_native())?;
        let shape = PyTuple::new(py, &array.view().shape)?.into_any();
        let target = placed(distribution, &shape)?.inner;
        let moved = exclusive(py, usize::MAX, || array.redistributed(&target))?;
        Bound::new(py, NdArray::owned(moved))
    }

    /// Brings the padding of every piece up to date, corners included. Collective.
    fn update_padding(&self, py: Python<'_>) -> PyResult<()> {
        let array = self.ours().map_err(|_| not_native())?;
        exclusive(py, usize::MAX, || array.update_padding())
    }

    /// What would be done to compute what is pending: by this rank, or by one of so many.
    #[pyo3(signature = (ranks=None))]
    fn _explain(&self, py: Python<'_>, ranks: Option<u64>) -> PyResult<String> {
        let array = self.ours().map_err(|_| not_native())?;
        exclusive(py, usize::MAX, || match ranks {
            Some(ranks) => array.explain_on(ranks),
            None => array.explain(),
        })
    }
}

fn not_native() -> PyErr {
    PyTypeError::new_err("an array of this dtype is held whole by NumPy, the same on every rank")
}

/// What `dist=` says of an array of this shape: a `Distribution`, or a letter for each axis.
#[pyfunction]
pub fn placed<'py>(dist: &Bound<'py, PyAny>, shape: &Bound<'py, PyAny>) -> PyResult<Distribution> {
    let py = dist.py();
    if let Ok(distribution) = dist.cast::<Distribution>() {
        return Ok(distribution.get().inner.clone().into());
    }
    if !dist.is_instance_of::<PyString>() {
        let class = dist.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "a distribution is a Distribution or a letter for each axis, such as 'bn', not '{class}'"
        )));
    }
    let ranks = session(py)?.fabric().size().into_pyobject(py)?.into_any();
    let class = py.get_type::<Distribution>();
    let options = PyDict::new(py);
    options.set_item("nprocs", ranks)?;
    let made = class.call((shape, dist), Some(&options))?;
    Ok(made.cast::<Distribution>()?.get().inner.clone().into())
}

/// An array of pieces that lie in memory of NumPy's, one on each rank. No copy. `fresh` says that
/// nobody else has the memory.
#[pyfunction]
#[pyo3(signature = (distribution, memory, fresh=false))]
pub fn from_piece<'py>(
    distribution: &Bound<'py, Distribution>,
    memory: &Bound<'py, PyUntypedArray>,
    fresh: bool,
) -> PyResult<Bound<'py, NdArray>> {
    let py = memory.py();
    let session = session(py)?;
    let target = &distribution.get().inner;
    if target.nprocs() != session.fabric().size() {
        let message = format!(
            "a distribution over {} processes, in a program of {}",
            target.nprocs(),
            session.fabric().size()
        );
        return Err(PyValueError::new_err(message));
    }
    let (buffer, local) = borrowed(memory).ok_or_else(not_native)?;
    if fresh {
        let array = Array::adopted_piece(session, target.clone(), buffer, local);
        return Bound::new(py, NdArray::owned(array));
    }
    let writeable: bool = memory.getattr("flags")?.getattr("writeable")?.extract()?;
    let array = Array::from_piece(session, target.clone(), buffer, local).map_err(Raise::raise)?;
    debug_assert_eq!(memory.ndim(), array.shape().len());
    Bound::new(py, NdArray::foreign(array, Some(memory.clone().into_any().unbind()), writeable))
}

/// This rank's part of an array repeated to a shape, in the blocks that an array of that shape has:
/// what an operation on elements needs. A copy, for NumPy to compute with; and those blocks.
#[pyfunction]
pub fn part<'py>(
    array: &Bound<'py, NdArray>,
    shape: Vec<usize>,
) -> PyResult<(Bound<'py, PyAny>, Distribution)> {
    let py = array.py();
    let ours = array.get().ours().map_err(|_| not_native())?;
    let blocks = session(py)?.blocks(&shape);
    let repeated = ours.broadcast(&shape);
    let repeated = repeated.ok_or_else(|| PyValueError::new_err("a shape that does not fit"))?;
    let piece = exclusive(py, usize::MAX, || repeated.redistributed(&blocks)?.piece())?;
    Ok((numpy_array(py, piece.loan, &piece.view, true)?, blocks.into()))
}

/// The blocks that an array of this shape has if nobody says; None where it is whole.
#[pyfunction]
pub fn blocks(
    py: Python<'_>,
    shape: Vec<usize>,
    itemsize: usize,
) -> PyResult<Option<Distribution>> {
    let session = session(py)?;
    let bytes = shape.iter().product::<usize>().saturating_mul(itemsize);
    let small = bytes < session.limits().whole_below || shape.is_empty();
    let whole = session.fabric().size() == 1 || small;
    Ok((!whole).then(|| session.blocks(&shape).into()))
}
