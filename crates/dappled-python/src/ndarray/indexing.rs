//! `a[key]` and `a[key] = value`: basic indexing here, other keys by NumPy or in Python.

use dappled::protocol::slice::KeyItem;
use dappled::view::{IndexedView, index_view};
use dappled::{Array, UfuncOperand, can_assign, check_integer_range, eager_take};
use dappled_kernels::{DType, Scalar, View};
use pyo3::exceptions::PyIndexError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};
use smallvec::SmallVec;

use super::class::{NdArray, read_element};
use super::creation::adopt_new;
use super::operands::native_operand;
use super::views::new_ndarray;
use crate::config::{MAX_NDIM, MIN_PARALLEL_TAKE_ELEMENTS};
use crate::errors::Raise;
use crate::interop::buffer_export::export_to_numpy;
use crate::interop::row_swap::{self, RowAssignment};
use crate::interop::{numpy_small, scalars};
use crate::runtime::errstate::must_share_warnings;
use crate::runtime::fallback;
use crate::runtime::lock::{is_idle, run_attached, run_locked};
use crate::runtime::session::session;

/// Parses a key of basic indexing; `None` for any other key.
fn parse_basic_key(key: &Bound<'_, PyAny>) -> PyResult<Option<SmallVec<[KeyItem; 2]>>> {
    match key.cast::<PyTuple>() {
        Ok(items) => {
            items.iter_borrowed().map(|item_object| parse_key_item(&item_object)).collect()
        }
        Err(_) => Ok(parse_key_item(key)?.map(|item| [item].into_iter().collect())),
    }
}

/// Parses an item of basic indexing; `None` for any other item.
pub fn parse_key_item(object: &Bound<'_, PyAny>) -> PyResult<Option<KeyItem>> {
    if let Ok(slice) = object.cast::<PySlice>() {
        return unpack_slice(slice).map(Some);
    }
    if object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>() {
        return Ok(object.extract::<i64>().ok().map(KeyItem::Index));
    }
    if object.is_none() {
        return Ok(Some(KeyItem::NewAxis));
    }
    if object.is_instance_of::<PyEllipsis>() {
        return Ok(Some(KeyItem::Ellipsis));
    }
    match crate::protocol::convert::is_int(object) {
        true => Ok(object.extract::<i64>().ok().map(KeyItem::Index)),
        false => Ok(None),
    }
}

/// Unpacks a slice; absent bounds become the largest or smallest integer.
fn unpack_slice(slice: &Bound<'_, PySlice>) -> PyResult<KeyItem> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: the object is a slice, and the pointers are valid for writes.
    let status = unsafe { ffi::PySlice_Unpack(slice.as_ptr(), &mut start, &mut stop, &mut step) };
    match status {
        0 => Ok(KeyItem::Slice(Some(start as i64), Some(stop as i64), Some(step as i64))),
        _ => Err(PyErr::fetch(slice.py())),
    }
}

/// Returns the byte offset of the element that a key of Python ints selects.
///
/// Returns `None` for any other key, and for an index that is out of bounds.
fn element_offset(view: &View, key: &Bound<'_, PyAny>) -> Option<usize> {
    let mut offset = view.offset as isize;
    match key.cast_exact::<PyTuple>() {
        Ok(items) if items.len() == view.shape.len() => {
            for (axis, item) in items.iter_borrowed().enumerate() {
                offset += axis_offset(view, axis, &item)?;
            }
        }
        Err(_) if view.shape.len() == 1 => offset += axis_offset(view, 0, key)?,
        _ => return None,
    }
    Some(offset as usize)
}

fn axis_offset(view: &View, axis: usize, item: &Bound<'_, PyAny>) -> Option<isize> {
    if !item.is_exact_instance_of::<PyInt>() {
        return None;
    }
    let (index, size) = (item.extract::<i64>().ok()?, view.shape[axis] as i64);
    let at = if index < 0 { index + size } else { index };
    (0..size).contains(&at).then(|| at as isize * view.strides[axis])
}

fn select(array: &Array, items: &[KeyItem]) -> PyResult<IndexedView> {
    let indexed_view = index_view(array.view(), items)
        .map_err(|error| dappled::GraphError::from(error).raise())?;
    match indexed_view.view.shape.len() {
        0..=MAX_NDIM => Ok(indexed_view),
        axes => Err(PyIndexError::new_err(format!(
            "number of dimensions must be within [0, {MAX_NDIM}], indexing result would have {axes}"
        ))),
    }
}

