//! Fast paths of array creation: from a shape, from numbers, from an array.

use dappled::{Array, Session, UfuncOperand};
use dappled_kernels::{Axes, DType, Element, Scalar, WeakScalar};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyList, PyTuple};

use super::arguments::{Attempt, CallArguments, is_python_number, not_none};
use super::class::NdArray;
use super::copy_cast::copy_array;
use super::operands::is_numpy_scalar;
use super::views::new_ndarray;
use crate::config::{MAX_FAST_CREATION_ELEMENTS, MAX_LITERAL_NESTING, MAX_NDIM};
use crate::interop::numpy_arrays::{share, wrap};
use crate::interop::{dtypes, scalars};
use crate::runtime::lock::catch_panic;
use crate::runtime::session::session;

pub fn zeros<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    constant(call, 0)
}

pub fn ones<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    constant(call, 1)
}

pub fn zeros_like<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    constant_like(call, 0)
}

pub fn ones_like<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    constant_like(call, 1)
}

pub fn empty<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    with_shape(call, uninitialized)
}

pub fn empty_like<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    with_shape_like(call, uninitialized)
}

fn constant<'py>(call: &CallArguments<'_, 'py>, number: i8) -> Attempt<'py> {
    with_shape(call, |py, shape, dtype| new_constant(py, shape, small_integer(number, dtype)))
}

fn constant_like<'py>(call: &CallArguments<'_, 'py>, number: i8) -> Attempt<'py> {
    with_shape_like(call, |py, shape, dtype| new_constant(py, shape, small_integer(number, dtype)))
}

/// Parses `shape` and `dtype`, and creates an array.
fn with_shape<'py>(
    call: &CallArguments<'_, 'py>,
    make: impl FnOnce(Python<'py>, &[usize], DType) -> Attempt<'py>,
) -> Attempt<'py> {
    let Some([Some(shape), dtype]) = call.by_name(["shape", "dtype"], 2)? else { return Ok(None) };
    let dtype = match not_none(dtype) {
        None => Some(DType::Float64),
        Some(dtype) => dtypes::from_common_spelling(&dtype)?,
    };
    let (Some(shape), Some(dtype)) = (parse_shape(&shape), dtype) else { return Ok(None) };
    make(shape.py(), &shape.lengths, dtype)
}

/// Creates an array with the shape and dtype of the only argument, a replicated C-ordered array.
fn with_shape_like<'py>(
    call: &CallArguments<'_, 'py>,
    make: impl FnOnce(Python<'py>, &[usize], DType) -> Attempt<'py>,
) -> Attempt<'py> {
    if call.args.len() != 1 || call.kwargs.is_some() {
        return Ok(None);
    }
    let like = call.args.get_borrowed_item(0)?;
    let Ok(like) = like.cast_exact::<NdArray>() else { return Ok(None) };
    match like.get().array() {
        Some(array) if array.view().is_contiguous() && array.is_replicated() => {
            make(like.py(), array.shape(), array.dtype())
        }
        _ => Ok(None),
    }
}

/// Creates an array with arbitrary elements. A large one is filled with zeros lazily: it takes no
/// memory until it is written.
fn uninitialized<'py>(py: Python<'py>, shape: &[usize], dtype: DType) -> Attempt<'py> {
    let session = session(py)?;
    let is_small = shape.iter().product::<usize>() <= session.limits().eager_copy_max();
    match is_small && session.fabric().size() == 1 {
        true => {
            let array = catch_panic(|| Array::empty(session, dtype, shape))?;
            new_ndarray(py, array).map(Some)
        }
        false => new_constant(py, shape, small_integer(0, dtype)),
    }
}

pub fn full<'py>(call: &CallArguments<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    let arguments = call.by_name(["shape", "fill_value", "dtype"], 3)?;
    let Some([Some(shape), Some(value), dtype]) = arguments else { return Ok(None) };
    let (Some(shape), Some((weak, value))) = (parse_shape(&shape), scalars::weak_scalar(&value))
    else {
        return Ok(None);
    };
    let value = match not_none(dtype) {
        None => Some(value),
        Some(dtype) => {
            dtypes::from_common_spelling(&dtype)?.and_then(|dtype| cast_exactly(weak, value, dtype))
        }
    };
    value.map_or(Ok(None), |value| new_constant(shape.py(), &shape.lengths, value))
}

