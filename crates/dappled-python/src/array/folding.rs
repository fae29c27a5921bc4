//! Reductions of an array, in the common case: along an axis or all, with nothing else asked for.

use dappled::graph::{Array, Folding, Moment, MomentOf};
use dappled_kernels::Fold;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};

use super::call::{Call, truth, unless_none};
use super::class::{NdArray, result};
use super::exclusive::exclusive;
use super::origin::{must_report, must_share, origin};
use super::reducing::{folded_axes, native_fold};
use super::session::session;
use super::ufunc::is_later;
use super::{scalars, slow};

type Found<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// What is asked for.
#[derive(Clone, Copy)]
enum Kind {
    Fold(Fold),
    Mean,
    Variance,
    Deviation,
}

/// A reduction of the first argument of a function.
fn of_first<'py>(call: &Call<'_, 'py>, kind: Kind) -> Found<'py> {
    let found = call.named(["a", "axis", "keepdims", "ddof"], 2)?;
    let Some([Some(array), axis, keepdims, ddof]) = found else { return Ok(None) };
    match array.cast_exact::<NdArray>() {
        Ok(array) => reduced(array, kind, [axis, keepdims, ddof]),
        Err(_) => Ok(None),
    }
}

/// A reduction that is a method; if it is not the common case, the general function of this name.
fn of_self<'py>(
    slf: &Bound<'py, NdArray>,
    (name, kind): (&str, Kind),
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let found = match (Call { args, kwargs }).named(["axis", "keepdims", "ddof"], 1)? {
        Some(options) => reduced(slf, kind, options)?,
        None => None,
    };
    match found {
        Some(found) => Ok(found),
        None => slow::function(slf.py(), "reduction")?.call1((slf, name, args, kwargs)),
    }
}

fn reduced<'py>(
    array: &Bound<'py, NdArray>,
    kind: Kind,
    [axis, keepdims, ddof]: [Option<Bound<'py, PyAny>>; 3],
) -> Found<'py> {
    let Some(ours) = array.get().array().filter(|ours| !ours.shape().is_empty()) else {
        return Ok(None);
    };
    let (Some(keep), axis) = (truth(&keepdims), unless_none(axis)) else { return Ok(None) };
    let moment = match (kind, degrees(ddof)) {
        (Kind::Fold(fold), Some(None)) => return folded(array.py(), ours, fold, axis, keep),
        (Kind::Mean, Some(None)) => Moment::Mean,
        (Kind::Variance, Some(ddof)) => Moment::Variance(ddof.unwrap_or(0)),
        (Kind::Deviation, Some(ddof)) => Moment::Deviation(ddof.unwrap_or(0)),
        _ => return Ok(None),
    };
    moment_of(array.py(), ours, moment, axis, keep)
}

/// Degrees of freedom, if they are a small whole number; the outer None if not.
fn degrees(given: Option<Bound<'_, PyAny>>) -> Option<Option<i64>> {
    let Some(given) = given else { return Some(None) };
    let number = given.is_exact_instance_of::<PyInt>().then(|| given.extract::<i32>().ok());
    number.flatten().map(|number| Some(number.into()))
}

fn folded<'py>(
    py: Python<'py>,
    array: &Array,
    fold: Fold,
    axis: Option<Bound<'py, PyAny>>,
    keep: bool,
) -> Found<'py> {
    let Some(dtype) = native_fold(array, fold, None)? else { return Ok(None) };
    let (initial, axes) = (fold.identity(dtype), folded_axes(axis.as_ref(), array.shape().len())?);
    if initial.is_none() && axes.iter().any(|&axis| array.shape()[axis] == 0) {
        return Ok(None);
    }
    let reports = !array.is_whole() && must_share(py)?;
    let (folding, size) = (Folding { fold, axes, dtype, initial, reports }, array.view().len());
    if folding.axes.len() == array.shape().len() && !keep {
        let total = exclusive(py, size, || array.total(&folding))?;
        return scalars::to_numpy(py, total).map(Some);
    }
    let folded = match later(py, array, &folding)? {
        Some(folded) => folded,
        None => exclusive(py, size, || array.folded(&folding))?,
    };
    result(py, if keep { folded } else { folded.without(&folding.axes) }).map(Some)
}

