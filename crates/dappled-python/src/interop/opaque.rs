//! Arrays of opaque dtypes: elements that no kernel knows, stored and moved as bytes.

use dappled::Array;
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::buffer_export::borrow_bytes;
use super::dtypes;
use crate::errors::internal_error;
use crate::ndarray::class::NdArray;
use crate::runtime::fallback;
use crate::runtime::lock::{catch_panic, run_locked};
use crate::runtime::session::session;

/// Copies this rank's piece of a NumPy array as bytes; `None` if elements hold references.
pub fn copy_opaque<'py>(
    array: &Bound<'py, PyUntypedArray>,
) -> Option<PyResult<Bound<'py, NdArray>>> {
    let py = array.py();
    let copied = borrow_canonical(array).transpose()?.and_then(|borrowed| {
        let copy = run_locked(py, usize::MAX, || borrowed.copy_items())?;
        Bound::new(py, NdArray::opaque(copy, array.dtype().unbind()))
    });
    Some(copied)
}

/// Borrows a NumPy array as bytes after its padding bytes are cleared.
fn borrow_canonical(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<Array>> {
    let Some((memory, view)) = borrow_bytes(&canonical(array)?) else { return Ok(None) };
    Ok(Some(Array::from_foreign(session(array.py())?, memory, view)))
}

/// Clears padding bytes of a NumPy array: ranks compare the bytes of their arguments.
pub fn canonical<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let cleared = fallback::function(array.py(), "with_zeroed_padding")?.call1((array,))?;
    Ok(cleared.cast_into::<PyUntypedArray>()?)
}

/// Creates an array of an opaque dtype with all bytes 0; None if elements hold references.
#[pyfunction(name = "zero_items")]
pub fn zeros_opaque<'py>(
    py: Python<'py>,
    shape: Vec<usize>,
    dtype: &Bound<'py, PyArrayDescr>,
) -> PyResult<Option<Bound<'py, NdArray>>> {
    let Some(item) = dtypes::opaque_itemsize(dtype) else { return Ok(None) };
    let session = session(py)?;
    let zeros = catch_panic(|| Array::zero_items(session, &shape, item))?;
    Bound::new(py, NdArray::opaque(zeros, dtype.clone().unbind())).map(Some)
}

/// Copies an array of an opaque dtype in C order.
#[pyfunction(name = "copy_items")]
pub fn copy_opaque_array<'py>(array: &Bound<'py, NdArray>) -> PyResult<Bound<'py, NdArray>> {
    let py = array.py();
    let (memory, descr) = opaque_bytes(array.get())?;
    let copy = run_locked(py, usize::MAX, || memory.copy_items())?;
    Bound::new(py, NdArray::opaque(copy, descr.clone_ref(py)))
}

/// Assigns to an array of an opaque dtype.
///
/// The value is an array of Dappled, or a NumPy array that is the same on every rank.
#[pyfunction(name = "write_items")]
pub fn assign_opaque<'py>(target: &Bound<'py, NdArray>, value: &Bound<'py, PyAny>) -> PyResult<()> {
    let py = target.py();
    target.get().check_writeable()?;
    let (memory, _) = opaque_bytes(target.get())?;
    let value = match value.cast::<NdArray>() {
        Ok(array) => match bytes_and_dtype(array.get(), py)? {
            Some((bytes, Some(_))) => bytes,
            _ => return Err(not_opaque()),
        },
        Err(_) => borrow_canonical(value.cast::<PyUntypedArray>()?)?.ok_or_else(not_opaque)?,
    };
    run_locked(py, usize::MAX, || memory.assign(&value))
}

/// Returns the array of the core, of elements or bytes, and the dtype if it is opaque.
///
/// Includes arrays that NumPy holds, unless their elements hold references.
pub fn bytes_and_dtype(
    array: &NdArray,
    py: Python<'_>,
) -> PyResult<Option<(Array, Option<Py<PyArrayDescr>>)>> {
    if let Some((memory, item)) = array.memory() {
        return Ok(Some((memory.clone(), item.map(|descr| descr.clone_ref(py)))));
    }
    let held = array.numpy_array(py)?.cast::<PyUntypedArray>()?;
    Ok(borrow_canonical(held)?.map(|memory| (memory, Some(held.dtype().unbind()))))
}

/// Returns the bytes and the dtype of an array of an opaque dtype.
fn opaque_bytes(array: &NdArray) -> PyResult<(&Array, &Py<PyArrayDescr>)> {
    match array.memory() {
        Some((memory, Some(descr))) => Ok((memory, descr)),
        _ => Err(not_opaque()),
    }
}

fn not_opaque() -> PyErr {
    internal_error("the array has a native dtype")
}
