//! Reductions, scans and searches, as NumPy's `ufunc.reduce`, `ufunc.accumulate` and `argmin` are
//! asked for them.

use dappled::graph::{Array, Folding, quick_arg};
use dappled::view;
use dappled_kernels::{Axes, DType, Extreme, Fold, Kind, Scalar};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};

use super::call::Call;
use super::class::{NdArray, result};
use super::exclusive::{exclusive, quickly};
use super::given::{Argument, argument};
use super::origin::must_share;
use super::{dtypes, scalars, slow, small};
use crate::errors::Raise;

/// Folds axes of an array by the ufunc of this name; None if that is not native.
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
    let Some(ours) = array.get().array() else { return Ok(None) };
    let Some(fold) = fold_of(name) else { return Ok(None) };
    let Some(dtype) = native_fold(ours, fold, dtype)? else { return Ok(None) };
    let Some(initial) = started(fold, dtype, initial)? else { return Ok(None) };
    let axes = folded_axes(Some(axis), ours.shape().len())?;
    if initial.is_none() && axes.iter().any(|&axis| ours.shape()[axis] == 0) {
        return Ok(None);
    }
    let reports = !ours.is_whole() && must_share(py)?;
    let folding = Folding { fold, axes, dtype, initial, reports };
    let folded = exclusive(py, ours.view().len(), || ours.folded(&folding))?;
    result(py, if keepdims { folded } else { folded.without(&folding.axes) }).map(Some)
}

/// The running fold along an axis by the ufunc of this name; None if that is not native.
#[pyfunction]
#[pyo3(signature = (array, name, axis, dtype=None))]
pub fn accumulate<'py>(
    array: &Bound<'py, NdArray>,
    name: &str,
    axis: i64,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let Some(ours) = array.get().array() else { return Ok(None) };
    let Some(fold) = fold_of(name) else { return Ok(None) };
    let Some(dtype) = native_fold(ours, fold, dtype)? else { return Ok(None) };
    let axis = one_axis(axis, ours.shape().len())?;
    let reports = !ours.is_whole() && must_share(py)?;
    let scanned = exclusive(py, ours.view().len(), || ours.scan(fold, axis, dtype, reports))?;
    result(py, scanned).map(Some)
}

/// Where the least (`argmin`) or the greatest (`argmax`) element is, along an axis or among all;
/// None if that is not native.
#[pyfunction]
#[pyo3(signature = (array, name, axis=None, keepdims=false))]
pub fn arg_reduce<'py>(
    array: &Bound<'py, NdArray>,
    name: &str,
    axis: Option<i64>,
    keepdims: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let extreme = if name == "argmax" { Extreme::Greatest } else { Extreme::Least };
    let Some(ours) = array.get().array().filter(|ours| !ours.view().is_empty()) else {
        return Ok(None);
    };
    if axis.is_none()
        && !keepdims
        && let Some(place) = soon_found(array, extreme)?
    {
        return Ok(Some(place));
    }
    let ndim = ours.shape().len();
    let axis = axis.map(|axis| one_axis(axis, ndim)).transpose()?;
    let places = exclusive(array.py(), ours.view().len(), || ours.arg_fold(extreme, axis))?;
    let counted: Vec<usize> = axis.map_or((0..ndim).collect(), |axis| vec![axis]);
    let places = if keepdims { places } else { places.without(&counted) };
    result(array.py(), places).map(Some)
}

/// The place among all, if the array is small or the place is seen soon.
fn soon_found<'py>(
    array: &Bound<'py, NdArray>,
    extreme: Extreme,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let ours = array.get().array().filter(|array| !array.shape().is_empty());
    let Some(ours) = ours else { return Ok(None) };
    let place = quickly(py, || quick_arg(ours, extreme))?;
    place.map(|place| scalars::to_numpy(py, Scalar::new(place))).transpose()
}

/// The same for a function of nothing but an array.
fn found_of_first<'py>(
    call: &Call<'_, 'py>,
    extreme: Extreme,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let first = call.args.get_borrowed_item(0).ok().filter(|_| call.args.len() == 1);
    let array = first.as_ref().and_then(|first| first.cast_exact::<NdArray>().ok());
    let alone = array.filter(|_| call.kwargs.is_none());
    alone.map_or(Ok(None), |array| soon_found(&array, extreme))
}

pub fn argmax<'py>(
    call: &Call<'_, 'py>,
    _numpy: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    found_of_first(call, Extreme::Greatest)
}