/// A sum that is better a part of what needs it, if it may be computed later.
fn later(py: Python<'_>, array: &Array, folding: &Folding) -> PyResult<Option<Array>> {
    let size = array.view().len();
    if folding.fold != Fold::Add || size <= session(py)?.limits().at_once {
        return Ok(None);
    }
    let origin = origin(py)?;
    match must_report(origin.policy) {
        true => Ok(None),
        false => exclusive(py, 0, || array.sum_later(folding, &origin)),
    }
}

fn moment_of<'py>(
    py: Python<'py>,
    array: &Array,
    moment: Moment,
    axis: Option<Bound<'py, PyAny>>,
    keep: bool,
) -> Found<'py> {
    let size = array.view().len();
    let later = !array.is_whole() || is_later(session(py)?, size);
    let origin = later.then(|| origin(py)).transpose()?;
    if origin.as_ref().is_some_and(|origin| must_report(origin.policy)) {
        return Ok(None);
    }
    let axes = folded_axes(axis.as_ref(), array.shape().len())?;
    let all = axes.len() == array.shape().len() && !keep;
    let of = MomentOf { moment, axes, origin };
    if all {
        let found = exclusive(py, size, || array.moment_of_all(&of))?;
        return found.map(|found| scalars::to_numpy(py, found)).transpose();
    }
    let found = exclusive(py, size, || array.moment(&of))?;
    let found = found.map(|found| if keep { found } else { found.without(&of.axes) });
    found.map(|found| result(py, found)).transpose()
}

pub fn all<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    of_first(call, Kind::Fold(Fold::All))
}
pub fn any<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    of_first(call, Kind::Fold(Fold::Any))
}
pub fn max<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    of_first(call, Kind::Fold(Fold::Maximum))
}
pub fn mean<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    of_first(call, Kind::Mean)
}
pub fn min<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    of_first(call, Kind::Fold(Fold::Minimum))
}
pub fn prod<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    of_first(call, Kind::Fold(Fold::Multiply))
}
pub fn std<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    of_first(call, Kind::Deviation)
}
pub fn sum<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    of_first(call, Kind::Fold(Fold::Add))
}
pub fn var<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    of_first(call, Kind::Variance)
}

#[pymethods]
impl NdArray {
    /// Are all elements along an axis, or all at all, true?
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, keepdims=False, *, where=True)")]
    fn all<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_self(slf, ("all", Kind::Fold(Fold::All)), args, kwargs)
    }

    /// Is any element along an axis, or any at all, true?
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, keepdims=False, *, where=True)")]
    fn any<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_self(slf, ("any", Kind::Fold(Fold::Any)), args, kwargs)
    }

    /// The greatest element along an axis, or of all.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, **kwargs)")]
    fn max<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_self(slf, ("max", Kind::Fold(Fold::Maximum)), args, kwargs)
    }

    /// The mean along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, dtype=None, out=None, **kwargs)")]
    fn mean<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_self(slf, ("mean", Kind::Mean), args, kwargs)
    }

    /// The least element along an axis, or of all.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, **kwargs)")]
    fn min<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_self(slf, ("min", Kind::Fold(Fold::Minimum)), args, kwargs)
    }

    /// The product along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, dtype=None, out=None, **kwargs)")]
    fn prod<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_self(slf, ("prod", Kind::Fold(Fold::Multiply)), args, kwargs)
    }

    /// The standard deviation along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, dtype=None, out=None, ddof=0, **kwargs)")]
    fn std<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_self(slf, ("std", Kind::Deviation), args, kwargs)
    }

    /// The sum along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, dtype=None, out=None, **kwargs)")]
    fn sum<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_self(slf, ("sum", Kind::Fold(Fold::Add)), args, kwargs)
    }

    /// The variance along an axis, or of all elements.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, dtype=None, out=None, ddof=0, **kwargs)")]
    fn var<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        of_self(slf, ("var", Kind::Variance), args, kwargs)
    }
}
