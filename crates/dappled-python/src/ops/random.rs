//! Random arrays drawn by a counter-based generator.

use dappled::Array;
use dappled_kernels::{AffineMap, Draw, RandomStream};
use pyo3::prelude::*;

use crate::errors::internal_error;
use crate::ndarray::class::NdArray;
use crate::runtime::lock::run_locked;
use crate::runtime::session::session;

/// Draws an array from position `first` of the stream of a seed.
///
/// `bounds` are the least integer and the number of integers; `line` is the offset and scale of
/// floats.
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
    let ((low, span), line) = (bounds, AffineMap::new(line.0, line.1));
    let draw = match what {
        "uniform" => Draw::Uniform(line),
        "uniform32" => Draw::UniformFloat32,
        "normal" => Draw::Normal(line),
        "exponential" => Draw::Exponential(line),
        "integers" => Draw::Integers { low, span },
        _ => {
            return Err(internal_error(&format!("unknown distribution of random numbers: {what}")));
        }
    };
    let session = session(py)?;
    let elements = shape.iter().fold(1, |all: usize, &length| all.saturating_mul(length));
    let stream = RandomStream::new(seed);
    let array = run_locked(py, elements, || Array::random(session, &shape, draw, stream, first))?;
    Bound::new(py, NdArray::owned(array))
}
