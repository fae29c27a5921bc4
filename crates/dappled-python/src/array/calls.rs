//! Fingerprints of calls: ranks that call a function with other arguments have diverged.

use std::hash::{DefaultHasher, Hash, Hasher};

use dappled::graph::checks_all;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple, PyType,
};

use super::call::is_number;
use super::class::NdArray;
use super::exclusive::{exclusive, tell_refused};
use super::given::{is_generic, is_plain_array};
use super::session::session;
use super::slow;

/// Lists inside lists deeper than this are not looked at,
const DEPTH: usize = 3;
/// nor items after so many.
const ITEMS: usize = 64;

/// Calls a function of ours; what all ranks do in it is compared together with the arguments.
#[pyfunction]
pub fn called<'py>(
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let session = session(function.py())?;
    if session.fabric().size() == 1 {
        return function.call(args, kwargs);
    }
    let done = session.in_call(hash_of(function, args, kwargs)?, || function.call(args, kwargs));
    done.inspect_err(|error| tell_refused(function.py(), error))
}

/// Notes something that all ranks do alike without a message, and bytes that they must agree on.
/// Collective.
#[pyfunction]
pub fn note(py: Python<'_>, what: &str, bytes: &[u8]) -> PyResult<()> {
    let session = session(py)?;
    exclusive(py, 0, || session.note(what, bytes))
}

/// A hash of a call that is the same in every process of one program.
fn hash_of(
    function: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<u64> {
    let mut hasher = DefaultHasher::new();
    add_name(&mut hasher, function)?;
    for value in args.iter_borrowed() {
        add(&mut hasher, &value, DEPTH)?;
    }
    // In any order.
    let mut named = 0;
    for (name, value) in kwargs.into_iter().flatten() {
        let mut hasher = DefaultHasher::new();
        add(&mut hasher, &name, DEPTH)?;
        // What is written is not read: it may hold anything.
        if name.cast::<PyString>().is_ok_and(|name| name != "out") {
            add(&mut hasher, &value, DEPTH)?;
        }
        named ^= hasher.finish();
    }
    named.hash(&mut hasher);
    Ok(hasher.finish())
}

fn add_name(hasher: &mut DefaultHasher, object: &Bound<'_, PyAny>) -> PyResult<()> {
    let name = object.getattr(intern!(object.py(), "__name__"))?;
    add(hasher, &name, 0)
}

/// Adds a value, as far as it is known that ranks must agree on it.
fn add(hasher: &mut DefaultHasher, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
    if let Ok(array) = value.cast::<NdArray>() {
        if let Some(array) = array.get().array() {
            array.fingerprint().hash(hasher);
        }
    } else if let Ok(text) = value.cast::<PyString>() {
        text.to_string_lossy().hash(hasher);
    } else if let Ok(truth) = value.cast::<PyBool>() {
        truth.is_true().hash(hasher);
    } else if let Ok(number) = value.cast::<PyInt>() {
        match number.extract::<i64>() {
            Ok(number) => number.hash(hasher),
            Err(_) => number.to_string().hash(hasher),
        }
    } else if let Ok(number) = value.cast::<PyFloat>() {
        number.value().to_bits().hash(hasher);
    } else if let Ok(number) = value.cast::<PyComplex>() {
        [number.real(), number.imag()].map(f64::to_bits).hash(hasher);
    } else if let Ok(bytes) = value.cast::<PyBytes>() {
        bytes.as_bytes().hash(hasher);
    } else if let Ok(slice) = value.cast::<PySlice>() {
        for name in ["start", "stop", "step"] {
            add(hasher, &slice.getattr(name)?, 0)?;
        }
    } else if value.is_exact_instance_of::<PyTuple>() || value.is_exact_instance_of::<PyList>() {
        value.len()?.hash(hasher);
        if depth > 0 {
            for item in value.try_iter()?.take(ITEMS) {
                add(hasher, &item?, depth - 1)?;
            }
        }
    } else if value.is_instance_of::<PyType>() {
        add_name(hasher, value)?;
    } else {
        add_other(hasher, value)?;
    }
    Ok(())
}

/// Adds an object of NumPy's, or a path; of others the class alone is known.
fn add_other(hasher: &mut DefaultHasher, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    if is_plain_array(value)? {
        let array = value.cast::<PyUntypedArray>()?;
        array.shape().hash(hasher);
        array.dtype().to_string().hash(hasher);
        if checks_all() && !array.dtype().has_object() {
            add_elements(hasher, value)?;
        }
    } else if is_generic(value)? {
        // A Python number of the same value is the same argument.
        let item = value.call_method0(intern!(py, "item"))?;
        if is_number(&item) {
            return add(hasher, &item, 0);
        }
        add_elements(hasher, value)?;
    } else if let Ok(path) = value.call_method0(intern!(py, "__fspath__")) {
        add(hasher, &path, 0)?;
    } else {
        add_name(hasher, value.get_type().as_any())?;
    }
    Ok(())
}

/// Adds the elements of NumPy's array or scalar, without the padding of long doubles and structures,
/// which may differ between ranks.
fn add_elements(hasher: &mut DefaultHasher, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    let cleared = slow::function(py, "canonical")?.call1((value,))?;
    cleared.call_method0(intern!(py, "tobytes"))?.cast::<PyBytes>()?.as_bytes().hash(hasher);
    Ok(())
}
