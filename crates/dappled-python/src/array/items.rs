//! Arrays of items: dtypes that are not native, moved as bytes.

use dappled::graph::Array;
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::class::NdArray;
use super::dtypes;
use super::exclusive::exclusive;
use super::lending::borrowed_items;
use super::session::session;

/// An array of which each rank takes its part as bytes; None where these are no good elsewhere.
pub fn items<'py>(array: &Bound<'py, PyUntypedArray>) -> Option<PyResult<Bound<'py, NdArray>>> {
    let py = array.py();
    let (memory, view) = borrowed_items(array)?;
    let copied = session(py).and_then(|session| {
        let foreign = Array::foreign(session, memory, view);
        exclusive(py, usize::MAX, || foreign.copied_items())
    });
    Some(copied.and_then(|copy| Bound::new(py, NdArray::items(copy, array.dtype().unbind()))))
}

/// An array of items, all of them bytes of 0; None where that is none.
#[pyfunction]
pub fn zero_items<'py>(
    py: Python<'py>,
    shape: Vec<usize>,
    dtype: &Bound<'py, PyArrayDescr>,
) -> PyResult<Option<Bound<'py, NdArray>>> {
    let Some(item) = dtypes::item(dtype) else { return Ok(None) };
    let zeros = Array::zero_items(session(py)?, &shape, item);
    Bound::new(py, NdArray::items(zeros, dtype.clone().unbind())).map(Some)
}

/// A copy of items in C order.
#[pyfunction]
pub fn copy_items<'py>(array: &Bound<'py, NdArray>) -> PyResult<Bound<'py, NdArray>> {
    let py = array.py();
    let (memory, descr) = bytes_of(array.get())?;
    let copy = exclusive(py, usize::MAX, || memory.copied_items())?;
    Bound::new(py, NdArray::items(copy, descr.clone_ref(py)))
}

/// Writes items over others of the same dtype; the value is of NumPy's, the same on every rank, or
/// of ours.
#[pyfunction]
pub fn write_items<'py>(target: &Bound<'py, NdArray>, value: &Bound<'py, PyAny>) -> PyResult<()> {
    let py = target.py();
    target.get().check_writeable()?;
    let (memory, _) = bytes_of(target.get())?;
    let value = match value.cast::<NdArray>() {
        Ok(array) => bytes_of(array.get())?.0.clone(),
        Err(_) => {
            let found = borrowed_items(value.cast::<PyUntypedArray>()?);
            let (buffer, view) = found.ok_or_else(no_items)?;
            Array::foreign(session(py)?, buffer, view)
        }
    };
    exclusive(py, usize::MAX, || memory.assign(&value))
}

/// The bytes of items, and their dtype.
fn bytes_of(array: &NdArray) -> PyResult<(&Array, &Py<PyArrayDescr>)> {
    match array.memory() {
        Some((memory, Some(descr))) => Ok((memory, descr)),
        _ => Err(no_items()),
    }
}

fn no_items() -> PyErr {
    PyTypeError::new_err("an array that is none of items")
}
