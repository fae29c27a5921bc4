//! `argmin` and `argmax`: the general entry point, NumPy's functions and the methods.

use dappled::eager_argminmax;
use dappled_kernels::{ArgReduceOp, Scalar};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::arguments::CallArguments;
use super::class::{NdArray, to_result};
use super::ufunc_reduce::normalize_axis;
use crate::interop::{numpy_small, scalars};
use crate::runtime::fallback;
use crate::runtime::lock::{run_attached, run_locked};

/// Returns the index of the least (`argmin`) or greatest (`argmax`) element, along an axis or of
/// all.
///
/// Returns None if the reduction is not native.
#[pyfunction]
#[pyo3(signature = (array, name, axis=None, keepdims=false))]
pub fn arg_reduce<'py>(
    array: &Bound<'py, NdArray>,
    name: &str,
    axis: Option<i64>,
    keepdims: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let extreme = if name == "argmax" { ArgReduceOp::ArgMax } else { ArgReduceOp::ArgMin };
    let Some(native) = array.get().array().filter(|native| !native.view().is_empty()) else {
        return Ok(None);
    };
    if axis.is_none()
        && !keepdims
        && let Some(position) = fast_position(array, extreme)?
    {
        return Ok(Some(position));
    }
    let ndim = native.shape().len();
    let axis = axis.map(|axis| normalize_axis(axis, ndim)).transpose()?;
    let positions =
        run_locked(array.py(), native.view().len(), || native.arg_reduce(extreme, axis))?;
    let axes: Vec<usize> = axis.map_or((0..ndim).collect(), |axis| vec![axis]);
    let positions = if keepdims { positions } else { positions.without_axes(&axes) };
    to_result(array.py(), positions).map(Some)
}

/// Returns the flat index if the core finds it without waiting: small arrays, early hits.
fn fast_position<'py>(
    array: &Bound<'py, NdArray>,
    extreme: ArgReduceOp,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let native = array.get().array().filter(|array| !array.shape().is_empty());
    let Some(native) = native else { return Ok(None) };
    let position = run_attached(py, || eager_argminmax(native, extreme))?;
    position.map(|position| scalars::to_numpy(py, Scalar::new(position))).transpose()
}

/// Calls [`fast_position`] for a call whose only argument is an array.
fn fast_position_of_argument<'py>(
    call: &CallArguments<'_, 'py>,
    extreme: ArgReduceOp,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let first = call.args.get_borrowed_item(0).ok().filter(|_| call.args.len() == 1);
    let array = first.as_ref().and_then(|first| first.cast_exact::<NdArray>().ok());
    let only = array.filter(|_| call.kwargs.is_none());
    only.map_or(Ok(None), |array| fast_position(&array, extreme))
}

pub fn argmax<'py>(
    call: &CallArguments<'_, 'py>,
    _numpy: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    fast_position_of_argument(call, ArgReduceOp::ArgMax)
}

pub fn argmin<'py>(
    call: &CallArguments<'_, 'py>,
    _numpy: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    fast_position_of_argument(call, ArgReduceOp::ArgMin)
}

/// Runs the method in its common case; otherwise calls NumPy or the general function.
fn arg_method<'py>(
    slf: &Bound<'py, NdArray>,
    (name, extreme): (&str, ArgReduceOp),
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    if args.is_empty()
        && kwargs.is_none()
        && let Some(position) = fast_position(slf, extreme)?
    {
        return Ok(position);
    }
    match numpy_small::call_numpy_method(slf, name, &CallArguments { args, kwargs })? {
        Some(result) => Ok(result),
        None => fallback::function(py, "search_method")?.call1((slf, name, args, kwargs)),
    }
}

#[pymethods]
impl NdArray {
    /// Return the index of the greatest element along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, *, keepdims=False)")]
    fn argmax<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        arg_method(slf, ("argmax", ArgReduceOp::ArgMax), args, kwargs)
    }

    /// Return the index of the least element along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, *, keepdims=False)")]
    fn argmin<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        arg_method(slf, ("argmin", ArgReduceOp::ArgMin), args, kwargs)
    }
}
