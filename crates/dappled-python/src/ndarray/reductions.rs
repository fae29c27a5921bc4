//! Fast paths of reductions: over some or all axes, with no option but `keepdims` and `ddof`.

use dappled::{Array, Moment, MomentRequest, ReduceRequest, may_defer};
use dappled_kernels::ReduceOp;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};

use super::arguments::{Attempt, CallArguments, not_none, parse_bool};
use super::class::{NdArray, to_result};
use super::ufunc_reduce::{fold_dtype, parse_axes};
use crate::interop::scalars;
use crate::runtime::errstate::{current_origin, must_share_warnings, requires_eager};
use crate::runtime::fallback;
use crate::runtime::lock::run_locked;
use crate::runtime::session::session;

/// A reduction by name.
#[derive(Clone, Copy)]
enum ReductionKind {
    Fold(ReduceOp),
    Mean,
    Variance,
    Deviation,
}

/// Reduces the first argument of a function.
fn reduce_argument<'py>(call: &CallArguments<'_, 'py>, kind: ReductionKind) -> Attempt<'py> {
    let arguments = call.by_name(["a", "axis", "keepdims", "ddof"], 2)?;
    let Some([Some(array), axis, keepdims, ddof]) = arguments else { return Ok(None) };
    match array.cast_exact::<NdArray>() {
        Ok(array) => try_reduce(array, kind, [axis, keepdims, ddof]),
        Err(_) => Ok(None),
    }
}

/// Reduces an array by a method, or calls the general function of this name.
fn reduce_method<'py>(
    slf: &Bound<'py, NdArray>,
    (name, kind): (&str, ReductionKind),
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let result = match (CallArguments { args, kwargs }).by_name(["axis", "keepdims", "ddof"], 1)? {
        Some(options) => try_reduce(slf, kind, options)?,
        None => None,
    };
    match result {
        Some(result) => Ok(result),
        None => fallback::function(slf.py(), "reduction")?.call1((slf, name, args, kwargs)),
    }
}

fn try_reduce<'py>(
    array: &Bound<'py, NdArray>,
    kind: ReductionKind,
    [axis, keepdims, ddof]: [Option<Bound<'py, PyAny>>; 3],
) -> Attempt<'py> {
    let Some(native) = array.get().array().filter(|native| !native.shape().is_empty()) else {
        return Ok(None);
    };
    let (Some(keep), axis) = (parse_bool(&keepdims), not_none(axis)) else { return Ok(None) };
    let moment = match (kind, parse_ddof(ddof)) {
        (ReductionKind::Fold(fold), Some(None)) => {
            return reduce_fold(array.py(), native, fold, axis, keep);
        }
        (ReductionKind::Mean, Some(None)) => Moment::Mean,
        (ReductionKind::Variance, Some(ddof)) => Moment::Variance(ddof.unwrap_or(0)),
        (ReductionKind::Deviation, Some(ddof)) => Moment::StandardDeviation(ddof.unwrap_or(0)),
        _ => return Ok(None),
    };
    reduce_moment(array.py(), native, moment, axis, keep)
}

/// Parses `ddof`, a 32-bit int; the outer `None` if it is anything else.
fn parse_ddof(argument: Option<Bound<'_, PyAny>>) -> Option<Option<i64>> {
    let Some(argument) = argument else { return Some(None) };
    let number = argument.is_exact_instance_of::<PyInt>().then(|| argument.extract::<i32>().ok());
    number.flatten().map(|number| Some(number.into()))
}

fn reduce_fold<'py>(
    py: Python<'py>,
    array: &Array,
    fold: ReduceOp,
    axis: Option<Bound<'py, PyAny>>,
    keep: bool,
) -> Attempt<'py> {
    let Some(dtype) = fold_dtype(array, fold, None)? else { return Ok(None) };
    let axes = parse_axes(axis.as_ref(), array.shape().len())?;
    let mut request = ReduceRequest::new(fold, axes, dtype);
    if request.has_no_values(array.shape()) {
        return Ok(None);
    }
    request.reports_flags = !array.is_replicated() && must_share_warnings(py)?;
    let size = array.view().len();
    if request.axes.len() == array.shape().len() && !keep {
        let total = run_locked(py, size, || array.reduce_all(&request))?;
        return scalars::to_numpy(py, total).map(Some);
    }
    let context = array.may_defer_reduction(&request).then(|| current_origin(py)).transpose()?;
    let reduced = match context.filter(|context| !requires_eager(context.errstate)) {
        Some(context) => run_locked(py, size, || array.reduce_lazily(&request, Some(&context)))?,
        None => run_locked(py, size, || array.reduce_eager_first(&request))?,
    };
    to_result(py, if keep { reduced } else { reduced.without_axes(&request.axes) }).map(Some)
}

