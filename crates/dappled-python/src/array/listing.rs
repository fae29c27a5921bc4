//! Arrays as lists of Python's numbers.

use dappled::graph::{Array, elements};
use dappled_kernels::{DType, Scalar};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyList};

use super::class::NdArray;
use super::exclusive::quickly;
use super::lending::lent;
use super::scalars;

/// What `tolist` gives of an array that is here: of larger ones NumPy's. None for others.
#[pyfunction]
pub fn listed<'py>(array: &Bound<'py, NdArray>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let ours = array.get().array().filter(|array| !array.shape().is_empty());
    let Some(ours) = ours else { return Ok(None) };
    match quickly(py, || elements(ours))? {
        Some(bytes) => nested(py, ours, ours.shape(), &bytes).map(Some),
        None if ours.is_whole() => {
            lent(py, ours, None, false)?.call_method0(intern!(py, "tolist")).map(Some)
        }
        None => Ok(None),
    }
}

fn nested<'py>(
    py: Python<'py>,
    array: &Array,
    shape: &[usize],
    bytes: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    let (length, inner) = (shape[0], &shape[1..]);
    if inner.is_empty() {
        return row(py, array.dtype(), bytes);
    }
    let list = PyList::empty(py);
    let each = bytes.len() / length.max(1);
    for at in 0..length {
        list.append(nested(py, array, inner, &bytes[at * each..(at + 1) * each])?)?;
    }
    Ok(list.into_any())
}

fn row<'py>(py: Python<'py>, dtype: DType, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
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
