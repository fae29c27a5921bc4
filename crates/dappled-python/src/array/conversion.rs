//! Between NumPy's arrays and ours.

use dappled::graph::Array;
use dappled_kernels::{Axes, Scalar};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::class::{NdArray, Value};
use super::exclusive::{exclusive, fallible};
use super::items::{canonical, items};
use super::lending::{Kept, borrowed, borrowed_items, lent, numpy_array};
use super::placement::moved;
use super::session::session;
use super::{dtypes, given};
use crate::distribution::Distribution;

/// Our array with the values of NumPy's, which are the same on every rank.
///
/// On several ranks each copies its part. On one rank the memory is shared, or taken over if `fresh`
/// says that nobody else has the array.
#[pyfunction]
#[pyo3(signature = (array, fresh=false))]
pub fn wrap<'py>(array: &Bound<'py, PyUntypedArray>, fresh: bool) -> PyResult<Bound<'py, NdArray>> {
    let py = array.py();
    let session = session(py)?;
    let memory = borrowed(array);
    if fresh
        && session.fabric().size() == 1
        && let Some((memory, view)) = memory
    {
        return Bound::new(py, NdArray::owned(Array::adopted(session, memory, view)));
    }
    if session.fabric().size() == 1 {
        return share(array);
    }
    let Some((memory, view)) = memory else {
        return items(array).unwrap_or_else(|| share(array));
    };
    let foreign = Array::foreign(session, memory, view);
    let copy = exclusive(py, usize::MAX, || foreign.copied())?;
    Bound::new(py, NdArray::owned(copy))
}

/// Our array over the memory of NumPy's, on any number of ranks: it is replicated, and what is
/// written through either is seen through both.
#[pyfunction]
pub fn share<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<Bound<'py, NdArray>> {
    let py = array.py();
    let session = session(py)?;
    let writeable: bool = array.getattr("flags")?.getattr("writeable")?.extract()?;
    let base = array.getattr("base")?;
    let base = (!base.is_none()).then(|| base.unbind());
    // Bytes of long doubles that mean nothing may differ between ranks, which compare bytes.
    let is_padded = matches!(array.dtype().char(), b'g' | b'G');
    let (found, item) = match borrowed(array) {
        None if session.fabric().size() > 1 && !is_padded => {
            (borrowed_items(array), Some(array.dtype().unbind()))
        }
        found => (found, None),
    };
    let Some((memory, view)) = found else { return held(array, base, writeable) };
    let foreign = Array::foreign(session, memory, view);
    Bound::new(py, NdArray::foreign(foreign, item, base, writeable))
}

/// Our array of the values of NumPy's, which are the same on every rank, in a distribution: each
/// rank copies its part, and nothing is sent. None where elements can't be moved.
#[pyfunction]
pub fn scatter<'py>(
    array: &Bound<'py, PyUntypedArray>,
    distribution: &Bound<'py, Distribution>,
) -> PyResult<Option<Bound<'py, NdArray>>> {
    let py = array.py();
    let target = &distribution.get().inner;
    let found = match borrowed(array) {
        None => borrowed_items(&canonical(array)?),
        native => native,
    };
    let Some((memory, view)) = found else { return Ok(None) };
    let item = (view.shape.len() > array.ndim()).then(|| array.dtype().unbind());
    let foreign = Array::foreign(session(py)?, memory, view);
    let made = moved(py, &foreign, item.as_ref(), target)?;
    Bound::new(py, NdArray::foreign(made, item, None, true)).map(Some)
}

fn held<'py>(
    array: &Bound<'py, PyUntypedArray>,
    base: Option<Py<PyAny>>,
    writeable: bool,
) -> PyResult<Bound<'py, NdArray>> {
    Bound::new(array.py(), NdArray::held(array.clone().into_any().unbind(), base, writeable))
}

/// NumPy's array of all elements: the same memory on one rank, gathered on several.
#[pyfunction]
#[pyo3(signature = (array, writeable=false))]
pub fn unwrap<'py>(array: &Bound<'py, NdArray>, writeable: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    match array.get().value() {
        Value::Held(held) => Ok(held.bind(py).clone()),
        _ => {
            let (memory, item) = array.get().memory().expect("an array that NumPy does not hold");
            lent(py, memory, item, writeable && array.get().is_writeable())
        }
    }
}