fn reduce_moment<'py>(
    py: Python<'py>,
    array: &Array,
    moment: Moment,
    axis: Option<Bound<'py, PyAny>>,
    keep: bool,
) -> Attempt<'py> {
    let size = array.view().len();
    let may_defer_now = !array.is_replicated() || may_defer(session(py)?, size);
    let origin = may_defer_now.then(|| current_origin(py)).transpose()?;
    if origin.as_ref().is_some_and(|origin| requires_eager(origin.errstate)) {
        return Ok(None);
    }
    let axes = parse_axes(axis.as_ref(), array.shape().len())?;
    let all = axes.len() == array.shape().len() && !keep;
    let of = MomentRequest { moment, axes, origin };
    if all {
        let moments = run_locked(py, size, || array.moment_over_all(&of))?;
        return moments.map(|moments| scalars::to_numpy(py, moments)).transpose();
    }
    let moments = run_locked(py, size, || array.moment(&of))?;
    let moments =
        moments.map(|moments| if keep { moments } else { moments.without_axes(&of.axes) });
    moments.map(|moments| to_result(py, moments)).transpose()
}

pub fn all<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    reduce_argument(call, ReductionKind::Fold(ReduceOp::All))
}
pub fn any<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    reduce_argument(call, ReductionKind::Fold(ReduceOp::Any))
}
pub fn max<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    reduce_argument(call, ReductionKind::Fold(ReduceOp::Maximum))
}
pub fn mean<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    reduce_argument(call, ReductionKind::Mean)
}
pub fn min<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    reduce_argument(call, ReductionKind::Fold(ReduceOp::Minimum))
}
pub fn prod<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    reduce_argument(call, ReductionKind::Fold(ReduceOp::Multiply))
}
pub fn std<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    reduce_argument(call, ReductionKind::Deviation)
}
pub fn sum<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    reduce_argument(call, ReductionKind::Fold(ReduceOp::Add))
}
pub fn var<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    reduce_argument(call, ReductionKind::Variance)
}

#[pymethods]
impl NdArray {
    /// Return whether all elements along an axis, or all elements, are true.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, keepdims=False, *, where=True)")]
    fn all<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reduce_method(slf, ("all", ReductionKind::Fold(ReduceOp::All)), args, kwargs)
    }

    /// Return whether any element along an axis, or any element, is true.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, keepdims=False, *, where=True)")]
    fn any<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reduce_method(slf, ("any", ReductionKind::Fold(ReduceOp::Any)), args, kwargs)
    }

    /// Return the maximum along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, **kwargs)")]
    fn max<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reduce_method(slf, ("max", ReductionKind::Fold(ReduceOp::Maximum)), args, kwargs)
    }

    /// Return the mean along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, dtype=None, out=None, **kwargs)")]
    fn mean<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reduce_method(slf, ("mean", ReductionKind::Mean), args, kwargs)
    }

    /// Return the minimum along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, **kwargs)")]
    fn min<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reduce_method(slf, ("min", ReductionKind::Fold(ReduceOp::Minimum)), args, kwargs)
    }

    /// Return the product along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, dtype=None, out=None, **kwargs)")]
    fn prod<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reduce_method(slf, ("prod", ReductionKind::Fold(ReduceOp::Multiply)), args, kwargs)
    }

    /// Return the standard deviation along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, dtype=None, out=None, ddof=0, **kwargs)")]
    fn std<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reduce_method(slf, ("std", ReductionKind::Deviation), args, kwargs)
    }

    /// Return the sum along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, dtype=None, out=None, **kwargs)")]
    fn sum<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reduce_method(slf, ("sum", ReductionKind::Fold(ReduceOp::Add)), args, kwargs)
    }

    /// Return the variance along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, dtype=None, out=None, ddof=0, **kwargs)")]
    fn var<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reduce_method(slf, ("var", ReductionKind::Variance), args, kwargs)
    }
}