/// Casts a Python number to the dtype of an array, if the cast raises and warns nothing.
fn cast_number(object: &Bound<'_, PyAny>, target: DType) -> Option<Scalar> {
    if target == DType::Float64
        && let Some(value) = scalars::as_float64(object)
    {
        return Some(Scalar::new(value));
    }
    let (weak, value) = scalars::weak_scalar(object)?;
    can_assign(&UfuncOperand::Weak(weak, value), target).then(|| value.cast(target))
}

/// Selects with an index array or mask on one rank: a copy, by the core or by NumPy.
fn take<'py>(own: &NdArray, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (py, key) = (key.py(), key.cast_exact::<NdArray>().ok());
    let small =
        |key: &&Array| !key.shape().is_empty() && key.view().len() < MIN_PARALLEL_TAKE_ELEMENTS;
    let key = key.and_then(|key| key.get().array()).filter(small);
    let (Some(own), Some(key)) = (own.array(), key) else { return Ok(None) };
    if let Some(taken) = run_attached(py, || eager_take(own, key))? {
        return new_ndarray(py, taken).map(Some);
    }
    match session(py)?.fabric().size() {
        1 => adopt_new(
            export_to_numpy(py, own, None, false)?
                .get_item(export_to_numpy(py, key, None, false)?)?,
        ),
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
        row_swap::count_read();
        if let Some(array) = slf.get().array() {
            if let Some(offset) = element_offset(array.view(), key) {
                return scalars::to_numpy(py, read_element(py, array, offset)?);
            }
            if let Some(items) = parse_basic_key(key)? {
                let selection = select(array, &items)?;
                return match selection.is_element {
                    true => scalars::to_numpy(py, read_element(py, array, selection.view.offset)?),
                    false => NdArray::view_of(slf, selection.view),
                };
            }
        }
        if let Some(selection) = take(slf.get(), key)? {
            return Ok(selection);
        }
        match numpy_small::get_item(slf, key)? {
            Some(selection) => Ok(selection),
            None => fallback::function(py, "getitem")?.call1((slf, key)),
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
            && let Some(offset) = element_offset(array.view(), key)
            && let Some(value) = cast_number(value, array.dtype())
            && is_idle()
            && array.try_set_element(offset, value)
        {
            return Ok(());
        }
        match row_swap::classify_assignment(slf, key, value)? {
            RowAssignment::Plain => assign(slf, key, value),
            RowAssignment::FirstHalf(half) => {
                assign(slf, key, value)?;
                row_swap::remember_first_half(half);
                Ok(())
            }
            RowAssignment::SecondHalf(old) => assign(slf, key, old.bind(py)),
        }
    }
}

/// Assigns to the elements that any key selects.
fn assign<'py>(
    array: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let py = array.py();
    if let (Some(native), Some(items)) = (array.get().array(), parse_basic_key(key)?)
        && let Some(value) = native_operand(value)?
        && can_assign(&value.to_core(), native.dtype())
    {
        let selection = select(native, &items)?;
        // NumPy has special rules for an array with axes that is assigned to one element.
        if !selection.is_element || value.has_no_axes() {
            check_integer_range(&value.to_core(), native.dtype()).map_err(Raise::raise)?;
            return write(py, &native.with_view(selection.view), &value.to_core());
        }
    }
    match numpy_small::set_item(array, key, value)? {
        true => Ok(()),
        false => fallback::function(py, "setitem")?.call1((array, key, value)).map(drop),
    }
}

/// Writes a value that [`can_assign`] accepts.
pub fn write(py: Python<'_>, target: &Array, value: &UfuncOperand<'_>) -> PyResult<()> {
    let casts = value.dtype().is_some_and(|dtype| dtype != target.dtype())
        && matches!(value, UfuncOperand::Array(_));
    let shares = casts && !target.is_replicated() && must_share_warnings(py)?;
    run_locked(py, target.view().len(), || {
        target.assign(value.assigned())?;
        if shares { target.session().allreduce_fp_warnings("cast", None) } else { Ok(()) }
    })
}
