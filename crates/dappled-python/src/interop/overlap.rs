//! Copies of arguments that overlap with the memory that NumPy writes.
//!
//! Every source, mask and index of a write is read before anything is written. The core guarantees
//! this for its own writes. NumPy's functions do so in part only, so arguments that may share
//! memory with the target are copied first.

use std::ops::Range;

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple, PyType};

use super::buffer_export::{data_address, is_writeable};

/// Returns a value in which every array that may overlap with the target is copied.
///
/// Both are NumPy's. Arrays in lists and tuples, and behind `a.flat`, are included.
#[pyfunction]
pub fn disjoint<'py>(
    target: &Bound<'py, PyAny>,
    value: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    // Writes to a read-only target raise; NumPy's message may depend on the identity of the arrays.
    let target = target.cast::<PyUntypedArray>().ok().filter(|target| is_writeable(target));
    // A single element is read before it is written. (NumPy's scans of 0-d arrays crash if `out` is
    // not the input.)
    let is_one = |array: &Bound<'py, PyUntypedArray>| array.ndim() == 0;
    let both = target.is_some_and(is_one) && value.cast::<PyUntypedArray>().is_ok_and(is_one);
    match target.and_then(address_range) {
        Some(written) if !both => copy_overlapping(&written, value),
        _ => Ok(value),
    }
}

fn copy_overlapping<'py>(
    written: &Range<usize>,
    value: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return match address_range(array).is_some_and(|read| ranges_overlap(written, &read)) {
            true => value.call_method1(intern!(py, "copy"), (intern!(py, "K"),)),
            false => Ok(value),
        };
    }
    if value.get_type().is(numpy_flatiter_class(py)?) {
        let base = value.getattr(intern!(py, "base"))?;
        let shared = base.cast::<PyUntypedArray>().ok().and_then(address_range);
        return match shared.is_some_and(|read| ranges_overlap(written, &read)) {
            true => value.call_method0(intern!(py, "copy")),
            false => Ok(value),
        };
    }
    if let Ok(list) = value.cast_exact::<PyList>() {
        let items = list.iter().map(|item| copy_overlapping(written, item));
        return Ok(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any());
    }
    if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        let items = tuple.iter().map(|item| copy_overlapping(written, item));
        return Ok(PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any());
    }
    Ok(value)
}

/// Returns the range of addresses of an array; `None` if it has no elements.
fn address_range(array: &Bound<'_, PyUntypedArray>) -> Option<Range<usize>> {
    if array.is_empty() {
        return None;
    }
    let start = data_address(array);
    let (mut first, mut last) = (start, start);
    for (&length, &stride) in array.shape().iter().zip(array.strides()) {
        let reach = stride.unsigned_abs() * (length - 1);
        match stride < 0 {
            true => first -= reach,
            false => last += reach,
        }
    }
    Some(first..last + array.dtype().itemsize())
}

fn ranges_overlap(left: &Range<usize>, right: &Range<usize>) -> bool {
    left.start < right.end && right.start < left.end
}

fn numpy_flatiter_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "numpy", "flatiter")
}