/// An array with one value everywhere, if the dtype is native.
#[pyfunction]
pub fn full<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    order: char,
) -> PyResult<Option<Bound<'py, NdArray>>> {
    let Some(dtype) = dtypes::from_any(dtype)? else { return Ok(None) };
    let Some(value) = one_value(value)? else { return Ok(None) };
    let mut shape = lengths(&axes_argument(shape)?)?;
    let backwards = matches!(order, 'F' | 'f');
    if backwards {
        shape.reverse();
    }
    let (session, value) = (session(py)?, value.cast(dtype));
    let array = fallible(|| Array::filled(session, &shape, value))?;
    let view = if backwards { array.view().transposed() } else { array.view().clone() };
    Bound::new(py, NdArray::owned(array.with_view(view))).map(Some)
}

/// An array of native elements to be written: all in this process, in memory used before if there is
/// some, and nobody knows what it holds.
#[pyfunction]
pub fn unwritten<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, NdArray>>> {
    let Some(dtype) = dtypes::from_any(dtype)? else { return Ok(None) };
    let (session, shape) = (session(py)?, lengths(&axes_argument(shape)?)?);
    let array = fallible(|| Array::unwritten(session, dtype, &shape))?;
    Bound::new(py, NdArray::owned(array)).map(Some)
}

/// NumPy's array of native elements to be written, in memory used before if there is some, to which it
/// goes back: nobody knows what it holds.
#[pyfunction]
pub fn scratch<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(dtype) = dtypes::from_any(dtype)? else { return Ok(None) };
    let (session, shape) = (session(py)?, lengths(&axes_argument(shape)?)?);
    let array = fallible(|| Array::unwritten(session, dtype, &shape))?;
    let loan = exclusive(py, 0, || array.lend())?;
    numpy_array(py, Kept::Loan(loan), array.view(), None, true).map(Some)
}

fn one_value(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    match given::argument(object)? {
        Some(given::Argument::Strong(value) | given::Argument::Weak(_, value)) => Ok(Some(value)),
        _ => Ok(None),
    }
}

fn lengths(shape: &[i64]) -> PyResult<Vec<usize>> {
    let length = |&length: &i64| usize::try_from(length);
    let lengths: Result<Vec<usize>, _> = shape.iter().map(length).collect();
    lengths.map_err(|_| PyValueError::new_err("negative dimensions are not allowed"))
}

/// As many axes as an array of NumPy's may have.
pub const MOST_AXES: usize = 64;

/// One int, or a sequence of them.
pub fn axes_argument(object: &Bound<'_, PyAny>) -> PyResult<Axes<i64>> {
    if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        return within(tuple.iter_borrowed().map(|item| as_int(&item)).collect::<PyResult<_>>()?);
    }
    let is_sequence = object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>();
    if !is_sequence && let Ok(number) = as_int(object) {
        return Ok([number].into_iter().collect());
    }
    let not_ints = |_| {
        let shown = object.repr().map_or("object".to_string(), |text| text.to_string());
        PyTypeError::new_err(format!(
            "expected a sequence of integers or a single integer, got '{shown}'"
        ))
    };
    within(
        object.try_iter().map_err(not_ints)?.map(|item| as_int(&item?)).collect::<PyResult<_>>()?,
    )
}

/// As many as NumPy's arrays may have axes.
fn within(axes: Axes<i64>) -> PyResult<Axes<i64>> {
    match axes.len() {
        0..=MOST_AXES => Ok(axes),
        found => Err(PyValueError::new_err(format!(
            "maximum supported dimension for an ndarray is currently {MOST_AXES}, found {found}"
        ))),
    }
}

fn as_int(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    if object.is_instance_of::<pyo3::types::PyFloat>() {
        return Err(PyTypeError::new_err("'float' object cannot be interpreted as an integer"));
    }
    if object.is_instance_of::<pyo3::types::PyBool>() {
        return Err(PyTypeError::new_err("an integer is required"));
    }
    object.extract()
}
