//! `tolist`: nested lists of Python numbers.

use dappled::{Array, eager_elements};
use dappled_kernels::{DType, Scalar};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyList};

use super::buffer_export::export_to_numpy;
use super::scalars;
use crate::ndarray::class::NdArray;
use crate::runtime::lock::run_attached;

/// Converts an array on this rank to nested lists, a large one by NumPy; None if it is distributed.
#[pyfunction(name = "listed")]
pub fn tolist<'py>(array: &Bound<'py, NdArray>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let native = array.get().array().filter(|array| !array.shape().is_empty());
    let Some(native) = native else { return Ok(None) };
    match run_attached(py, || eager_elements(native))? {
        Some(bytes) => nested_list(py, native, native.shape(), &bytes).map(Some),
        None if native.is_replicated() => {
            export_to_numpy(py, native, None, false)?.call_method0(intern!(py, "tolist")).map(Some)
        }
        None => Ok(None),
    }
}

fn nested_list<'py>(
    py: Python<'py>,
    array: &Array,
    shape: &[usize],
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    let (length, inner) = (shape[0], &shape[1..]);
    if inner.is_empty() {
        return innermost_list(py, array.dtype(), bytes);
    }
    let list = PyList::empty(py);
    let each = bytes.len() / length.max(1);
    for at in 0..length {
        list.append(nested_list(py, array, inner, &bytes[at * each..(at + 1) * each])?)?;
    }
    Ok(list.into_any())
}

fn innermost_list<'py>(py: Python<'py>, dtype: DType, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let list = match dtype {
        DType::Float64 => {
            let numbers = bytes.as_chunks().0.iter().map(|&item| f64::from_ne_bytes(item));
            PyList::new(py, numbers.map(|number| PyFloat::new(py, number)))?
        }
        DType::Int64 => {
            PyList::new(py, bytes.as_chunks().0.iter().map(|&item| i64::from_ne_bytes(item)))?
        }
        _ => {
            let items = bytes.chunks_exact(dtype.itemsize());
            let numbers = items.map(|item| scalars::to_python(py, Scalar::from_bytes(dtype, item)));
            PyList::new(py, numbers.collect::<PyResult<Vec<_>>>()?)?
        }
    };
    Ok(list.into_any())
}
