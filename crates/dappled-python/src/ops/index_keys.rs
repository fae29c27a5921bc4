//! Keys with masks and index arrays: reads and writes on several ranks.

use dappled::view::IndexItem;
use dappled::{Array, IndexKey, RoutedRows, RowValues};
use dappled_kernels::DType;
use numpy::{PyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::config::MAX_NDIM;
use crate::interop::buffer_export::{ExportedMemory, borrow_elements, numpy_array};
use crate::interop::opaque::bytes_and_dtype;
use crate::ndarray::class::{NdArray, not_native, to_result};
use crate::ndarray::distribution_methods::owned_array;
use crate::ndarray::indexing::parse_key_item;
use crate::protocol::convert::as_bool;
use crate::runtime::lock::run_locked;
use crate::runtime::session::session;

/// Copies the elements that a key selects.
///
/// Returns None for a key that NumPy must handle or reject. Collective.
#[pyfunction]
pub fn index<'py>(
    array: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let Some((memory, item)) = bytes_and_dtype(array.get(), py)? else { return Ok(None) };
    let item_axes = usize::from(item.is_some());
    let Some(items) = parse_key(key)? else { return Ok(None) };
    let key = IndexKey { items, item_axes };
    let selected = run_locked(py, usize::MAX, || memory.index(&key))?;
    match (selected.shape().len() - item_axes, item) {
        (0..=MAX_NDIM, None) => to_result(py, selected).map(Some),
        (1..=MAX_NDIM, item) => {
            Ok(Some(Bound::new(py, owned_array(py, selected, item.as_ref()))?.into_any()))
        }
        _ => Ok(None),
    }
}

/// Assigns a value of the array's dtype to the elements that a key selects.
///
/// Returns False for a key that NumPy must handle or reject. Collective.
#[pyfunction]
pub fn assign_index(
    array: &Bound<'_, NdArray>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, NdArray>,
) -> PyResult<bool> {
    let py = array.py();
    let (memory, item) = array.get().memory().ok_or_else(not_native)?;
    let Some((value, _)) = bytes_and_dtype(value.get(), py)? else { return Ok(false) };
    let Some(items) = parse_key(key)? else { return Ok(false) };
    let key = IndexKey { items, item_axes: usize::from(item.is_some()) };
    run_locked(py, usize::MAX, || memory.assign_index(&key, &value))?;
    Ok(true)
}

/// The indices of elements that are not zero, one row each. Collective.
#[pyfunction]
pub fn argwhere<'py>(array: &Bound<'py, NdArray>) -> PyResult<Bound<'py, PyAny>> {
    let native = array.get().array().ok_or_else(not_native)?;
    to_result(array.py(), run_locked(array.py(), usize::MAX, || native.argwhere())?)
}

/// Parses any key; None if NumPy must handle or reject it.
fn parse_key(key: &Bound<'_, PyAny>) -> PyResult<Option<Vec<IndexItem<Array>>>> {
    match key.cast::<PyTuple>() {
        Ok(items) => items.iter_borrowed().map(|item| parse_item(&item)).collect(),
        Err(_) => Ok(parse_item(key)?.map(|item| vec![item])),
    }
}

fn parse_item(object: &Bound<'_, PyAny>) -> PyResult<Option<IndexItem<Array>>> {
    if let Some(item) = parse_key_item(object)? {
        return Ok(Some(IndexItem::Basic(item)));
    }
    if let Some(value) = as_bool(object) {
        return Ok(Some(IndexItem::Bool(value)));
    }
    if let Ok(array) = object.cast::<NdArray>() {
        return match array.get().array() {
            Some(array) => Ok(array_item(array.clone())),
            None => native_copy(object),
        };
    }
    let array = match object.py().import("numpy")?.call_method1("asarray", (object,)) {
        Ok(array) => array,
        // Sequences of different lengths
        Err(error) if error.is_instance_of::<PyValueError>(object.py()) => return Ok(None),
        Err(error) => return Err(error),
    };
    let array = array.cast::<PyUntypedArray>()?;
    if array.shape().contains(&0) && !object.is_instance_of::<PyUntypedArray>() {
        // NumPy's array of an empty list has floats.
        return parse_item(&array.call_method1("astype", ("intp",))?);
    }
    match borrow_elements(array) {
        Some((memory, view)) => {
            let session = session(object.py())?;
            Ok(array_item(Array::from_foreign(session, memory, view)))
        }
        None => native_copy(array),
    }
}

/// The item of an array of native elements; None for dtypes that are no indices.
fn array_item(array: Array) -> Option<IndexItem<Array>> {
    match array.dtype() {
        DType::Bool => Some(IndexItem::Mask(array)),
        dtype if dtype.is_integral() => Some(IndexItem::Indices(array)),
        _ => None,
    }
}

/// The item of an array with native byte order, for an array of integers or booleans.
fn native_copy(array: &Bound<'_, PyAny>) -> PyResult<Option<IndexItem<Array>>> {
    let dtype = array.getattr("dtype")?;
    let kind: char = dtype.getattr("kind")?.extract()?;
    if !matches!(kind, 'b' | 'i' | 'u') {
        return Ok(None);
    }
    let target = if kind == 'b' { "bool" } else { "intp" };
    parse_item(&array.call_method1("astype", (target,))?)
}

/// The view of a key, its rows, the positions of changed rows, and a value for each.
type RoutedTuple<'py> = (
    Bound<'py, NdArray>,
    Bound<'py, NdArray>,
    Bound<'py, PyArray1<i64>>,
    Option<Bound<'py, PyAny>>,
);

/// Sends each change of a row to the owner of the row. Collective.
///
/// Returns the view of the key with the indexed axes first, its rows in blocks, the local positions
/// of changed rows, and their values; no values if they are a single one. Returns None for a key
/// that NumPy must handle or reject.
#[pyfunction]
#[pyo3(signature = (array, key, value=None))]
pub fn route_index<'py>(
    array: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
    value: Option<&Bound<'py, NdArray>>,
) -> PyResult<Option<RoutedTuple<'py>>> {
    let py = array.py();
    let (memory, item) = array.get().memory().ok_or_else(not_native)?;
    let value = match value {
        Some(value) => match bytes_and_dtype(value.get(), py)? {
            Some(value) => Some(value),
            None => return Ok(None),
        },
        None => None,
    };
    let Some(items) = parse_key(key)? else { return Ok(None) };
    let key = IndexKey { items, item_axes: usize::from(item.is_some()) };
    let given = value.as_ref().map(|(value, item)| (value, usize::from(item.is_some())));
    let routed = run_locked(py, usize::MAX, || memory.route_index(&key, given))?;
    let Some(RoutedRows { view, rows, positions, values }) = routed else { return Ok(None) };
    let values = match values {
        RowValues::Single => None,
        RowValues::PerChange { memory, view } => {
            let item = value.as_ref().and_then(|(_, item)| item.as_ref());
            Some(numpy_array(py, ExportedMemory::Buffer(memory), &view, item, false)?)
        }
    };
    let view = Bound::new(py, owned_array(py, view, item))?;
    let rows = Bound::new(py, owned_array(py, rows, item))?;
    Ok(Some((view, rows, PyArray1::from_vec(py, positions), values)))
}