/// Casts a Python number to a dtype that represents it exactly.
fn cast_exactly(weak: WeakScalar, value: Scalar, dtype: DType) -> Option<Scalar> {
    let fits = !UfuncOperand::Weak(weak, value).overflows(dtype);
    let keeps_kind = value.dtype().kind() <= dtype.kind();
    (fits && keeps_kind).then(|| value.checked_cast(dtype)).flatten()
}

/// Returns 0 or 1 in a dtype.
fn small_integer(number: i8, dtype: DType) -> Scalar {
    match number {
        0 => Scalar::from_bytes(dtype, &[0; 16][..dtype.itemsize()]),
        _ => Scalar::new(number).cast(dtype),
    }
}

fn new_constant<'py>(py: Python<'py>, shape: &[usize], value: Scalar) -> Attempt<'py> {
    let session = session(py)?;
    new_ndarray(py, catch_panic(|| Array::filled(session, shape, value))?).map(Some)
}

/// Calls NumPy's `linspace` or `arange` on one rank; on several, each rank computes its piece.
pub fn call_numpy<'py>(call: &CallArguments<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    let is_single = session(numpy.py())?.fabric().size() == 1;
    match is_single && call.are_plain() && !call.has_dist()? {
        true => adopt_new(numpy.call(call.args, call.kwargs)?),
        false => Ok(None),
    }
}

/// Calls NumPy for small identity matrices.
pub fn eye<'py>(call: &CallArguments<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    let limit = session(numpy.py())?.limits().eager_copy_max() as u64;
    let small = |length: Bound<'py, PyAny>| {
        length.extract::<u64>().is_ok_and(|length| length.saturating_mul(length) <= limit)
    };
    let mut numbers = call.args.iter().filter(|number| number.is_exact_instance_of::<PyInt>());
    match call.kwargs.is_none() && !call.args.is_empty() && numbers.all(small) {
        true => call_numpy(call, numpy),
        false => Ok(None),
    }
}

/// Takes over an array that NumPy has just created and nothing else refers to.
pub fn adopt_new(object: Bound<'_, PyAny>) -> Attempt<'_> {
    match object.cast_into_exact::<PyUntypedArray>() {
        Ok(array) => Ok(Some(wrap(&array, true)?.into_any())),
        Err(_) => Ok(None),
    }
}

pub fn array<'py>(call: &CallArguments<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    let Some([Some(object), dtype]) = call.by_name(["object", "dtype"], 2)? else {
        return Ok(None);
    };
    match object.cast_exact::<NdArray>() {
        Ok(_) if not_none(dtype.clone()).is_some() => Ok(None),
        Ok(array) => copy_array(array, 'K').map(Some),
        Err(_) => from_literal(call, numpy, &object),
    }
}

pub fn asarray<'py>(call: &CallArguments<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    let Some([Some(object), dtype]) = call.by_name(["a", "dtype"], 2)? else { return Ok(None) };
    let dtype = not_none(dtype);
    let as_it_is = dtype.is_none();
    if let Ok(native) = object.cast_exact::<NdArray>() {
        let has_dtype = match (dtype, native.get().array()) {
            (Some(dtype), Some(array)) => {
                dtypes::from_common_spelling(&dtype)? == Some(array.dtype())
            }
            (dtype, _) => dtype.is_none(),
        };
        return Ok(has_dtype.then_some(object));
    }
    match object.cast_exact::<PyUntypedArray>() {
        Ok(array) if as_it_is => Ok(Some(share(array)?.into_any())),
        Ok(_) => Ok(None),
        Err(_) => from_literal(call, numpy, &object),
    }
}

/// Converts nested lists of numbers, or copies a NumPy array.
fn from_literal<'py>(
    call: &CallArguments<'_, 'py>,
    numpy: &Bound<'py, PyAny>,
    object: &Bound<'py, PyAny>,
) -> Attempt<'py> {
    if call.args.len() == 1
        && call.kwargs.is_none()
        && let Ok(list) = object.cast_exact::<PyList>()
        && let Some(array) = from_list(list)?
    {
        return new_ndarray(list.py(), array).map(Some);
    }
    let plain = object.is_exact_instance_of::<PyUntypedArray>()
        || are_numbers(object, MAX_LITERAL_NESTING)?;
    if plain { adopt_new(numpy.call(call.args, call.kwargs)?) } else { Ok(None) }
}

