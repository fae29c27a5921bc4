//! Element by element from one array or another, in the common case.

use dappled_kernels::{DType, Op};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::call::{Call, is_number, unless_none};
use super::class::NdArray;
use super::ufunc::{by_numpy, native};
use super::{slow, small};
use pyo3::sync::PyOnceLock;

type Found<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// `where(condition, a, b)` of a condition of ours, and of arrays of ours or numbers.
pub fn where_<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    if call.args.len() != 3 || call.kwargs.is_some() {
        return Ok(None);
    }
    let [condition, a, b] = [0, 1, 2].map(|place| call.args.get_item(place));
    let (condition, a, b) = (condition?, a?, b?);
    let known =
        |value: &Bound<'py, PyAny>| value.is_exact_instance_of::<NdArray>() || is_number(value);
    let Ok(mask) = condition.cast_exact::<NdArray>() else { return Ok(None) };
    let mask = mask.get().array().filter(|mask| mask.dtype() == DType::Bool);
    let several = mask.is_some_and(|mask| !mask.shape().is_empty());
    match several && known(&a) && known(&b) {
        true => native(condition.py(), Op::Select, &[&condition, &a, &b]),
        false => Ok(None),
    }
}

/// `clip(a, least, greatest)` of an array of ours and numbers.
pub fn clip<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    match call.named(["a", "a_min", "a_max"], 3)? {
        Some([Some(array), Some(least), Some(greatest)]) => clipped(&array, &least, &greatest),
        _ => Ok(None),
    }
}

/// Floats between two numbers. (Of integers, NumPy looks at what does not fit.)
fn clipped<'py>(
    array: &Bound<'py, PyAny>,
    least: &Bound<'py, PyAny>,
    greatest: &Bound<'py, PyAny>,
) -> Found<'py> {
    let Ok(ours) = array.cast_exact::<NdArray>() else { return Ok(None) };
    let floats = ours.get().array().is_some_and(|ours| !ours.dtype().is_integral());
    match floats && is_number(least) && is_number(greatest) {
        true => by_numpy(numpys_clip(array.py())?, &[array, least, greatest]),
        false => Ok(None),
    }
}

/// NumPy's ufunc behind its function.
fn numpys_clip(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLIP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import =
        || -> PyResult<Py<PyAny>> { Ok(py.import("numpy._core.umath")?.getattr("clip")?.unbind()) };
    Ok(CLIP.get_or_try_init(py, import)?.bind(py))
}

#[pymethods]
impl NdArray {
    /// The elements, where they are between two limits; else the limit.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, min=None, max=None, out=None, **kwargs)")]
    fn clip<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = (Call { args, kwargs }).named(["min", "max", "out"], 3)?;
        let found = match options.map(|options| options.map(unless_none)) {
            Some([Some(least), Some(greatest), None]) => clipped(slf, &least, &greatest)?,
            _ => None,
        };
        let found = match found {
            Some(found) => Some(found),
            None => small::by_method(slf, "clip", &Call { args, kwargs })?,
        };
        match found {
            Some(found) => Ok(found),
            None => slow::function(slf.py(), "clip")?.call1((slf, args, kwargs)),
        }
    }
}
