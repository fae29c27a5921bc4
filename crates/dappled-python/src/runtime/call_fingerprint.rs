//! Fingerprints of calls: ranks whose arguments differ have diverged.

use std::hash::{DefaultHasher, Hash, Hasher};

use dappled::is_check_all;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple, PyType,
};

use super::fallback;
use super::lock::{announce_memory_error, run_locked};
use super::session::session;
use crate::config::{MAX_FINGERPRINT_ITEMS, MAX_FINGERPRINT_NESTING};
use crate::ndarray::arguments::is_python_number;
use crate::ndarray::class::NdArray;
use crate::ndarray::operands::{is_numpy_array, is_numpy_scalar};

/// Calls a collective function; ranks compare its operations together with its arguments.
#[pyfunction(name = "called")]
pub fn call_checked<'py>(
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let session = session(function.py())?;
    if session.fabric().size() == 1 {
        return function.call(args, kwargs);
    }
    let done = session.in_call(call_hash(function, args, kwargs)?, || function.call(args, kwargs));
    done.inspect_err(|error| announce_memory_error(function.py(), error))
}

/// Records a collective step without a message, and bytes that the ranks must agree on. Collective.
#[pyfunction]
pub fn note(py: Python<'_>, what: &str, bytes: &[u8]) -> PyResult<()> {
    let session = session(py)?;
    run_locked(py, 0, || session.log_collective(what, bytes))
}

/// Hashes a call; the hash is the same in every process of a job.
fn call_hash(
    function: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<u64> {
    let mut hasher = DefaultHasher::new();
    hash_name(&mut hasher, function)?;
    for value in args.iter_borrowed() {
        hash_value(&mut hasher, &value, MAX_FINGERPRINT_NESTING)?;
    }
    // Keyword arguments count in any order.
    let mut named = 0;
    for (name, value) in kwargs.into_iter().flatten() {
        let mut hasher = DefaultHasher::new();
        hash_value(&mut hasher, &name, MAX_FINGERPRINT_NESTING)?;
        // The memory of `out` is only written, so its contents may differ.
        if name.cast::<PyString>().is_ok_and(|name| name != "out") {
            hash_value(&mut hasher, &value, MAX_FINGERPRINT_NESTING)?;
        }
        named ^= hasher.finish();
    }
    named.hash(&mut hasher);
    Ok(hasher.finish())
}

fn hash_name(hasher: &mut DefaultHasher, object: &Bound<'_, PyAny>) -> PyResult<()> {
    let name = object.getattr(intern!(object.py(), "__name__"))?;
    hash_value(hasher, &name, 0)
}

/// Hashes a value, as far as the ranks must agree on it.
fn hash_value(hasher: &mut DefaultHasher, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
    if let Ok(array) = value.cast::<NdArray>() {
        if let Some(array) = array.get().array() {
            array.fingerprint().hash(hasher);
        }
    } else if let Ok(text) = value.cast::<PyString>() {
        text.to_string_lossy().hash(hasher);
    } else if let Ok(boolean) = value.cast::<PyBool>() {
        boolean.is_true().hash(hasher);
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
            hash_value(hasher, &slice.getattr(name)?, 0)?;
        }
    } else if value.is_exact_instance_of::<PyTuple>() || value.is_exact_instance_of::<PyList>() {
        value.len()?.hash(hasher);
        if depth > 0 {
            for item in value.try_iter()?.take(MAX_FINGERPRINT_ITEMS) {
                hash_value(hasher, &item?, depth - 1)?;
            }
        }
    } else if value.is_instance_of::<PyType>() {
        hash_name(hasher, value)?;
    } else {
        hash_other(hasher, value)?;
    }
    Ok(())
}

/// Hashes a NumPy object or a path; for any other object its class.
fn hash_other(hasher: &mut DefaultHasher, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    if is_numpy_array(value)? {
        let array = value.cast::<PyUntypedArray>()?;
        array.shape().hash(hasher);
        array.dtype().to_string().hash(hasher);
        if is_check_all() && !array.dtype().has_object() {
            hash_elements(hasher, value)?;
        }
    } else if is_numpy_scalar(value)? {
        // A NumPy scalar equals the Python number of its value.
        let item = value.call_method0(intern!(py, "item"))?;
        if is_python_number(&item) {
            return hash_value(hasher, &item, 0);
        }
        hash_elements(hasher, value)?;
    } else if let Ok(path) = value.call_method0(intern!(py, "__fspath__")) {
        hash_value(hasher, &path, 0)?;
    } else {
        hash_name(hasher, value.get_type().as_any())?;
    }
    Ok(())
}

/// Hashes the elements of a NumPy array or scalar without padding bytes, which may differ between
/// ranks.
fn hash_elements(hasher: &mut DefaultHasher, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    let canonical = fallback::function(py, "with_zeroed_padding")?.call1((value,))?;
    canonical.call_method0(intern!(py, "tobytes"))?.cast::<PyBytes>()?.as_bytes().hash(hasher);
    Ok(())
}
