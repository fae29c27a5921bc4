//! Operands of native operations.

use dappled::{Array, UfuncOperand};
use dappled_kernels::{Scalar, WeakScalar};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use super::class::NdArray;
use crate::interop::buffer_export::borrow_elements;
use crate::interop::scalars;
use crate::runtime::session::session;

/// An operand that the core can read.
pub enum NativeOperand<'a> {
    Array(&'a Array),
    /// A NumPy array, borrowed for the duration of the operation.
    NumPyArray(Box<Array>),
    Strong(Scalar),
    Weak(WeakScalar, Scalar),
}

impl NativeOperand<'_> {
    pub fn to_core(&self) -> UfuncOperand<'_> {
        match self {
            NativeOperand::Array(array) => UfuncOperand::Array(array),
            NativeOperand::NumPyArray(array) => UfuncOperand::Array(array),
            NativeOperand::Strong(value) => UfuncOperand::Strong(*value),
            NativeOperand::Weak(weak, value) => UfuncOperand::Weak(*weak, *value),
        }
    }

    /// Returns whether the operand is 0-dimensional.
    pub fn has_no_axes(&self) -> bool {
        match self {
            NativeOperand::Array(array) => array.shape().is_empty(),
            NativeOperand::NumPyArray(array) => array.shape().is_empty(),
            NativeOperand::Strong(_) | NativeOperand::Weak(..) => true,
        }
    }
}

/// Converts an object to an operand; `None` if the operation must go to NumPy.
pub fn native_operand<'a, 'py>(
    object: &'a Bound<'py, PyAny>,
) -> PyResult<Option<NativeOperand<'a>>> {
    if let Ok(array) = object.cast::<NdArray>() {
        return Ok(array.get().array().map(NativeOperand::Array));
    }
    if let Some((weak, value)) = scalars::weak_scalar(object) {
        return Ok(Some(NativeOperand::Weak(weak, value)));
    }
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return if is_numpy_array(object)? { borrowed_operand(array) } else { Ok(None) };
    }
    match is_numpy_scalar(object)? {
        true => scalar_operand(object),
        false => Ok(None),
    }
}

/// Returns whether an object is a plain NumPy array, in memory or memory-mapped. Other subclasses
/// (masked arrays, matrices) may override operations.
pub fn is_numpy_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static MEMMAP: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = object.py();
    Ok(object.is_exact_instance_of::<PyUntypedArray>()
        || object.get_type().is(numpy_class(py, &MEMMAP, "memmap")?))
}

/// Returns a class of NumPy, imported once.
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

fn borrowed_operand<'a>(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<NativeOperand<'a>>> {
    let session = session(array.py())?;
    Ok(borrow_elements(array).map(|(memory, view)| {
        NativeOperand::NumPyArray(Box::new(Array::from_foreign(session, memory, view)))
    }))
}

/// Returns whether an object is a NumPy scalar.
pub fn is_numpy_scalar(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static GENERIC: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    object.is_instance(numpy_class(object.py(), &GENERIC, "generic")?)
}

/// Converts a NumPy scalar, which keeps its dtype.
fn scalar_operand<'a>(object: &Bound<'_, PyAny>) -> PyResult<Option<NativeOperand<'a>>> {
    Ok(scalars::from_numpy(object)?.map(NativeOperand::Strong))
}
