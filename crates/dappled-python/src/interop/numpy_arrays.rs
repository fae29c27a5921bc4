//! Conversion between NumPy's arrays and Dappled's.

use dappled::Array;
use dappled_kernels::{Axes, Scalar};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::buffer_export::{
    ExportedMemory, borrow_bytes, borrow_elements, export_to_numpy, numpy_array,
};
use super::dtypes;
use super::opaque::{canonical, copy_opaque};
use crate::config::MAX_NDIM;
use crate::ndarray::class::{ArrayValue, NdArray};
use crate::ndarray::distribution_methods::redistribute_memory;
use crate::ndarray::operands;
use crate::protocol::distribution::PyDistribution;
use crate::runtime::lock::{catch_panic, run_locked};
use crate::runtime::session::session;

/// Converts a NumPy array that is the same on every rank.
///
/// On several ranks each copies its local piece. On one rank the memory is shared, or taken over if
/// `fresh` says that nothing else refers to the array.
#[pyfunction]
#[pyo3(signature = (array, fresh=false))]
pub fn wrap<'py>(array: &Bound<'py, PyUntypedArray>, fresh: bool) -> PyResult<Bound<'py, NdArray>> {
    let py = array.py();
    let session = session(py)?;
    let memory = borrow_elements(array);
    if fresh
        && session.fabric().size() == 1
        && let Some((memory, view)) = memory
    {
        return Bound::new(py, NdArray::owned(Array::from_owned(session, memory, view)));
    }
    if session.fabric().size() == 1 {
        return share(array);
    }
    let Some((memory, view)) = memory else {
        return copy_opaque(array).unwrap_or_else(|| share(array));
    };
    let foreign = Array::from_foreign(session, memory, view);
    let copy = run_locked(py, usize::MAX, || foreign.copy())?;
    Bound::new(py, NdArray::owned(copy))
}

/// Creates a replicated array over the memory of a NumPy array. Writes to either are seen in both.
#[pyfunction]
pub fn share<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, NdArray>> {
    let py = array.py();
    let session = session(py)?;
    let writeable: bool = array.getattr("flags")?.getattr("writeable")?.extract()?;
    let base = array.getattr("base")?;
    let base = (!base.is_none()).then(|| base.unbind());
    // Padding bytes of long doubles may differ between ranks, which compare bytes.
    let is_padded = matches!(array.dtype().char(), b'g' | b'G');
    let (borrowed, item) = match borrow_elements(array) {
        None if session.fabric().size() > 1 && !is_padded => {
            (borrow_bytes(array), Some(array.dtype().unbind()))
        }
        borrowed => (borrowed, None),
    };
    let Some((memory, view)) = borrowed else { return hold_numpy_array(array, base, writeable) };
    let foreign = Array::from_foreign(session, memory, view);
    Bound::new(py, NdArray::foreign(foreign, item, base, writeable))
}

/// Distributes a NumPy array that is the same on every rank, without communication.
///
/// Each rank copies its local piece. None for elements that cannot be moved between processes.
#[pyfunction]
pub fn scatter<'py>(
    array: &Bound<'py, PyUntypedArray>,
    distribution: &Bound<'py, PyDistribution>,
) -> PyResult<Option<Bound<'py, NdArray>>> {
    let py = array.py();
    let target = &distribution.get().inner;
    let borrowed = match borrow_elements(array) {
        None => borrow_bytes(&canonical(array)?),
        native => native,
    };
    let Some((memory, view)) = borrowed else { return Ok(None) };
    let item = (view.shape.len() > array.ndim()).then(|| array.dtype().unbind());
    let foreign = Array::from_foreign(session(py)?, memory, view);
    let distributed = redistribute_memory(py, &foreign, item.as_ref(), target)?;
    Bound::new(py, NdArray::foreign(distributed, item, None, true)).map(Some)
}

fn hold_numpy_array<'py>(
    array: &Bound<'py, PyUntypedArray>,
    base: Option<Py<PyAny>>,
    writeable: bool,
) -> PyResult<Bound<'py, NdArray>> {
    Bound::new(
        array.py(),
        NdArray::held_by_numpy(array.clone().into_any().unbind(), base, writeable),
    )
}

