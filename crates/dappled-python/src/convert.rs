//! Python's values as the protocol's, whatever they are, and back.
//!
//! Nothing here fails: what is no value of the protocol becomes text to show, and the rules say
//! what is wrong with it.

use dappled_protocol::{Buffer, Dict, Value};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyAnyMethods, PyBool, PyDict, PyInt, PyList, PyMemoryView, PyString, PyTuple, PyType,
};

use crate::labels;

/// Lists inside lists deeper than this are shown, not read: a list may contain itself.
const DEPTH: usize = 3;
/// Of a list that is no list of dimensions or labels only this much is looked at.
const ITEMS: usize = 9;
/// A sequence that is longer can't be meant: `range(2**62)` is only a number.
pub const LONGEST: usize = 1 << 28;

/// Is it an instance of this class of NumPy?
fn is_numpy(object: &Bound<'_, PyAny>, name: &str, cell: &'static PyOnceLock<Py<PyType>>) -> bool {
    let py = object.py();
    let import = || -> PyResult<Py<PyType>> {
        Ok(py.import("numpy")?.getattr(name)?.cast_into::<PyType>()?.unbind())
    };
    let class = cell.get_or_try_init(py, import);
    class.is_ok_and(|class| object.is_instance(class.bind(py)).unwrap_or(false))
}

/// An int, Python's or NumPy's, but no bool.
pub fn is_int(object: &Bound<'_, PyAny>) -> bool {
    static INTEGER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match object.cast::<PyInt>() {
        Ok(_) => !object.is_instance_of::<PyBool>(),
        Err(_) => is_numpy(object, "integer", &INTEGER),
    }
}

/// A bool, Python's or NumPy's.
fn as_bool(object: &Bound<'_, PyAny>) -> Option<bool> {
    static BOOL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match object.cast::<PyBool>() {
        Ok(value) => Some(value.is_true()),
        Err(_) if is_numpy(object, "bool_", &BOOL) => object.is_truthy().ok(),
        Err(_) => None,
    }
}

/// Any object as a value.
pub fn value(object: &Bound<'_, PyAny>) -> Value {
    nested(object, DEPTH)
}

fn nested(object: &Bound<'_, PyAny>, depth: usize) -> Value {
    if let Some(value) = as_bool(object) {
        return Value::Bool(value);
    }
    if is_int(object) {
        return object.extract::<i128>().map_or_else(|_| other(object), Value::Int);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Value::Text(text.to_string_lossy().into_owned());
    }
    match items(object) {
        Some(items) if depth > 0 => {
            Value::List(items.iter().take(ITEMS).map(|item| nested(item, depth - 1)).collect())
        }
        _ => match object.cast::<PyDict>() {
            Ok(dict) if depth > 0 => Value::Dict(entries(dict, |_, item| nested(item, depth - 1))),
            _ => other(object),
        },
    }
}

/// The items of a tuple or list.
fn items<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    let tuple = object.cast::<PyTuple>().map(|tuple| tuple.iter().collect());
    tuple.or_else(|_| object.cast::<PyList>().map(|list| list.iter().collect())).ok()
}

fn entries(dict: &Bound<'_, PyDict>, read: impl Fn(&str, &Bound<'_, PyAny>) -> Value) -> Dict {
    let mut found = Dict::default();
    for (key, item) in dict.iter() {
        match key.cast::<PyString>() {
            Ok(key) => {
                let key = key.to_string_lossy().into_owned();
                let value = read(&key, &item);
                found.entries.insert(key, value);
            }
            Err(_) => found.strange_keys.push(shown(&key)),
        }
    }
    found
}

pub fn other(object: &Bound<'_, PyAny>) -> Value {
    Value::Other(shown(object))
}

/// An object as text, also if its `repr` raises.
pub fn shown(object: &Bound<'_, PyAny>) -> String {
    let kind = || object.get_type().name().map_or("object".to_owned(), |name| name.to_string());
    match object.repr() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => format!("an object of class {}", kind()),
    }
}

/// A dimension dictionary, whose buffer has this extent, if that is known.
pub fn dimension(object: &Bound<'_, PyAny>, extent: Option<u64>) -> Value {
    match object.cast::<PyDict>() {
        Ok(dict) => Value::Dict(entries(dict, |key, item| match key {
            "indices" => labels::labels(item, extent),
            _ => value(item),
        })),
        Err(_) => value(object),
    }
}

/// A list of dimension dictionaries, for a buffer of this shape, if that is known.
pub fn dim_data(object: &Bound<'_, PyAny>, shape: Option<&[u64]>) -> Value {
    let extent = |axis: usize| shape.and_then(|shape| shape.get(axis)).copied();
    match items(object) {
        Some(items) => {
            let dims = items.iter().enumerate().map(|(axis, item)| dimension(item, extent(axis)));
            Value::List(dims.collect())
        }
        None => value(object),
    }
}

/// An export, whole.
pub fn export(object: &Bound<'_, PyAny>) -> Value {
    let Ok(dict) = object.cast::<PyDict>() else { return value(object) };
    let memory = dict.get_item("buffer").ok().flatten().map(|object| buffer(&object));
    let shape = match &memory {
        Some(Value::Buffer(buffer)) => Some(&buffer.shape[..]),
        _ => None,
    };
    Value::Dict(entries(dict, |key, item| match key {
        "buffer" => memory.clone().unwrap_or_else(|| value(item)),
        "dim_data" => dim_data(item, shape),
        _ => value(item),
    }))
}

/// What an object's buffer says of itself, or why it has none.
pub fn buffer(object: &Bound<'_, PyAny>) -> Value {
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
        Err(error) => Value::Other(format!("{} ({error})", class_of(object))),
    }
}

fn class_of(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or("an object".to_owned(), |name| format!("a {name}"))
}

/// A value of the protocol as Python's plain one; labels as an int64 array.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Int(value) => value.into_pyobject(py)?.into_any(),
        Value::Text(text) | Value::Other(text) => PyString::new(py, text).into_any(),
        Value::Unread(length) => length.into_pyobject(py)?.into_any(),
        Value::List(items) => {
            let items =
                items.iter().map(|item| to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, items)?.into_any()
        }
        Value::Labels(labels) => PyArray1::from_slice(py, labels).into_any(),
        Value::Dict(dict) => {
            let made = PyDict::new(py);
            for (key, item) in &dict.entries {
                made.set_item(key, to_python(py, item)?)?;
            }
            made.into_any()
        }
        Value::Buffer(buffer) => PyTuple::new(py, &buffer.shape)?.into_any(),
    })
}
