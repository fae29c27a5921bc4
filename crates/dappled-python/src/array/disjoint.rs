//! Overlap between what NumPy reads and what it writes.
//!
//! A write has one meaning: every source, mask and index is read before anything is written. The
//! core guarantees that for its own writes. NumPy's functions do in part only, so whatever is
//! handed to one that writes is copied first where it may share memory with the target.

use std::ops::Range;

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple, PyType};

use super::lending::{address, is_writeable};

/// The value, with every array in it copied that may share memory with the target.
///
/// Both are NumPy's. Arrays are found in lists and tuples, and behind `a.flat`.
#[pyfunction]
pub fn disjoint<'py>(
    target: &Bound<'py, PyAny>,
    value: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    // What may only be read is refused, as a rule; NumPy's exceptions depend on the very arrays.
    let target = target.cast::<PyUntypedArray>().ok().filter(|target| is_writeable(target));
    // A single element is read before it is written. (NumPy's scans of arrays without axes crash
    // where `out` is another array than the input.)
    let is_one = |array: &Bound<'py, PyUntypedArray>| array.ndim() == 0;
    let both = target.is_some_and(is_one) && value.cast::<PyUntypedArray>().is_ok_and(is_one);
    match target.and_then(extent) {
        Some(written) if !both => copied_inside(&written, value),
        _ => Ok(value),
    }
}

fn copied_inside<'py>(
    written: &Range<usize>,
    value: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return match extent(array).is_some_and(|read| meet(written, &read)) {
            true => value.call_method1(intern!(py, "copy"), (intern!(py, "K"),)),
            false => Ok(value),
        };
    }
    if value.get_type().is(flat_iterators(py)?) {
        let base = value.getattr(intern!(py, "base"))?;
        let shared = base.cast::<PyUntypedArray>().ok().and_then(extent);
        return match shared.is_some_and(|read| meet(written, &read)) {
            true => value.call_method0(intern!(py, "copy")),
            false => Ok(value),
        };
    }
    if let Ok(list) = value.cast_exact::<PyList>() {
        let items = list.iter().map(|item| copied_inside(written, item));
        return Ok(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any());
    }
    if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        let items = tuple.iter().map(|item| copied_inside(written, item));
        return Ok(PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any());
    }
    Ok(value)
}

/// The addresses between an array's first and last byte; None if it has no elements.
fn extent(array: &Bound<'_, PyUntypedArray>) -> Option<Range<usize>> {
    if array.is_empty() {
        return None;
    }
    let start = address(array);
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

fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn flat_iterators(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "numpy", "flatiter")
}
