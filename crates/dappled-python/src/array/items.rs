//! Arrays of items: dtypes that are not native, moved as bytes.

use dappled::graph::Array;
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::class::NdArray;
use super::dtypes;
use super::exclusive::{exclusive, fallible};
use super::lending::borrowed_items;
use super::session::session;
use super::slow;

/// An array of which each rank takes its part as bytes; None where these are no good elsewhere.
pub fn items<'py>(array: &Bound<'py, PyUntypedArray>) -> Option<PyResult<Bound<'py, NdArray>>> {
    let py = array.py();
    let copied = seen(array).transpose()?.and_then(|seen| {
        let copy = exclusive(py, usize::MAX, || seen.copied_items())?;
        Bound::new(py, NdArray::items(copy, array.dtype().unbind()))
    });
    Some(copied)
}

/// NumPy's array as bytes, the same on every rank: those that mean nothing are cleared first.
fn seen(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<Array>> {
    let Some((memory, view)) = borrowed_items(&canonical(array)?) else { return Ok(None) };
    Ok(Some(Array::foreign(session(array.py())?, memory, view)))
}

/// NumPy's array, in which bytes that mean nothing are 0: ranks compare what they are given.
pub fn canonical<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let cleared = slow::function(array.py(), "canonical")?.call1((array,))?;
    Ok(cleared.cast_into::<PyUntypedArray>()?)
}

/// An array of items, all of them bytes of 0; None where that is none.
#[pyfunction]
pub fn zero_items<'py>(
    py: Python<'py>,
    shape: Vec<usize>,
    dtype: &Bound<'py, PyArrayDescr>,
) -> PyResult<Option<Bound<'py, NdArray>>> {
    let Some(item) = dtypes::item(dtype) else { return Ok(None) };
    let session = session(py)?;
    let zeros = fallible(|| Array::zero_items(session, &shape, item))?;
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
        Ok(array) => match as_bytes(array.get(), py)? {
            Some((bytes, Some(_))) => bytes,
            _ => return Err(no_items()),
        },
        Err(_) => seen(value.cast::<PyUntypedArray>()?)?.ok_or_else(no_items)?,
    };
    exclusive(py, usize::MAX, || memory.assign(&value))
}

/// The elements of an array, or the bytes of its items and their dtype: also of one that NumPy holds, if
/// these are good elsewhere.
pub fn as_bytes(
    array: &NdArray,
    py: Python<'_>,
) -> PyResult<Option<(Array, Option<Py<PyArrayDescr>>)>> {
    if let Some((memory, item)) = array.memory() {
        return Ok(Some((memory.clone(), item.map(|descr| descr.clone_ref(py)))));
    }
    let held = array.held_array(py)?.cast::<PyUntypedArray>()?;
    Ok(seen(held)?.map(|memory| (memory, Some(held.dtype().unbind()))))
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