/// Converts a list of floats, or of ints of at most 64 bits; `None` for any other list.
fn from_list(list: &Bound<'_, PyList>) -> PyResult<Option<Array>> {
    let (session, shape) = (session(list.py())?, [list.len()]);
    let Ok(first) = list.get_item(0) else { return Ok(None) };
    if first.is_exact_instance_of::<PyFloat>() {
        let float = |item: Bound<'_, PyAny>| Some(item.cast_exact::<PyFloat>().ok()?.value());
        let numbers: Option<Vec<f64>> = list.iter().map(float).collect();
        return Ok(numbers.and_then(|numbers| small_array(session, &shape, &numbers)));
    }
    let int = |item: Bound<'_, PyAny>| {
        item.is_exact_instance_of::<PyInt>().then(|| item.extract::<i64>().ok()).flatten()
    };
    let numbers: Option<Vec<i64>> = list.iter().map(int).collect();
    Ok(numbers.and_then(|numbers| small_array(session, &shape, &numbers)))
}

/// Creates an array if it is small enough to be replicated and evaluated eagerly.
fn small_array<T: Element>(session: &Session, shape: &[usize], elements: &[T]) -> Option<Array> {
    let is_small = elements.len() <= session.limits().eager_max;
    let is_replicated = || session.should_replicate(shape, size_of::<T>());
    (is_small && is_replicated()).then(|| Array::from_small_slice(session, shape, elements))
}

/// Computes `arange` of Python ints; `None` for any other call.
fn int_range<'py>(call: &CallArguments<'_, 'py>) -> PyResult<Option<Array>> {
    let session = session(call.args.py())?;
    let mut arguments = [0, 0, 1];
    if call.kwargs.is_some() || !(1..=3).contains(&call.args.len()) {
        return Ok(None);
    }
    // A single argument is `stop`.
    let first = usize::from(call.args.len() == 1);
    for (argument, item) in arguments[first..].iter_mut().zip(call.args.iter_borrowed()) {
        match item.is_exact_instance_of::<PyInt>().then(|| item.extract::<i32>()) {
            Some(Ok(number)) => *argument = i64::from(number),
            _ => return Ok(None),
        }
    }
    let [start, stop, step] = arguments;
    let limit = session.limits().eager_max as i64;
    let count = if step == 0 { limit + 1 } else { (stop - start + step - step.signum()) / step };
    if !(1..=limit).contains(&count) {
        return Ok(None);
    }
    // All arguments have 32 bits, so nothing overflows; a check per element would dominate the
    // cost.
    let number = |at: i64| start.wrapping_add(at.wrapping_mul(step));
    let numbers: Vec<i64> = (0..count).map(number).collect();
    Ok(small_array(session, &[numbers.len()], &numbers))
}

/// Computes a small `arange` of ints here, any other by NumPy.
pub fn arange<'py>(call: &CallArguments<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Attempt<'py> {
    match int_range(call)? {
        Some(array) => new_ndarray(numpy.py(), array).map(Some),
        None => call_numpy(call, numpy),
    }
}

fn are_numbers(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    if is_python_number(object) {
        return Ok(true);
    }
    if depth == 0 {
        return Ok(false);
    }
    if let Ok(list) = object.cast_exact::<PyList>() {
        return list.iter().try_fold(true, |all, item| Ok(all && are_numbers(&item, depth - 1)?));
    }
    if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        return tuple.iter().try_fold(true, |all, item| Ok(all && are_numbers(&item, depth - 1)?));
    }
    is_numpy_scalar(object)
}

/// The lengths of a shape given as Python ints.
struct ParsedShape<'py> {
    lengths: Axes<usize>,
    py: Python<'py>,
}

impl<'py> ParsedShape<'py> {
    fn py(&self) -> Python<'py> {
        self.py
    }
}

fn parse_shape<'py>(object: &Bound<'py, PyAny>) -> Option<ParsedShape<'py>> {
    let mut lengths = Axes::new();
    match object.cast_exact::<PyTuple>() {
        Ok(tuple) => {
            for item in tuple.iter_borrowed() {
                lengths.push(parse_length(&item)?);
            }
        }
        Err(_) => lengths.push(parse_length(object)?),
    }
    let bounded = |all: u64, &length: &usize| {
        all.checked_mul((length as u64).max(1)).filter(|&all| all <= MAX_FAST_CREATION_ELEMENTS)
    };
    lengths.iter().try_fold(1, bounded)?;
    (lengths.len() <= MAX_NDIM).then_some(ParsedShape { lengths, py: object.py() })
}

fn parse_length(object: &Bound<'_, PyAny>) -> Option<usize> {
    match object.is_exact_instance_of::<PyInt>() {
        true => usize::try_from(object.extract::<i64>().ok()?).ok(),
        false => None,
    }
}
