//! The value of a context variable, without a call of a method: it is asked for with most operations.

use std::ffi::c_int;
use std::ptr::null_mut;

use libloading::os::unix::Library;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::{ffi, intern};

/// `PyContextVar_Get`, which every CPython has, though not in its stable interface.
type Get =
    unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject, *mut *mut ffi::PyObject) -> c_int;

/// The value of a context variable that has a default.
pub fn value_of<'py>(variable: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = variable.py();
    let Some(get) = found(py) else { return variable.call_method0(intern!(py, "get")) };
    let mut value = null_mut();
    // SAFETY: a context variable that is alive, no other default, and a place for a new reference.
    match unsafe { get(variable.as_ptr(), null_mut(), &mut value) } {
        // SAFETY: the new reference, or null.
        0 => unsafe { Bound::from_owned_ptr_or_err(py, value) },
        _ => Err(PyErr::fetch(py)),
    }
}

fn found(py: Python<'_>) -> Option<Get> {
    static FOUND: PyOnceLock<Option<Get>> = PyOnceLock::new();
    // SAFETY: the function of this name has this type.
    let find = || unsafe { Library::this().get(b"PyContextVar_Get\0").ok().map(|found| *found) };
    *FOUND.get_or_init(py, find)
}
