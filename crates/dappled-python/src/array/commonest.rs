//! The commonest operations, looked at first: small arrays of ours of one dtype, and numbers.

use dappled::graph::{Beside, Fresh, Own, Request, common_later, is_common_later, quick_alike};
use dappled_kernels::{DType, Kind, Op, Scalar, Weak};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use super::class::NdArray;
use super::exclusive::quickly;
use super::given::Argument;
use super::origin::{must_report, origin};
use super::shapes::owned;
use super::soon;

/// A small array of ours, and one that is like it or a number: the commonest case, looked at first.
pub fn common_case<'py>(
    py: Python<'py>,
    op: Op,
    objects: &[&Bound<'py, PyAny>],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if objects.iter().any(|object| soon::concerns(object))
        && let Some(result) = soon::asked(py, op, objects)?
    {
        return Ok(Some(result));
    }
    match commonest(op, objects) {
        Some((own, beside)) => common_result(py, op, own, beside),
        None => Ok(None),
    }
}

/// The same of an array of ours and what comes after it.
pub fn beside_own<'py>(
    own: &Bound<'py, NdArray>,
    op: Op,
    other: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if (soon::concerns(own) || soon::concerns(other))
        && let Some(result) = soon::asked(own.py(), op, &[own.as_any(), other])?
    {
        return Ok(Some(result));
    }
    let (py, own) = (own.py(), own.get().own().filter(|own| !own.shape().is_empty()));
    match own.and_then(|own| Some((own, beside(op, own, other)?))) {
        Some((own, beside)) => common_result(py, op, own, beside),
        None => Ok(None),
    }
}

/// The result, at once if it is small.
fn common_result<'py>(
    py: Python<'py>,
    op: Op,
    own: Own<'_>,
    beside: Beside<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(memory) = quickly(py, || quick_alike(op, own, beside))? {
        let fresh = NdArray::fresh(Fresh::new(op, own, memory));
        return Ok(Some(Bound::new(py, fresh)?.into_any()));
    }
    if !is_common_later(op, own, beside) {
        return Ok(None);
    }
    let origin = origin(py)?;
    if must_report(origin.policy) {
        return Ok(None);
    }
    let request = Request { origin: Some(origin), ..op.into() };
    let made = quickly(py, || Ok(common_later(request.clone(), own.array(), beside)))?;
    made.map(|array| owned(py, array)).transpose()
}

/// An array with axes and what it meets, if that is the commonest.
pub fn commonest<'a>(op: Op, objects: &[&'a Bound<'_, PyAny>]) -> Option<(Own<'a>, Beside<'a>)> {
    let (own, beside) = match *objects {
        [own] => (readable(own), Some(Beside::Nothing)),
        [left, right] => match (readable(left), readable(right)) {
            (None, Some(right)) => {
                (Some(right), number(op, right.dtype(), left).map(Beside::Before))
            }
            (Some(left), Some(right)) => (Some(left), Some(Beside::Own(right))),
            (left, None) => (left, left.and_then(|left| beside(op, left, right))),
        },
        _ => return None,
    };
    Some((own.filter(|own| !own.shape().is_empty())?, beside?))
}

/// What comes after an array, if it is the commonest.
pub fn beside<'a>(op: Op, own: Own<'_>, object: &'a Bound<'_, PyAny>) -> Option<Beside<'a>> {
    match readable(object) {
        Some(other) => Some(Beside::Own(other)),
        None => number(op, own.dtype(), object).map(Beside::After),
    }
}

fn readable<'a>(object: &'a Bound<'_, PyAny>) -> Option<Own<'a>> {
    object.cast_exact::<NdArray>().ok()?.get().own()
}

/// A Python number beside an array of a dtype that has it. (Some powers are other operations.)
pub fn number(op: Op, dtype: DType, object: &Bound<'_, PyAny>) -> Option<Scalar> {
    let kind = dtype.kind();
    if op == Op::Power {
        return None;
    }
    if let Ok(number) = object.cast_exact::<PyFloat>() {
        return (kind == Kind::Float).then(|| Scalar::new(number.value()).cast(dtype));
    }
    // NumPy's float64, which is one of Python's floats as well.
    if dtype == DType::Float64
        && let Ok(number) = object.cast::<PyFloat>()
    {
        return Some(Scalar::new(number.value()));
    }
    if !object.is_exact_instance_of::<PyInt>() {
        return None;
    }
    let number: i64 = object.extract().ok()?;
    match kind {
        // What every float has exactly.
        Kind::Float if (-2048..=2048).contains(&number) => {
            Some(Scalar::new(number as f64).cast(dtype))
        }
        Kind::Signed | Kind::Unsigned => {
            let value = Scalar::new(number);
            (!Argument::Weak(Weak::Int, value).overflows(dtype)).then(|| value.cast(dtype))
        }
        _ => None,
    }
}
