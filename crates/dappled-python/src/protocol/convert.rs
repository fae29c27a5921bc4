//! Conversion between Python objects and values of the protocol.
//!
//! Reading never fails: an object that is no value of the protocol becomes text, and the rules
//! report what is wrong with it.

use dappled_protocol::{Buffer, Dict, Value};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyAnyMethods, PyBool, PyDict, PyInt, PyList, PyMemoryView, PyString, PyTuple, PyType,
};

use super::labels;
use crate::config::{MAX_PROTOCOL_ITEMS, MAX_PROTOCOL_NESTING};

/// Returns whether an object is an instance of the NumPy class of this name.
fn is_numpy_instance(
    object: &Bound<'_, PyAny>,
    name: &str,
    cell: &'static PyOnceLock<Py<PyType>>,
) -> bool {
    let py = object.py();
    let import = || -> PyResult<Py<PyType>> {
        Ok(py.import("numpy")?.getattr(name)?.cast_into::<PyType>()?.unbind())
    };
    let class = cell.get_or_try_init(py, import);
    class.is_ok_and(|class| object.is_instance(class.bind(py)).unwrap_or(false))
}

/// Returns whether an object is an int of Python or NumPy, and no bool.
pub fn is_int(object: &Bound<'_, PyAny>) -> bool {
    static INTEGER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match object.cast::<PyInt>() {
        Ok(_) => !object.is_instance_of::<PyBool>(),
        Err(_) => is_numpy_instance(object, "integer", &INTEGER),
    }
}

/// Returns the value of a bool of Python or NumPy.
pub fn as_bool(object: &Bound<'_, PyAny>) -> Option<bool> {
    static BOOL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match object.cast::<PyBool>() {
        Ok(value) => Some(value.is_true()),
        Err(_) if is_numpy_instance(object, "bool_", &BOOL) => object.is_truthy().ok(),
        Err(_) => None,
    }
}

/// Reads any object as a value.
pub fn to_value(object: &Bound<'_, PyAny>) -> Value {
    to_nested_value(object, MAX_PROTOCOL_NESTING)
}

fn to_nested_value(object: &Bound<'_, PyAny>, depth: usize) -> Value {
    if let Some(value) = as_bool(object) {
        return Value::Bool(value);
    }
    if is_int(object) {
        return object.extract::<i128>().map_or_else(|_| to_text_value(object), Value::Int);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Value::Text(text.to_string_lossy().into_owned());
    }
    match sequence_items(object) {
        Some(items) if depth > 0 => Value::List(
            items
                .iter()
                .take(MAX_PROTOCOL_ITEMS)
                .map(|item| to_nested_value(item, depth - 1))
                .collect(),
        ),
        _ => match object.cast::<PyDict>() {
            Ok(dict) if depth > 0 => {
                Value::Dict(dict_entries(dict, |_, item| to_nested_value(item, depth - 1)))
            }
            _ => to_text_value(object),
        },
    }
}

/// Returns the items of a tuple or list.
fn sequence_items<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    let tuple = object.cast::<PyTuple>().map(|tuple| tuple.iter().collect());
    tuple.or_else(|_| object.cast::<PyList>().map(|list| list.iter().collect())).ok()
}

fn dict_entries(dict: &Bound<'_, PyDict>, read: impl Fn(&str, &Bound<'_, PyAny>) -> Value) -> Dict {
    let mut read_dict = Dict::default();
    for (key, item) in dict.iter() {
        match key.cast::<PyString>() {
            Ok(key) => {
                let key = key.to_string_lossy().into_owned();
                let value = read(&key, &item);
                read_dict.entries.insert(key, value);
            }
            Err(_) => read_dict.non_text_keys.push(repr_or_class(&key)),
        }
    }
    read_dict
}

pub fn to_text_value(object: &Bound<'_, PyAny>) -> Value {
    Value::Other(repr_or_class(object))
}

/// Returns the `repr` of an object, or its class if `repr` raises.
pub fn repr_or_class(object: &Bound<'_, PyAny>) -> String {
    let kind = || object.get_type().name().map_or("object".to_owned(), |name| name.to_string());
    match object.repr() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => format!("an object of class {}", kind()),
    }
}

/// Reads a dimension dictionary. `extent` is the buffer's length along the axis, if known.
pub fn dimension_value(object: &Bound<'_, PyAny>, extent: Option<u64>) -> Value {
    match object.cast::<PyDict>() {
        Ok(dict) => Value::Dict(dict_entries(dict, |key, item| match key {
            "indices" => labels::labels_value(item, extent),
            _ => to_value(item),
        })),
        Err(_) => to_value(object),
    }
}

/// Reads a list of dimension dictionaries. `shape` is the buffer's, if known.
pub fn dim_data_value(object: &Bound<'_, PyAny>, shape: Option<&[u64]>) -> Value {
    let extent = |axis: usize| shape.and_then(|shape| shape.get(axis)).copied();
    match sequence_items(object) {
        Some(items) => {
            let dims =
                items.iter().enumerate().map(|(axis, item)| dimension_value(item, extent(axis)));
            Value::List(dims.collect())
        }
        None => to_value(object),
    }
}

/// Reads an export with its buffer and its dimension dictionaries.
pub fn export_value(object: &Bound<'_, PyAny>) -> Value {
    let Ok(dict) = object.cast::<PyDict>() else { return to_value(object) };
    let memory = dict.get_item("buffer").ok().flatten().map(|object| buffer_value(&object));
    let shape = match &memory {
        Some(Value::Buffer(buffer)) => Some(&buffer.shape[..]),
        _ => None,
    };
    Value::Dict(dict_entries(dict, |key, item| match key {
        "buffer" => memory.clone().unwrap_or_else(|| to_value(item)),
        "dim_data" => dim_data_value(item, shape),
        _ => to_value(item),
    }))
}

/// Reads shape, format and itemsize of an object's buffer, or the reason why it has none.
pub fn buffer_value(object: &Bound<'_, PyAny>) -> Value {
    let read = || -> PyResult<Buffer> {
        let memory = PyMemoryView::from(object)?;
        Ok(Buffer {
            shape: memory.getattr("shape")?.extract()?,
            format: memory.getattr("format")?.extract()?,
            itemsize: memory.getattr("itemsize")?.extract()?,
        })
    };
    match read() {
        Ok(buffer) => Value::Buffer(buffer),
        Err(error) => Value::Other(format!("{} ({error})", class_name(object))),
    }
}

fn class_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or("an object".to_owned(), |name| format!("a {name}"))
}

/// Converts a value to a plain Python object; labels become an int64 array.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Int(value) => value.into_pyobject(py)?.into_any(),
        Value::Text(text) | Value::Other(text) => PyString::new(py, text).into_any(),
        Value::WrongLength(length) => length.into_pyobject(py)?.into_any(),
        Value::List(items) => {
            let items =
                items.iter().map(|item| to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, items)?.into_any()
        }
        Value::Labels(labels) => PyArray1::from_slice(py, labels).into_any(),
        Value::Dict(dict) => {
            let copy = PyDict::new(py);
            for (key, item) in &dict.entries {
                copy.set_item(key, to_python(py, item)?)?;
            }
            copy.into_any()
        }
        Value::Buffer(buffer) => PyTuple::new(py, &buffer.shape)?.into_any(),
    })
}
