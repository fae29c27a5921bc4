//! A replacement of `__import__` that may substitute modules of NumPy.
//!
//! It is written in Rust because a Python function would appear in the traceback of every failed
//! import.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// Imports by `original`; passes modules of NumPy, and the importer's globals, to `replace`.
#[pyclass(frozen, module = "dappled._core")]
pub struct Importer {
    original: Py<PyAny>,
    replace: Py<PyAny>,
}

#[pymethods]
impl Importer {
    #[new]
    fn new(original: Py<PyAny>, replace: Py<PyAny>) -> Self {
        Self { original, replace }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let module = self.original.bind(py).call(args, kwargs)?;
        match is_numpy_import(args)? {
            true => self.replace.bind(py).call1((module, args.get_item(1).ok())),
            false => Ok(module),
        }
    }
}

/// Returns whether `numpy` or a submodule is imported, by an absolute import.
fn is_numpy_import(args: &Bound<'_, PyTuple>) -> PyResult<bool> {
    let name = args.get_item(0)?;
    let Ok(name) = name.cast::<PyString>() else { return Ok(false) };
    let Some(rest) = name.to_str()?.strip_prefix("numpy") else { return Ok(false) };
    let level = args.get_item(4).map_or(Ok(0), |level| level.extract::<i32>())?;
    Ok(level == 0 && (rest.is_empty() || rest.starts_with('.')))
}
