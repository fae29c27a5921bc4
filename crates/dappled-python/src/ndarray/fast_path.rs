//! Fast paths of element-wise operations: native arrays of one dtype and shape, and numbers.

use dappled::{
    EagerSource, OpRequest, OtherOperand, Route, Temporary, cast_weak_float, cast_weak_int,
    defer_uniform, has_single_loop, uniform_buffer, uniform_route,
};
use dappled_kernels::{DType, Op, Scalar};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use super::chain;
use super::class::NdArray;
use super::views::new_ndarray;
use crate::runtime::errstate::{current_origin, requires_eager};
use crate::runtime::lock::run_attached;

/// Computes an operation if the operands are an array and another like it, or a number.
pub fn fast_path<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_deferred = objects.iter().any(|object| chain::is_deferred(object));
    if is_deferred && let Some(result) = chain::chain_operation(py, op, objects)? {
        return Ok(Some(result));
    }
    let Some((array, other)) = fast_operands(op, objects) else { return Ok(None) };
    if !is_deferred
        && chain::may_chain(array.len())
        && let Some(result) = chain::chain_operation(py, op, objects)?
    {
        return Ok(Some(result));
    }
    match uniform_route(op, array, other) {
        Route::Eager if !array.is_empty() => {
            let memory = run_attached(py, || uniform_buffer(op, array, other))?;
            let temporary = memory.map(|memory| Temporary::new(op, array, memory));
            let object = temporary.map(|temporary| Bound::new(py, NdArray::temporary(temporary)));
            Ok(object.transpose()?.map(Bound::into_any))
        }
        Route::Defer => {
            let origin = current_origin(py)?;
            if requires_eager(origin.errstate) {
                return Ok(None);
            }
            let request = OpRequest { context: Some(origin), ..op.into() };
            let defer = || Ok(defer_uniform(request.clone(), array.array(), other));
            run_attached(py, defer)?.map(|array| new_ndarray(py, array)).transpose()
        }
        Route::Eager | Route::Force | Route::NumPy => Ok(None),
    }
}

/// Returns the array operand, which has axes, and the other operand in the core's form.
pub fn fast_operands<'a>(
    op: Op,
    objects: &[&'a Bound<'_, PyAny>],
) -> Option<(EagerSource<'a>, OtherOperand<'a>)> {
    let (array, other) = match *objects {
        [array] => (native_elements(array), Some(OtherOperand::None)),
        [left, right] => match (native_elements(left), native_elements(right)) {
            (None, Some(right)) => {
                (Some(right), exact_scalar(op, right.dtype(), left).map(OtherOperand::ScalarLeft))
            }
            (Some(left), Some(right)) => (Some(left), Some(OtherOperand::Source(right))),
            (left, None) => (left, left.and_then(|left| second_operand(op, left, right))),
        },
        _ => return None,
    };
    Some((array.filter(|array| !array.shape().is_empty())?, other?))
}

/// Returns the operand to the right of an array in the core's form.
pub fn second_operand<'a>(
    op: Op,
    array: EagerSource<'_>,
    object: &'a Bound<'_, PyAny>,
) -> Option<OtherOperand<'a>> {
    match native_elements(object) {
        Some(other) => Some(OtherOperand::Source(other)),
        None => exact_scalar(op, array.dtype(), object).map(OtherOperand::ScalarRight),
    }
}

fn native_elements<'a>(object: &'a Bound<'_, PyAny>) -> Option<EagerSource<'a>> {
    object.cast_exact::<NdArray>().ok()?.get().elements()
}

/// Converts a Python number to the dtype of the array beside it, if it is exact there.
///
/// Excludes operations whose loop depends on the number, as powers.
pub fn exact_scalar(op: Op, dtype: DType, object: &Bound<'_, PyAny>) -> Option<Scalar> {
    if !has_single_loop(op, dtype) {
        return None;
    }
    if let Ok(number) = object.cast_exact::<PyFloat>() {
        return cast_weak_float(dtype, number.value());
    }
    // NumPy's float64 is a subclass of Python's float.
    if dtype == DType::Float64
        && let Ok(number) = object.cast::<PyFloat>()
    {
        return Some(Scalar::new(number.value()));
    }
    match object.is_exact_instance_of::<PyInt>() {
        true => cast_weak_int(dtype, object.extract().ok()?),
        false => None,
    }
}
