//! `ufunc.reduce` and `ufunc.accumulate`.

use dappled::view;
use dappled::{Array, ReduceRequest, accumulator_dtype, has_native_reduction};
use dappled_kernels::{Axes, DType, ReduceOp};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use super::class::{NdArray, to_result};
use super::operands::native_operand;
use crate::errors::Raise;
use crate::interop::dtypes;
use crate::runtime::errstate::must_share_warnings;
use crate::runtime::lock::run_locked;

/// Reduces axes of an array by the ufunc of this name; None if that is not native.
#[pyfunction]
#[pyo3(signature = (array, name, axis, dtype=None, keepdims=false, initial=None))]
pub fn reduce<'py>(
    array: &Bound<'py, NdArray>,
    name: &str,
    axis: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    keepdims: bool,
    initial: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let Some(native) = array.get().array() else { return Ok(None) };
    let Some(fold) = fold_by_name(name) else { return Ok(None) };
    let Some(dtype) = fold_dtype(native, fold, dtype)? else { return Ok(None) };
    let request = ReduceRequest::new(fold, Vec::new(), dtype);
    let Some(mut request) = with_initial(request, initial)? else { return Ok(None) };
    request.axes = parse_axes(Some(axis), native.shape().len())?;
    if request.has_no_values(native.shape()) {
        return Ok(None);
    }
    request.reports_flags = !native.is_replicated() && must_share_warnings(py)?;
    let reduced = run_locked(py, native.view().len(), || native.reduce_eager_first(&request))?;
    to_result(py, if keepdims { reduced } else { reduced.without_axes(&request.axes) }).map(Some)
}

/// Accumulates along an axis by the ufunc of this name; None if that is not native.
#[pyfunction]
#[pyo3(signature = (array, name, axis, dtype=None))]
pub fn accumulate<'py>(
    array: &Bound<'py, NdArray>,
    name: &str,
    axis: i64,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let Some(native) = array.get().array() else { return Ok(None) };
    let Some(fold) = fold_by_name(name) else { return Ok(None) };
    let Some(dtype) = fold_dtype(native, fold, dtype)? else { return Ok(None) };
    let axis = normalize_axis(axis, native.shape().len())?;
    let reports_flags = !native.is_replicated() && must_share_warnings(py)?;
    let scanned =
        run_locked(py, native.view().len(), || native.scan(fold, axis, dtype, reports_flags))?;
    to_result(py, scanned).map(Some)
}

fn fold_by_name(name: &str) -> Option<ReduceOp> {
    ReduceOp::ALL.into_iter().find(|fold| fold.name() == name)
}

/// Returns the dtype of a reduction, if it is native.
pub fn fold_dtype(
    array: &Array,
    fold: ReduceOp,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<DType>> {
    let dtype = match dtype {
        Some(dtype) => dtypes::from_object(dtype)?,
        None => Some(accumulator_dtype(fold, array.dtype())),
    };
    Ok(dtype.filter(|&dtype| has_native_reduction(fold, array.dtype(), dtype)))
}

pub fn normalize_axis(axis: i64, ndim: usize) -> PyResult<usize> {
    view::normalize_axis(axis, ndim).map_err(|error| dappled::GraphError::from(error).raise())
}

/// Sets the initial value of a reduction; `None` if it is not native.
fn with_initial(
    request: ReduceRequest,
    initial: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<ReduceRequest>> {
    let Some(initial) = initial else { return Ok(Some(request)) };
    let operand = native_operand(initial)?;
    Ok(operand.and_then(|operand| request.with_initial(operand.to_core())))
}

/// Parses `axis`; None means all axes.
pub fn parse_axes(axis: Option<&Bound<'_, PyAny>>, ndim: usize) -> PyResult<Vec<usize>> {
    let Some(axis) = axis.filter(|axis| !axis.is_none()) else { return Ok((0..ndim).collect()) };
    let mut axes = Vec::new();
    for number in parse_axis_numbers(axis)? {
        let axis = normalize_axis(number, ndim)?;
        if axes.contains(&axis) {
            return Err(PyValueError::new_err("duplicate value in 'axis'"));
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// Parses an axis or a tuple of axes. NumPy accepts neither bools nor lists.
fn parse_axis_numbers(object: &Bound<'_, PyAny>) -> PyResult<Axes<i64>> {
    let number = |item: &Bound<'_, PyAny>| match item.is_instance_of::<PyBool>() {
        true => Err(PyTypeError::new_err(AXIS_REQUIRED)),
        false => item.extract(),
    };
    match object.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().map(|item| number(&item)).collect(),
        Err(_) => Ok([number(object)?].into_iter().collect()),
    }
}

const AXIS_REQUIRED: &str = "an integer is required";
