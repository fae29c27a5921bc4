//! `__import__` with a second thought about modules of NumPy's.
//!
//! Here and not in Python, where it would be a line in every traceback of a failed import.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// Imports as `original` does; what it found under a name of NumPy's, `replace` may replace. It is
/// told the module and the globals of the importer, if there are any.
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
        match is_numpy(args)? {
            true => self.replace.bind(py).call1((module, args.get_item(1).ok())),
            false => Ok(module),
        }
    }
}

/// Is `numpy`, or something below it, imported? A relative import is of something else.
fn is_numpy(args: &Bound<'_, PyTuple>) -> PyResult<bool> {
    let name = args.get_item(0)?;
    let Ok(name) = name.cast::<PyString>() else { return Ok(false) };
    let Some(rest) = name.to_str()?.strip_prefix("numpy") else { return Ok(false) };
    let level = args.get_item(4).map_or(Ok(0), |level| level.extract::<i32>())?;
    Ok(level == 0 && (rest.is_empty() || rest.starts_with('.')))
}
