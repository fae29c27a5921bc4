//! Reading of lists of global indices from buffers and sequences.

use dappled_protocol::{Buffer, Value};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyDict, PyMemoryView, PyString};

use super::convert::{buffer_value, is_int, to_text_value, to_value};
use crate::config::MAX_PROTOCOL_SEQUENCE_LENGTH;

/// Reads a buffer or sequence of integers; one of another length than `extent` is left unread.
pub fn labels_value(object: &Bound<'_, PyAny>, extent: Option<u64>) -> Value {
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyDict>() {
        return to_value(object);
    }
    let read = match buffer_value(object) {
        Value::Buffer(memory) if memory.shape.len() == 1 => match memory.shape[0] {
            length if is_left_unread(length, extent) => Ok(Value::WrongLength(length)),
            _ => buffer_labels(object, &memory),
        },
        memory @ Value::Buffer(_) => Ok(memory),
        _ => sequence_labels(object, extent),
    };
    read.unwrap_or_else(|_| to_text_value(object))
}

/// Returns whether a list is skipped, as its length is wrong or it may be very long.
fn is_left_unread(length: u64, extent: Option<u64>) -> bool {
    extent.is_some_and(|extent| extent != length) || length > MAX_PROTOCOL_SEQUENCE_LENGTH as u64
}

/// Reads the integers of a buffer; an empty buffer may have any format.
fn buffer_labels(object: &Bound<'_, PyAny>, memory: &Buffer) -> PyResult<Value> {
    if memory.shape == [0] {
        return Ok(Value::Labels([].into()));
    }
    // Goes through the buffer, as NumPy would read bytes as text.
    let memory_view = PyMemoryView::from(object)?;
    let array = object.py().import("numpy")?.call_method1("asarray", (memory_view,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let largest = match kind.as_str() {
        "i" => 0,
        "u" => array.call_method0("max")?.extract::<u64>()?,
        _ => return Ok(Value::Buffer(memory.clone())),
    };
    if i64::try_from(largest).is_err() {
        return Ok(Value::Other(format!("the index {largest}, which is 2^63 or more")));
    }
    let labels = array.call_method1("astype", ("int64",))?.cast_into::<PyArray1<i64>>()?;
    Ok(Value::Labels(labels.readonly().as_array().iter().copied().collect()))
}

fn sequence_labels(object: &Bound<'_, PyAny>, extent: Option<u64>) -> PyResult<Value> {
    // Sets and dict views have a length, too, but no order.
    object.getattr("__getitem__")?;
    let length = object.len()?;
    if is_left_unread(length as u64, extent) {
        return Ok(Value::WrongLength(length as u64));
    }
    let mut labels = Vec::new();
    for item in object.try_iter()? {
        let item = item?;
        if !is_int(&item) || labels.len() == length {
            return Ok(to_value(object));
        }
        labels.push(item.extract::<i64>()?);
    }
    Ok(Value::Labels(labels.into()))
}
