//! Fast reads of context variables, which most operations need.

use std::ffi::c_int;
use std::ptr::null_mut;

use libloading::os::unix::Library;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::{ffi, intern};

/// `PyContextVar_Get`: exported by every CPython, but not part of the stable ABI.
type ContextVarGet =
    unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject, *mut *mut ffi::PyObject) -> c_int;

/// Returns the value of a context variable that has a default.
pub fn contextvar_value<'py>(variable: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = variable.py();
    let Some(get) = contextvar_get(py) else { return variable.call_method0(intern!(py, "get")) };
    let mut value = null_mut();
    // SAFETY: the variable is alive, there is no other default, and `value` takes a new reference.
    match unsafe { get(variable.as_ptr(), null_mut(), &mut value) } {
        // SAFETY: a new reference, or null.
        0 => unsafe { Bound::from_owned_ptr_or_err(py, value) },
        _ => Err(PyErr::fetch(py)),
    }
}

fn contextvar_get(py: Python<'_>) -> Option<ContextVarGet> {
    static SYMBOL: PyOnceLock<Option<ContextVarGet>> = PyOnceLock::new();
    // SAFETY: CPython's function of this name has this signature.
    let find = || unsafe { Library::this().get(b"PyContextVar_Get\0").ok().map(|symbol| *symbol) };
    *SYMBOL.get_or_init(py, find)
}
