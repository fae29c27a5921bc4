//! `a[key]` and `a[key] = value`. What is not basic indexing is NumPy's.

use dappled::graph::{Array, Operand, quick_take};
use dappled::protocol::slice::Item;
use dappled::view::{Indexed, indexed};
use dappled_kernels::{Casting, DType, Kind, Scalar, View, Weak, can_cast};
use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};
use smallvec::SmallVec;

use super::class::{NdArray, element};
use super::conversion::MOST_AXES;
use super::creating::fresh;
use super::exclusive::{exclusive, quickly};
use super::given::{Argument, argument};
use super::lending::lent;
use super::origin::must_share;
use super::session::session;
use super::shapes::owned;
use super::swaps::{self, Assignment};
use super::{scalars, slow, small};
use crate::errors::Raise;

/// A key of basic indexing; None if it is another.
fn basic(key: &Bound<'_, PyAny>) -> PyResult<Option<SmallVec<[Item; 2]>>> {
    match key.cast::<PyTuple>() {
        Ok(items) => items.iter_borrowed().map(|part| item(&part)).collect(),
        Err(_) => Ok(item(key)?.map(|item| [item].into_iter().collect())),
    }
}

fn item(object: &Bound<'_, PyAny>) -> PyResult<Option<Item>> {
    if let Ok(slice) = object.cast::<PySlice>() {
        return unpacked(slice).map(Some);
    }
    if object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>() {
        return Ok(object.extract::<i64>().ok().map(Item::Index));
    }
    if object.is_none() {
        return Ok(Some(Item::NewAxis));
    }
    if object.is_instance_of::<PyEllipsis>() {
        return Ok(Some(Item::Ellipsis));
    }
    match crate::convert::is_int(object) {
        true => Ok(object.extract::<i64>().ok().map(Item::Index)),
        false => Ok(None),
    }
}

/// Start, stop and step; left out, they are as far as any array goes.
fn unpacked(slice: &Bound<'_, PySlice>) -> PyResult<Item> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: a slice object, and three places to write to.
    let status = unsafe { ffi::PySlice_Unpack(slice.as_ptr(), &mut start, &mut stop, &mut step) };
    match status {
        0 => Ok(Item::Slice(Some(start as i64), Some(stop as i64), Some(step as i64))),
        _ => Err(PyErr::fetch(slice.py())),
    }
}

/// The place in the base of the one element that a key names by Python's ints. None for any other
/// key, and where there is no such element.
fn place(view: &View, key: &Bound<'_, PyAny>) -> Option<usize> {
    let mut offset = view.offset as isize;
    match key.cast_exact::<PyTuple>() {
        Ok(items) if items.len() == view.shape.len() => {
            for (axis, item) in items.iter_borrowed().enumerate() {
                offset += distance(view, axis, &item)?;
            }
        }
        Err(_) if view.shape.len() == 1 => offset += distance(view, 0, key)?,
        _ => return None,
    }
    Some(offset as usize)
}

fn distance(view: &View, axis: usize, item: &Bound<'_, PyAny>) -> Option<isize> {
    if !item.is_exact_instance_of::<PyInt>() {
        return None;
    }
    let (index, size) = (item.extract::<i64>().ok()?, view.shape[axis] as i64);
    let at = if index < 0 { index + size } else { index };
    (0..size).contains(&at).then(|| at as isize * view.strides[axis])
}

fn selected(array: &Array, items: &[Item]) -> PyResult<Indexed> {
    let found = indexed(array.view(), items)
        .map_err(|error| dappled::graph::GraphError::from(error).raise())?;
    match found.view.shape.len() {
        0..=MOST_AXES => Ok(found),
        axes => Err(PyIndexError::new_err(format!(
            "number of dimensions must be within [0, {MOST_AXES}], indexing result would have {axes}"
        ))),
    }
}

/// May a value be written into this dtype here? What may raise or warn is NumPy's to do.
fn fits(given: &Argument<'_>, target: DType) -> bool {
    let quiet = |from: DType| from.kind() != Kind::Complex || target.kind() == Kind::Complex;
    match given {
        Argument::Ours(array) => quiet(array.dtype()),
        Argument::Theirs(array) => quiet(array.dtype()),
        Argument::Strong(value) => {
            can_cast(value.dtype(), target, Casting::SameKind)
                && value.cast_quietly(target).is_some()
        }
        Argument::Weak(Weak::Float, value) if target.is_integral() => small_enough(*value, target),
        Argument::Weak(_, value) if target.is_integral() => {
            !given.overflows(target) && quiet(value.dtype())
        }
        Argument::Weak(_, value) => quiet(value.dtype()) && value.cast_quietly(target).is_some(),
    }
}

