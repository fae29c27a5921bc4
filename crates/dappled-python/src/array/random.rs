//! Random arrays by the places of their elements.

use dappled::graph::Array;
use dappled_kernels::{Draw, Line, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::class::NdArray;
use super::exclusive::exclusive;
use super::session::session;

/// Draws number `first` and on from the stream of a seed, in this shape. `bounds` are the least of
/// integers and how many there are; `line` is the offset and the slope of what float64s become.
#[pyfunction]
#[pyo3(signature = (what, seed, first, shape, bounds=(0, 0), line=(0.0, 1.0)))]
pub fn random<'py>(
    py: Python<'py>,
    what: &str,
    seed: [u32; 3],
    first: u64,
    shape: Vec<usize>,
    bounds: (i64, u64),
    line: (f64, f64),
) -> PyResult<Bound<'py, NdArray>> {
    let ((low, span), line) = (bounds, Line::new(line.0, line.1));
    let draw = match what {
        "uniform" => Draw::Uniform(line),
        "uniform32" => Draw::UniformFloat32,
        "normal" => Draw::Normal(line),
        "exponential" => Draw::Exponential(line),
        "integers" => Draw::Integers { low, span },
        _ => return Err(PyValueError::new_err(format!("no such draw: {what}"))),
    };
    let session = session(py)?;
    let elements = shape.iter().fold(1, |all: usize, &length| all.saturating_mul(length));
    let stream = Stream::new(seed);
    let array = exclusive(py, elements, || Array::random(session, &shape, draw, stream, first))?;
    Bound::new(py, NdArray::owned(array))
}
