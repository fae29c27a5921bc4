//! Random arrays by the places of their elements.

use dappled::graph::Array;
use dappled_kernels::{Draw, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::class::NdArray;
use super::exclusive::exclusive;
use super::session::session;

/// Draws number `first` and on from the stream of a seed, in this shape. Integers are from `low`
/// on, `span` of them.
#[pyfunction]
#[pyo3(signature = (what, seed, first, shape, low=0, span=0))]
pub fn random<'py>(
    py: Python<'py>,
    what: &str,
    seed: [u32; 3],
    first: u64,
    shape: Vec<usize>,
    low: i64,
    span: u64,
) -> PyResult<Bound<'py, NdArray>> {
    let draw = match what {
        "uniform" => Draw::Uniform,
        "uniform32" => Draw::UniformFloat32,
        "normal" => Draw::Normal,
        "exponential" => Draw::Exponential,
        "integers" => Draw::Integers { low, span },
        _ => return Err(PyValueError::new_err(format!("no such draw: {what}"))),
    };
    let session = session(py)?;
    let elements = shape.iter().product();
    let stream = Stream::new(seed);
    let array = exclusive(py, elements, || Array::random(session, &shape, draw, stream, first))?;
    Bound::new(py, NdArray::owned(array))
}
