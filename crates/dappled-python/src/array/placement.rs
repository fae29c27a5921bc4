//! Where an array lies: what NumPy does not have.

use dappled::graph::Array;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

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

    /// A copy with the same values in another distribution over the same ranks. Collective.
    ///
    /// >>> import dappled as np
    /// >>> a = np.arange(6.0)
    /// >>> b = a.redistribute(np.protocol.Distribution((6,), 'c'))
    /// >>> b.local          # on one rank, all of it
    /// array([0., 1., 2., 3., 4., 5.])
    fn redistribute<'py>(
        &self,
        py: Python<'py>,
        distribution: &Bound<'py, Distribution>,
    ) -> PyResult<Bound<'py, NdArray>> {
        let array = self.ours().map_err(|_| not_native())?;
        let target = &distribution.get().inner;
        let moved = exclusive(py, usize::MAX, || array.redistributed(target))?;
        Bound::new(py, NdArray::owned(moved))
    }

    /// Brings the padding of every piece up to date, corners included. Collective.
    fn update_padding(&self, py: Python<'_>) -> PyResult<()> {
        let array = self.ours().map_err(|_| not_native())?;
        exclusive(py, usize::MAX, || array.update_padding())
    }

    /// What would be done to compute what is pending.
    fn _explain(&self, py: Python<'_>) -> PyResult<String> {
        let array = self.ours().map_err(|_| not_native())?;
        exclusive(py, usize::MAX, || array.explain())
    }
}

fn not_native() -> PyErr {
    PyTypeError::new_err("an array of this dtype is held whole by NumPy, the same on every rank")
}

/// An array of pieces that lie in memory of NumPy's, one on each rank. No copy.
#[pyfunction]
pub fn from_piece<'py>(
    distribution: &Bound<'py, Distribution>,
    memory: &Bound<'py, PyUntypedArray>,
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
