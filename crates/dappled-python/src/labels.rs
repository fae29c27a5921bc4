//! Lists of indices, from anything that holds integers.

use dappled_protocol::{Buffer, Value};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyAnyMethods, PyDict, PyMemoryView, PyString};

use crate::convert::{LONGEST, buffer, is_int, other, value};

/// A buffer or sequence of integers by value; of another length than the extent it is not read.
pub fn labels(object: &Bound<'_, PyAny>, extent: Option<u64>) -> Value {
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyDict>() {
        return value(object);
    }
    let read = match buffer(object) {
        Value::Buffer(memory) if memory.shape.len() == 1 => match memory.shape[0] {
            length if is_unread(length, extent) => Ok(Value::Unread(length)),
            _ => buffer_labels(object, &memory),
        },
        memory @ Value::Buffer(_) => Ok(memory),
        _ => sequence_labels(object, extent),
    };
    read.unwrap_or_else(|_| other(object))
}

/// What does not fit is not read: it may be very long.
fn is_unread(length: u64, extent: Option<u64>) -> bool {
    extent.is_some_and(|extent| extent != length) || length > LONGEST as u64
}

/// An empty buffer may be of any format; else NumPy says whether these are integers.
fn buffer_labels(object: &Bound<'_, PyAny>, memory: &Buffer) -> PyResult<Value> {
    if memory.shape == [0] {
        return Ok(Value::Labels([].into()));
    }
    // Through its buffer: NumPy would take bytes for text.
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
    // Sets and views of dicts have a length too, but no order.
    object.getattr("__getitem__")?;
    let length = object.len()?;
    if is_unread(length as u64, extent) {
        return Ok(Value::Unread(length as u64));
    }
    let mut labels = Vec::new();
    for item in object.try_iter()? {
        let item = item?;
        if !is_int(&item) || labels.len() == length {
            return Ok(value(object));
        }
        labels.push(item.extract::<i64>()?);
    }
    Ok(Value::Labels(labels.into()))
}
