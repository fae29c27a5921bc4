//! `ufunc.reduce` and `ufunc.accumulate`.

use dappled::view;
use dappled::{Array, ReduceRequest};
use dappled_kernels::{Axes, DType, DTypeKind, ReduceOp, Scalar};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use super::class::{NdArray, to_result};
use super::operands::{NativeOperand, native_operand};
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
    let Some(initial) = initial_value(fold, dtype, initial)? else { return Ok(None) };
    let axes = parse_axes(Some(axis), native.shape().len())?;
    if initial.is_none() && axes.iter().any(|&axis| native.shape()[axis] == 0) {
        return Ok(None);
    }
    let reports_flags = !native.is_replicated() && must_share_warnings(py)?;
    let folding = ReduceRequest { fold, axes, dtype, initial, reports_flags };
    let folded = run_locked(py, native.view().len(), || native.reduce_eager_first(&folding))?;
    to_result(py, if keepdims { folded } else { folded.without_axes(&folding.axes) }).map(Some)
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
        None => accumulator_dtype(fold, array.dtype()),
    };
    Ok(dtype.filter(|&dtype| has_quiet_loop(fold, array, dtype)))
}

pub fn normalize_axis(axis: i64, ndim: usize) -> PyResult<usize> {
    view::normalize_axis(axis, ndim).map_err(|error| dappled::GraphError::from(error).raise())
}

/// Returns the dtype in which NumPy accumulates: sums and products of integers use 64 bits.
fn accumulator_dtype(fold: ReduceOp, dtype: DType) -> Option<DType> {
    match (fold, dtype.kind()) {
        (ReduceOp::All | ReduceOp::Any, _) => Some(DType::Bool),
        (ReduceOp::Add | ReduceOp::Multiply, DTypeKind::Bool | DTypeKind::Signed) => {
            Some(DType::Int64)
        }
        (ReduceOp::Add | ReduceOp::Multiply, DTypeKind::Unsigned) => Some(DType::UInt64),
        _ => Some(dtype),
    }
}

/// Returns whether a reduction has a loop and a cast that NumPy does not warn of.
fn has_quiet_loop(fold: ReduceOp, array: &Array, dtype: DType) -> bool {
    let quiet =
        matches!(fold, ReduceOp::All | ReduceOp::Any) || array.dtype().kind() <= dtype.kind();
    quiet && fold.has_loop(dtype)
}

/// Returns the initial value of a reduction; the outer `None` if it is not native.
fn initial_value(
    fold: ReduceOp,
    dtype: DType,
    initial: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Option<Scalar>>> {
    let Some(initial) = initial else { return Ok(Some(fold.identity(dtype))) };
    match native_operand(initial)? {
        Some(ref initial @ (NativeOperand::Strong(value) | NativeOperand::Weak(_, value))) => {
            let quiet = value.dtype().kind() <= dtype.kind() && !initial.to_core().overflows(dtype);
            Ok(quiet.then(|| Some(value.cast(dtype))))
        }
        _ => Ok(None),
    }
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