pub fn argmin<'py>(
    call: &Call<'_, 'py>,
    _numpy: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    found_of_first(call, Extreme::Least)
}

/// `argmin` or `argmax` of a small array with nothing else asked for; else the general function.
fn searched<'py>(
    slf: &Bound<'py, NdArray>,
    (name, extreme): (&str, Extreme),
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    if args.is_empty()
        && kwargs.is_none()
        && let Some(place) = soon_found(slf, extreme)?
    {
        return Ok(place);
    }
    match small::by_method(slf, name, &Call { args, kwargs })? {
        Some(found) => Ok(found),
        None => slow::function(py, "searched")?.call1((slf, name, args, kwargs)),
    }
}

#[pymethods]
impl NdArray {
    /// Where the greatest element is, along an axis or among all.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, *, keepdims=False)")]
    fn argmax<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        searched(slf, ("argmax", Extreme::Greatest), args, kwargs)
    }

    /// Where the least element is, along an axis or among all.
    #[pyo3(signature = (*args, **kwargs), text_signature = "($self, axis=None, out=None, *, keepdims=False)")]
    fn argmin<'py>(
        slf: &Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        searched(slf, ("argmin", Extreme::Least), args, kwargs)
    }
}

fn fold_of(name: &str) -> Option<Fold> {
    Fold::EVERY.into_iter().find(|fold| fold.name() == name)
}

/// The dtype that a fold is done in, if that is native.
pub fn native_fold(
    array: &Array,
    fold: Fold,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<DType>> {
    let dtype = match dtype {
        Some(dtype) => dtypes::from_any(dtype)?,
        None => accumulator(fold, array.dtype()),
    };
    Ok(dtype.filter(|&dtype| fits(fold, array, dtype)))
}

fn one_axis(axis: i64, ndim: usize) -> PyResult<usize> {
    view::axis(axis, ndim).map_err(|error| dappled::graph::GraphError::from(error).raise())
}

/// The dtype that NumPy folds in: sums and products of short integers have 64 bits.
fn accumulator(fold: Fold, dtype: DType) -> Option<DType> {
    match (fold, dtype.kind()) {
        (Fold::All | Fold::Any, _) => Some(DType::Bool),
        (Fold::Add | Fold::Multiply, Kind::Bool | Kind::Signed) => Some(DType::Int64),
        (Fold::Add | Fold::Multiply, Kind::Unsigned) => Some(DType::UInt64),
        _ => Some(dtype),
    }
}

/// Casts that lose something are NumPy's to allow or to warn of.
fn fits(fold: Fold, array: &Array, dtype: DType) -> bool {
    let quiet = matches!(fold, Fold::All | Fold::Any) || array.dtype().kind() <= dtype.kind();
    quiet && fold.has_loop(dtype)
}

/// What the fold starts from, if it can be said: the outer None where it can't.
fn started(
    fold: Fold,
    dtype: DType,
    initial: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Option<Scalar>>> {
    let Some(given) = initial else { return Ok(Some(fold.identity(dtype))) };
    match argument(given)? {
        Some(ref given @ (Argument::Strong(value) | Argument::Weak(_, value))) => {
            let quiet = value.dtype().kind() <= dtype.kind() && !given.overflows(dtype);
            Ok(quiet.then(|| Some(value.cast(dtype))))
        }
        _ => Ok(None),
    }
}

/// The axes that are named; all where none is.
pub fn folded_axes(axis: Option<&Bound<'_, PyAny>>, ndim: usize) -> PyResult<Vec<usize>> {
    let Some(axis) = axis.filter(|axis| !axis.is_none()) else { return Ok((0..ndim).collect()) };
    let mut axes = Vec::new();
    for given in axes_of(axis)? {
        let axis = one_axis(given, ndim)?;
        if axes.contains(&axis) {
            return Err(PyValueError::new_err("duplicate value in 'axis'"));
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// One axis, or a tuple of them; NumPy takes no truths for axes, and no lists.
fn axes_of(given: &Bound<'_, PyAny>) -> PyResult<Axes<i64>> {
    let number = |item: &Bound<'_, PyAny>| match item.is_instance_of::<PyBool>() {
        true => Err(PyTypeError::new_err(AXIS_REQUIRED)),
        false => item.extract(),
    };
    match given.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().map(|item| number(&item)).collect(),
        Err(_) => Ok([number(given)?].into_iter().collect()),
    }
}

const AXIS_REQUIRED: &str = "an integer is required";