/// Refuses an integer of NumPy's that a signed dtype has no room for; in others it wraps around.
fn check_room(value: &Argument<'_>, target: DType) -> PyResult<()> {
    let number = match value {
        Argument::Strong(value) if value.dtype().is_integral() => match value.get::<u64>() {
            Some(number) => i128::from(number),
            None => value.cast(DType::Int64).get::<i64>().unwrap_or(0).into(),
        },
        _ => return Ok(()),
    };
    let most = 1 << (8 * target.itemsize() - 1);
    if target.kind() != Kind::Signed || (-most..most).contains(&number) {
        return Ok(());
    }
    Err(PyOverflowError::new_err(match i64::try_from(number) {
        Ok(_) => format!("Python integer {number} out of bounds for {target}"),
        Err(_) => "Python int too large to convert to C long".into(),
    }))
}

/// A number in the dtype of an array, if it is one that is written as it is.
fn fitting(object: &Bound<'_, PyAny>, target: DType) -> Option<Scalar> {
    if target == DType::Float64
        && let Some(value) = scalars::float64(object)
    {
        return Some(Scalar::new(value));
    }
    let (weak, value) = scalars::weak(object)?;
    fits(&Argument::Weak(weak, value), target).then(|| value.cast(target))
}

/// Is a float's whole part surely inside an integer dtype?
fn small_enough(value: Scalar, target: DType) -> bool {
    let bits = 8 * target.itemsize() as i32 - 1;
    let number = value.get::<f64>().unwrap_or(f64::NAN);
    target != DType::Bool
        && number.abs() < 2f64.powi(bits)
        && (number >= 0.0 || target.kind() == Kind::Signed)
}

/// Elements of a key from which on threads take what it selects.
const LARGE: usize = 1 << 17;

/// What an array of places or of truths selects, where all is here: always a copy; by NumPy if it is
/// not a small and common one.
fn taken<'py>(own: &NdArray, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (py, key) = (key.py(), key.cast_exact::<NdArray>().ok());
    let small = |key: &&Array| !key.shape().is_empty() && key.view().len() < LARGE;
    let key = key.and_then(|key| key.get().array()).filter(small);
    let (Some(own), Some(key)) = (own.array(), key) else { return Ok(None) };
    if let Some(taken) = quickly(py, || quick_take(own, key))? {
        return owned(py, taken).map(Some);
    }
    match session(py)?.fabric().size() {
        1 => fresh(lent(py, own, None, false)?.get_item(lent(py, key, None, false)?)?),
        _ => Ok(None),
    }
}

#[pymethods]
impl NdArray {
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        swaps::note_read();
        if let Some(array) = slf.get().array() {
            if let Some(offset) = place(array.view(), key) {
                return scalars::to_numpy(py, element(py, array, offset)?);
            }
            if let Some(items) = basic(key)? {
                let found = selected(array, &items)?;
                return match found.is_element {
                    true => scalars::to_numpy(py, element(py, array, found.view.offset)?),
                    false => NdArray::view_of(slf, found.view),
                };
            }
        }
        if let Some(found) = taken(slf.get(), key)? {
            return Ok(found);
        }
        match small::get_item(slf, key)? {
            Some(found) => Ok(found),
            None => slow::function(py, "getitem")?.call1((slf, key)),
        }
    }

    fn __setitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let py = slf.py();
        let own = slf.get();
        own.check_writeable()?;
        if let Some(array) = own.array()
            && let Some(offset) = place(array.view(), key)
            && let Some(value) = fitting(value, array.dtype())
            && array.write_ready(offset, value)
        {
            return Ok(());
        }
        match swaps::assignment(slf, key, value)? {
            Assignment::Plain => assigned(slf, key, value),
            Assignment::First(half) => {
                assigned(slf, key, value)?;
                swaps::remember(half);
                Ok(())
            }
            Assignment::Second(old) => assigned(slf, key, old.bind(py)),
        }
    }
}

/// Assigns whatever a key may select.
fn assigned<'py>(
    array: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let py = array.py();
    if let (Some(own), Some(items)) = (array.get().array(), basic(key)?)
        && let Some(value) = argument(value)?
        && fits(&value, own.dtype())
    {
        let found = selected(own, &items)?;
        // Of an array with axes written into one element NumPy has its own opinion.
        if !found.is_element || value.has_no_axes() {
            check_room(&value, own.dtype())?;
            return written(py, &own.with_view(found.view), &value);
        }
    }
    match small::set_item(array, key, value)? {
        true => Ok(()),
        false => slow::function(py, "setitem")?.call1((array, key, value)).map(drop),
    }
}

/// Writes a value that fits.
pub fn written(py: Python<'_>, target: &Array, value: &Argument<'_>) -> PyResult<()> {
    let operand = match value {
        Argument::Ours(array) => Operand::Array(array),
        Argument::Theirs(array) => Operand::Array(array),
        Argument::Strong(value) | Argument::Weak(_, value) => Operand::Scalar(*value),
    };
    let casts = matches!(operand, Operand::Array(array) if array.dtype() != target.dtype());
    let shares = casts && !target.is_whole() && must_share(py)?;
    exclusive(py, target.view().len(), || {
        target.assign(operand)?;
        if shares { target.session().share_notices("cast", None) } else { Ok(()) }
    })
}
