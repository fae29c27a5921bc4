//! Fourier transforms of distributed arrays, for `dappled.fft._functions`.

use dappled::{FftKind, FftStep};
use pyo3::prelude::*;

use super::fft::direction;
use crate::errors::internal_error;
use crate::ndarray::class::{NdArray, to_result};
use crate::runtime::errstate::{current_origin, must_share_warnings};
use crate::runtime::lock::run_locked;

/// Axis, length, kind, whether forward, and scale of a transform.
type StepTuple = (usize, usize, String, bool, f64);

/// Transforms a native array along the axes of the steps, in their order. Collective.
#[pyfunction]
pub fn fft_distributed<'py>(
    array: &Bound<'py, NdArray>,
    steps: Vec<StepTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let Some(native) = array.get().array() else {
        return Err(internal_error("fft_distributed expects a native array"));
    };
    let steps = steps.into_iter().map(fft_step).collect::<PyResult<Vec<_>>>()?;
    let (context, share_flags) = (current_origin(py)?, must_share_warnings(py)?);
    let run = || native.fft(&steps, Some(&context), share_flags);
    to_result(py, run_locked(py, usize::MAX, run)?)
}

fn fft_step((axis, length, kind, forward, scale): StepTuple) -> PyResult<FftStep> {
    let kind = match kind.as_str() {
        "complex" => FftKind::Complex,
        "half" => FftKind::RealToHalf,
        "real" => FftKind::HalfToReal,
        _ => return Err(internal_error("a transform is complex, half or real")),
    };
    Ok(FftStep { axis, length, kind, direction: direction(forward), scale })
}
