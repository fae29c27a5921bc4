//! What is not done here: handed to the Python side, where NumPy does it.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

use super::exit::hang_at_exit;

/// A function of `dappled._slow`.
pub fn function<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    hang_at_exit();
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let import = || -> PyResult<Py<PyModule>> { Ok(py.import("dappled._slow")?.unbind()) };
    MODULE.get_or_try_init(py, import)?.bind(py).getattr(name)
}

/// A ufunc on these arguments, by NumPy.
pub fn ufunc<'py>(
    py: Python<'py>,
    name: &str,
    args: &[&Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    let args = pyo3::types::PyTuple::new(py, args)?;
    function(py, "ufunc")?.call1((name, args))
}