/// Returns a NumPy array of all elements: the same memory on one rank, gathered on several.
#[pyfunction]
#[pyo3(signature = (array, writeable=false))]
pub fn unwrap<'py>(array: &Bound<'py, NdArray>, writeable: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    match array.get().value() {
        ArrayValue::NumPy(held) => Ok(held.bind(py).clone()),
        _ => {
            let (memory, item) = array.get().memory().expect("an array that NumPy does not hold");
            export_to_numpy(py, memory, item, writeable && array.get().is_writeable())
        }
    }
}

/// Creates an array with one value; None if the dtype is not native.
#[pyfunction]
pub fn full<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    order: char,
) -> PyResult<Option<Bound<'py, NdArray>>> {
    let Some(dtype) = dtypes::from_object(dtype)? else { return Ok(None) };
    let Some(value) = scalar_value(value)? else { return Ok(None) };
    let mut shape = nonnegative_lengths(&parse_ints(shape)?)?;
    let backwards = matches!(order, 'F' | 'f');
    if backwards {
        shape.reverse();
    }
    let (session, value) = (session(py)?, value.cast(dtype));
    let array = catch_panic(|| Array::filled(session, &shape, value))?;
    let view = if backwards { array.view().transposed() } else { array.view().clone() };
    Bound::new(py, NdArray::owned(array.with_view(view))).map(Some)
}

/// Creates an array with arbitrary elements, local to this process, from the buffer pool.
#[pyfunction(name = "unwritten")]
pub fn uninitialized<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, NdArray>>> {
    let Some(dtype) = dtypes::from_object(dtype)? else { return Ok(None) };
    let (session, shape) = (session(py)?, nonnegative_lengths(&parse_ints(shape)?)?);
    let array = catch_panic(|| Array::empty(session, dtype, &shape))?;
    Bound::new(py, NdArray::owned(array)).map(Some)
}

/// Creates a NumPy array with arbitrary elements; its memory comes from the buffer pool and returns
/// to it.
#[pyfunction]
pub fn scratch<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(dtype) = dtypes::from_object(dtype)? else { return Ok(None) };
    let (session, shape) = (session(py)?, nonnegative_lengths(&parse_ints(shape)?)?);
    let array = catch_panic(|| Array::empty(session, dtype, &shape))?;
    let loan = run_locked(py, 0, || array.lend())?;
    numpy_array(py, ExportedMemory::Loan(loan), array.view(), None, true).map(Some)
}

fn scalar_value(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    match operands::native_operand(object)? {
        Some(operands::NativeOperand::Strong(value) | operands::NativeOperand::Weak(_, value)) => {
            Ok(Some(value))
        }
        _ => Ok(None),
    }
}

fn nonnegative_lengths(shape: &[i64]) -> PyResult<Vec<usize>> {
    let length = |&length: &i64| usize::try_from(length);
    let lengths: Result<Vec<usize>, _> = shape.iter().map(length).collect();
    lengths.map_err(|_| PyValueError::new_err("negative dimensions are not allowed"))
}

/// Parses an int or a sequence of ints.
pub fn parse_ints(object: &Bound<'_, PyAny>) -> PyResult<Axes<i64>> {
    if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        return check_ndim(
            tuple.iter_borrowed().map(|item| parse_int(&item)).collect::<PyResult<_>>()?,
        );
    }
    let is_sequence = object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>();
    if !is_sequence && let Ok(number) = parse_int(object) {
        return Ok([number].into_iter().collect());
    }
    let not_ints = |_| {
        let shown = object.repr().map_or("object".to_string(), |text| text.to_string());
        PyTypeError::new_err(format!(
            "expected a sequence of integers or a single integer, got '{shown}'"
        ))
    };
    check_ndim(
        object
            .try_iter()
            .map_err(not_ints)?
            .map(|item| parse_int(&item?))
            .collect::<PyResult<_>>()?,
    )
}

/// Raises for more axes than a NumPy array may have.
fn check_ndim(axes: Axes<i64>) -> PyResult<Axes<i64>> {
    match axes.len() {
        0..=MAX_NDIM => Ok(axes),
        count => Err(PyValueError::new_err(format!(
            "maximum supported dimension for an ndarray is currently {MAX_NDIM}, found {count}"
        ))),
    }
}

fn parse_int(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    if object.is_instance_of::<pyo3::types::PyFloat>() {
        return Err(PyTypeError::new_err("'float' object cannot be interpreted as an integer"));
    }
    if object.is_instance_of::<pyo3::types::PyBool>() {
        return Err(PyTypeError::new_err("an integer is required"));
    }
    object.extract()
}
