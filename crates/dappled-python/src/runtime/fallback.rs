//! Calls of the general implementations in Python, where NumPy computes.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

use super::thread_exit::hang_at_exit;

/// Returns a function of `dappled._dispatch.core_callbacks`.
pub fn function<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    hang_at_exit();
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let import = || -> PyResult<Py<PyModule>> {
        Ok(py.import("dappled._dispatch.core_callbacks")?.unbind())
    };
    MODULE.get_or_try_init(py, import)?.bind(py).getattr(name)
}

/// Calls the general implementation of a ufunc.
pub fn ufunc<'py>(
    py: Python<'py>,
    name: &str,
    args: &[&Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    let args = pyo3::types::PyTuple::new(py, args)?;
    function(py, "ufunc")?.call1((name, args))
}
