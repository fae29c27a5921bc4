//! What a Python program hands to an operation.

use dappled::graph::{Array, Given};
use dappled_kernels::{DType, Scalar, Weak};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use super::class::NdArray;
use super::lending::borrowed;
use super::scalars;
use super::session::session;

/// An argument that is native.
pub enum Argument<'a> {
    Ours(&'a Array),
    /// An array of NumPy's, seen for the time of the operation.
    Theirs(Box<Array>),
    Strong(Scalar),
    Weak(Weak, Scalar),
}

impl Argument<'_> {
    pub fn given(&self) -> Given<'_> {
        match self {
            Argument::Ours(array) => Given::Array(array),
            Argument::Theirs(array) => Given::Array(array),
            Argument::Strong(value) => Given::Strong(*value),
            Argument::Weak(weak, value) => Given::Weak(*weak, *value),
        }
    }

    /// Is it one value?
    pub fn has_no_axes(&self) -> bool {
        match self {
            Argument::Ours(array) => array.shape().is_empty(),
            Argument::Theirs(array) => array.shape().is_empty(),
            Argument::Strong(_) | Argument::Weak(..) => true,
        }
    }

    /// Would a Python int lose its value in this dtype? NumPy raises, or compares exactly.
    pub fn overflows(&self, dtype: DType) -> bool {
        match self {
            Argument::Weak(Weak::Int, value) if dtype.is_integral() => {
                value.cast(dtype).cast(DType::Int64) != *value
                    || (dtype == DType::UInt64 && value.get::<i64>().is_some_and(|value| value < 0))
            }
            _ => false,
        }
    }
}

/// An argument, if it is native; None for what NumPy must look at.
pub fn argument<'a, 'py>(object: &'a Bound<'py, PyAny>) -> PyResult<Option<Argument<'a>>> {
    if let Ok(array) = object.cast::<NdArray>() {
        return Ok(array.get().array().map(Argument::Ours));
    }
    if let Some((weak, value)) = scalars::weak(object) {
        return Ok(Some(Argument::Weak(weak, value)));
    }
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return if is_plain_array(object)? { theirs(array) } else { Ok(None) };
    }
    match is_generic(object)? {
        true => strong(object),
        false => Ok(None),
    }
}

/// Is it an array of NumPy's, in memory or in a file? Classes of others (masked arrays, matrices) have
/// their own say in an operation.
pub fn is_plain_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static MEMMAP: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = object.py();
    Ok(object.is_exact_instance_of::<PyUntypedArray>()
        || object.get_type().is(numpy_class(py, &MEMMAP, "memmap")?))
}

/// A class of NumPy's, looked up once.
fn numpy_class<'a, 'py>(
    py: Python<'py>,
    known: &'a PyOnceLock<Py<PyType>>,
    name: &str,
) -> PyResult<&'a Bound<'py, PyType>> {
    let import = || -> PyResult<Py<PyType>> {
        Ok(py.import("numpy")?.getattr(name)?.cast_into::<PyType>()?.unbind())
    };
    Ok(known.get_or_try_init(py, import)?.bind(py))
}

fn theirs<'a>(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<Argument<'a>>> {
    let session = session(array.py())?;
    Ok(borrowed(array)
        .map(|(memory, view)| Argument::Theirs(Box::new(Array::foreign(session, memory, view)))))
}

/// Is it a scalar of NumPy's?
pub fn is_generic(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static GENERIC: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    object.is_instance(numpy_class(object.py(), &GENERIC, "generic")?)
}

/// A scalar of NumPy's, which keeps its dtype.
fn strong<'a>(object: &Bound<'_, PyAny>) -> PyResult<Option<Argument<'a>>> {
    Ok(scalars::from_numpy(object)?.map(Argument::Strong))
}
