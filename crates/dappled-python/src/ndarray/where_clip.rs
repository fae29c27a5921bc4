//! Fast paths of `where` and `clip`.

use dappled_kernels::{DType, Op};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::arguments::{Attempt, CallArguments, is_python_number, not_none};
use super::class::NdArray;
use super::ufunc::{call_numpy_ufunc, try_native};
use crate::interop::numpy_small;
use crate::runtime::fallback;
use pyo3::sync::PyOnceLock;

/// Computes `where(condition, a, b)` for arrays of Dappled and numbers.
pub fn where_<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    if call.args.len() != 3 || call.kwargs.is_some() {
        return Ok(None);
    }
    let [condition, a, b] = [0, 1, 2].map(|index| call.args.get_item(index));
    let (condition, a, b) = (condition?, a?, b?);
    let is_supported = |value: &Bound<'py, PyAny>| {
        value.is_exact_instance_of::<NdArray>() || is_python_number(value)
    };
    let Ok(mask) = condition.cast_exact::<NdArray>() else { return Ok(None) };
    let mask = mask.get().array().filter(|mask| mask.dtype() == DType::Bool);
    let has_axes = mask.is_some_and(|mask| !mask.shape().is_empty());
    match has_axes && is_supported(&a) && is_supported(&b) {
        true => try_native(condition.py(), Op::Select, &[&condition, &a, &b]),
        false => Ok(None),
    }
}

/// Computes `clip(a, a_min, a_max)` for an array of Dappled and numbers.
pub fn clip<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    match call.by_name(["a", "a_min", "a_max"], 3)? {
        Some([Some(array), Some(least), Some(greatest)]) => clip_floats(&array, &least, &greatest),
        _ => Ok(None),
    }
}

/// Clips floats between two numbers. For integers NumPy checks the range of the limits.
fn clip_floats<'py>(
    array: &Bound<'py, PyAny>,
    least: &Bound<'py, PyAny>,
    greatest: &Bound<'py, PyAny>,
) -> Attempt<'py> {
    let Ok(native) = array.cast_exact::<NdArray>() else { return Ok(None) };
    let floats = native.get().array().is_some_and(|native| !native.dtype().is_integral());
    match floats && is_python_number(least) && is_python_number(greatest) {
        true => call_numpy_ufunc(numpy_clip_ufunc(array.py())?, &[array, least, greatest]),
        false => Ok(None),
    }
}

/// Returns NumPy's ufunc `clip`, which its function wraps.
fn numpy_clip_ufunc(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLIP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import =
        || -> PyResult<Py<PyAny>> { Ok(py.import("numpy._core.umath")?.getattr("clip")?.unbind()) };
    Ok(CLIP.get_or_try_init(py, import)?.bind(py))
}

#[pymethods]
impl NdArray {
    /// Return the elements limited to an interval.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, min=None, max=None, out=None, **kwargs)")]
    fn clip<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = (CallArguments { args, kwargs }).by_name(["min", "max", "out"], 3)?;
        let result = match options.map(|options| options.map(not_none)) {
            Some([Some(least), Some(greatest), None]) => clip_floats(slf, &least, &greatest)?,
            _ => None,
        };
        let result = match result {
            Some(result) => Some(result),
            None => numpy_small::call_numpy_method(slf, "clip", &CallArguments { args, kwargs })?,
        };
        match result {
            Some(result) => Ok(result),
            None => fallback::function(slf.py(), "clip")?.call1((slf, args, kwargs)),
        }
    }
}
