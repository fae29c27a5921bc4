//! Matrix products: on one rank by NumPy's BLAS or `matmul`, otherwise by the core.

use dappled::{Array, MatmulRequest, matmul_contiguous};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::openblas;
use crate::errors::internal_error;
use crate::interop::buffer_export::{ExportedMemory, numpy_array};
use crate::interop::numpy_arrays::wrap;
use crate::ndarray::class::{NdArray, to_result};
use crate::ndarray::views::new_ndarray;
use crate::runtime::errstate::{current_origin, must_share_warnings};
use crate::runtime::lock::run_locked;
use crate::runtime::session::session;

/// Multiplies two arrays on one rank; `None` if an operand is not a native array.
pub fn matmul<'py>(
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
    if openblas::is_installed() {
        let work = left.view().len().saturating_mul(right.shape().last().copied().unwrap_or(1));
        if let Some(product) = run_locked(py, work, || matmul_contiguous(left, right))? {
            return new_ndarray(py, product).map(Some);
        }
    }
    let product =
        numpy_matmul(py)?.call1((numpy_snapshot(py, left)?, numpy_snapshot(py, right)?))?;
    match product.cast_exact::<PyUntypedArray>() {
        Ok(array) => Ok(Some(wrap(array, true)?.into_any())),
        Err(_) => Ok(Some(product)),
    }
}

/// Multiplies native arrays of which at least one is distributed; warnings name `dot` or `matmul`.
/// Collective.
#[pyfunction(name = "matmul")]
pub fn matmul_distributed<'py>(
    left: &Bound<'py, NdArray>,
    right: &Bound<'py, NdArray>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = left.py();
    let (Some(left), Some(right)) = (left.get().array(), right.get().array()) else {
        return Err(internal_error("matmul expects native arrays"));
    };
    let request = MatmulRequest {
        name: if name == "dot" { "dot" } else { "matmul" },
        context: Some(current_origin(py)?),
        shares_flags: must_share_warnings(py)?,
    };
    to_result(py, run_locked(py, usize::MAX, || left.matmul(right, &request))?)
}

/// Exports the current values to NumPy, read-only for the duration of a computation.
fn numpy_snapshot<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let memory = run_locked(py, array.view().len(), || array.local_buffer())?;
    numpy_array(py, ExportedMemory::Buffer(memory), array.view(), None, false)
}

fn numpy_matmul<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static MATMUL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = || -> PyResult<Py<PyAny>> { Ok(py.import("numpy")?.getattr("matmul")?.unbind()) };
    Ok(MATMUL.get_or_try_init(py, import)?.bind(py))
}
