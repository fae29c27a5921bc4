//! `a @ b` of arrays that are all here: by the function that NumPy calls, or NumPy's own.

use dappled::graph::{self, Array};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::blas::blas;
use super::class::NdArray;
use super::conversion::wrap;
use super::exclusive::exclusive;
use super::lending::{Kept, numpy_array};
use super::session::session;
use super::shapes::owned;

/// The product, on one rank; None where an operand is not an array of ours.
pub fn product<'py>(
    left: &Bound<'py, PyAny>,
    right: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = left.py();
    let (Ok(left), Ok(right)) = (left.cast_exact::<NdArray>(), right.cast_exact::<NdArray>())
    else {
        return Ok(None);
    };
    let (Some(left), Some(right)) = (left.get().array(), right.get().array()) else {
        return Ok(None);
    };
    if session(py)?.fabric().size() > 1 {
        return Ok(None);
    }
    if let Some(blas) = blas(py) {
        let multiply = |dtype, lengths, matrices: [&[u8]; 2], out: &mut [u8]| {
            blas.multiply(dtype, lengths, matrices, out)
        };
        let work = left.view().len().saturating_mul(right.shape().last().copied().unwrap_or(1));
        if let Some(made) = exclusive(py, work, || graph::product(left, right, &multiply))? {
            return owned(py, made).map(Some);
        }
    }
    let made = matmul(py)?.call1((seen(py, left)?, seen(py, right)?))?;
    match made.cast_exact::<PyUntypedArray>() {
        Ok(array) => Ok(Some(wrap(array, true)?.into_any())),
        Err(_) => Ok(Some(made)),
    }
}

/// NumPy's array of the values as they are now, to be read while it computes.
fn seen<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let memory = exclusive(py, array.view().len(), || array.memory())?;
    numpy_array(py, Kept::Buffer(memory), array.view(), None, false)
}

fn matmul<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static MATMUL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = || -> PyResult<Py<PyAny>> { Ok(py.import("numpy")?.getattr("matmul")?.unbind()) };
    Ok(MATMUL.get_or_try_init(py, import)?.bind(py))
}
