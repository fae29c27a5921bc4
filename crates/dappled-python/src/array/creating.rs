//! New arrays, in the common case: from a shape, from numbers, from an array.

use dappled::graph::{Array, Session};
use dappled_kernels::{Axes, DType, Element, Scalar, Weak};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyList, PyTuple};

use super::call::{Call, is_number, unless_none};
use super::class::NdArray;
use super::conversion::{MOST_AXES, share, wrap};
use super::copies::copied;
use super::exclusive::fallible;
use super::given::{Argument, is_generic};
use super::session::session;
use super::shapes::owned;
use super::{dtypes, scalars};

type Made<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// More elements than this are no common case: their number, and that of their bytes, is small.
const MOST: u64 = 1 << 40;
/// Lists inside lists deeper than this are not looked through.
const DEPTH: usize = 3;

pub fn zeros<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Made<'py> {
    filled(call, 0)
}

pub fn ones<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Made<'py> {
    filled(call, 1)
}

pub fn zeros_like<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Made<'py> {
    filled_like(call, 0)
}

pub fn ones_like<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Made<'py> {
    filled_like(call, 1)
}

pub fn empty<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Made<'py> {
    with_shape(call, unwritten)
}

pub fn empty_like<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Made<'py> {
    with_shape_of(call, unwritten)
}

fn filled<'py>(call: &Call<'_, 'py>, number: i8) -> Made<'py> {
    with_shape(call, |py, shape, dtype| made(py, shape, whole(number, dtype)))
}

fn filled_like<'py>(call: &Call<'_, 'py>, number: i8) -> Made<'py> {
    with_shape_of(call, |py, shape, dtype| made(py, shape, whole(number, dtype)))
}

/// Makes an array of a shape and a dtype that were asked for.
fn with_shape<'py>(
    call: &Call<'_, 'py>,
    make: impl FnOnce(Python<'py>, &[usize], DType) -> Made<'py>,
) -> Made<'py> {
    let Some([Some(shape), dtype]) = call.named(["shape", "dtype"], 2)? else { return Ok(None) };
    let dtype = match unless_none(dtype) {
        None => Some(DType::Float64),
        Some(dtype) => dtypes::known(&dtype)?,
    };
    let (Some(shape), Some(dtype)) = (plain_shape(&shape), dtype) else { return Ok(None) };
    make(shape.py(), &shape.lengths, dtype)
}

/// The same like an array of ours that lies in C order, and is whole: a new one lies where another does.
fn with_shape_of<'py>(
    call: &Call<'_, 'py>,
    make: impl FnOnce(Python<'py>, &[usize], DType) -> Made<'py>,
) -> Made<'py> {
    if call.args.len() != 1 || call.kwargs.is_some() {
        return Ok(None);
    }
    let like = call.args.get_borrowed_item(0)?;
    let Ok(like) = like.cast_exact::<NdArray>() else { return Ok(None) };
    match like.get().array() {
        Some(array) if array.view().is_contiguous() && array.is_whole() => {
            make(like.py(), array.shape(), array.dtype())
        }
        _ => Ok(None),
    }
}

/// What nobody has written yet; large ones, which may be written all at once and never be read, are zeros
/// until then, and take no memory.
fn unwritten<'py>(py: Python<'py>, shape: &[usize], dtype: DType) -> Made<'py> {
    let session = session(py)?;
    let few = shape.iter().product::<usize>() <= session.limits().copied();
    match few && session.fabric().size() == 1 {
        true => {
            let array = fallible(|| Array::unwritten(session, dtype, shape))?;
            owned(py, array).map(Some)
        }
        false => made(py, shape, whole(0, dtype)),
    }
}

pub fn full<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Made<'py> {
    let found = call.named(["shape", "fill_value", "dtype"], 3)?;
    let Some([Some(shape), Some(value), dtype]) = found else { return Ok(None) };
    let (Some(shape), Some((weak, value))) = (plain_shape(&shape), scalars::weak(&value)) else {
        return Ok(None);
    };
    let value = match unless_none(dtype) {
        None => Some(value),
        Some(dtype) => dtypes::known(&dtype)?.and_then(|dtype| in_dtype(weak, value, dtype)),
    };
    value.map_or(Ok(None), |value| made(shape.py(), &shape.lengths, value))
}

/// A number in a dtype that has it.
fn in_dtype(weak: Weak, value: Scalar, dtype: DType) -> Option<Scalar> {
    let fits = !Argument::Weak(weak, value).overflows(dtype);
    let kept = value.dtype().kind() <= dtype.kind();
    (fits && kept).then(|| value.cast_quietly(dtype)).flatten()
}

/// A small whole number of a dtype.
fn whole(number: i8, dtype: DType) -> Scalar {
    match number {
        0 => Scalar::from_bytes(dtype, &[0; 16][..dtype.itemsize()]),
        _ => Scalar::new(number).cast(dtype),
    }
}

fn made<'py>(py: Python<'py>, shape: &[usize], value: Scalar) -> Made<'py> {
    let session = session(py)?;
    owned(py, fallible(|| Array::filled(session, shape, value))?).map(Some)
}

/// From numbers, by NumPy: `arange`, `linspace`. On several ranks each makes its part.
pub fn by_numpy<'py>(call: &Call<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Made<'py> {
    let alone = session(numpy.py())?.fabric().size() == 1;
    match alone && call.is_plain() && !call.says_where()? {
        true => fresh(numpy.call(call.args, call.kwargs)?),
        false => Ok(None),
    }
}

/// Small ones by NumPy.
pub fn eye<'py>(call: &Call<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Made<'py> {
    let limit = session(numpy.py())?.limits().copied() as u64;
    let small = |length: Bound<'py, PyAny>| {
        length.extract::<u64>().is_ok_and(|length| length.saturating_mul(length) <= limit)
    };
    let mut numbers = call.args.iter().filter(|number| number.is_exact_instance_of::<PyInt>());
    match call.kwargs.is_none() && !call.args.is_empty() && numbers.all(small) {
        true => by_numpy(call, numpy),
        false => Ok(None),
    }
}

/// What NumPy has made, and nobody else has.
pub fn fresh(made: Bound<'_, PyAny>) -> Made<'_> {
    match made.cast_into_exact::<PyUntypedArray>() {
        Ok(array) => Ok(Some(wrap(&array, true)?.into_any())),
        Err(_) => Ok(None),
    }
}

pub fn array<'py>(call: &Call<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Made<'py> {
    let Some([Some(object), dtype]) = call.named(["object", "dtype"], 2)? else { return Ok(None) };
    match object.cast_exact::<NdArray>() {
        Ok(_) if unless_none(dtype.clone()).is_some() => Ok(None),
        Ok(array) => copied(array, 'K').map(Some),
        Err(_) => from_numbers(call, numpy, &object),
    }
}

pub fn asarray<'py>(call: &Call<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Made<'py> {
    let Some([Some(object), dtype]) = call.named(["a", "dtype"], 2)? else { return Ok(None) };
    let dtype = unless_none(dtype);
    let as_it_is = dtype.is_none();
    if let Ok(own) = object.cast_exact::<NdArray>() {
        let has = match (dtype, own.get().array()) {
            (Some(dtype), Some(array)) => dtypes::known(&dtype)? == Some(array.dtype()),
            (dtype, _) => dtype.is_none(),
        };
        return Ok(has.then_some(object));
    }
    match object.cast_exact::<PyUntypedArray>() {
        Ok(array) if as_it_is => Ok(Some(share(array)?.into_any())),
        Ok(_) => Ok(None),
        Err(_) => from_numbers(call, numpy, &object),
    }
}

/// A list of numbers, or an array of NumPy's to be copied.
fn from_numbers<'py>(
    call: &Call<'_, 'py>,
    numpy: &Bound<'py, PyAny>,
    object: &Bound<'py, PyAny>,
) -> Made<'py> {
    if call.args.len() == 1
        && call.kwargs.is_none()
        && let Ok(list) = object.cast_exact::<PyList>()
        && let Some(array) = from_list(list)?
    {
        return owned(list.py(), array).map(Some);
    }
    let plain = object.is_exact_instance_of::<PyUntypedArray>() || are_numbers(object, DEPTH)?;
    if plain { fresh(numpy.call(call.args, call.kwargs)?) } else { Ok(None) }
}

/// A list of floats, or of ints that 64 bits have; None of others.
fn from_list(list: &Bound<'_, PyList>) -> PyResult<Option<Array>> {
    let (session, shape) = (session(list.py())?, [list.len()]);
    let Ok(first) = list.get_item(0) else { return Ok(None) };
    if first.is_exact_instance_of::<PyFloat>() {
        let float = |item: Bound<'_, PyAny>| Some(item.cast_exact::<PyFloat>().ok()?.value());
        let numbers: Option<Vec<f64>> = list.iter().map(float).collect();
        return Ok(numbers.and_then(|numbers| small(session, &shape, &numbers)));
    }
    let int = |item: Bound<'_, PyAny>| {
        item.is_exact_instance_of::<PyInt>().then(|| item.extract::<i64>().ok()).flatten()
    };
    let numbers: Option<Vec<i64>> = list.iter().map(int).collect();
    Ok(numbers.and_then(|numbers| small(session, &shape, &numbers)))
}

/// An array of these elements, if it is small: large ones may lie in pieces.
fn small<T: Element>(session: &Session, shape: &[usize], elements: &[T]) -> Option<Array> {
    let few = elements.len() <= session.limits().at_once;
    let whole = || session.replicates(shape, size_of::<T>());
    (few && whole()).then(|| Array::of_small(session, shape, elements))
}

/// `arange` of Python's ints; None for others.
fn int_range<'py>(call: &Call<'_, 'py>) -> PyResult<Option<Array>> {
    let session = session(call.args.py())?;
    let mut given = [0, 0, 1];
    if call.kwargs.is_some() || !(1..=3).contains(&call.args.len()) {
        return Ok(None);
    }
    // With one argument, that is where it stops.
    let first = usize::from(call.args.len() == 1);
    for (place, item) in given[first..].iter_mut().zip(call.args.iter_borrowed()) {
        match item.is_exact_instance_of::<PyInt>().then(|| item.extract::<i32>()) {
            Some(Ok(number)) => *place = i64::from(number),
            _ => return Ok(None),
        }
    }
    let [start, stop, step] = given;
    let most = session.limits().at_once as i64;
    let count = if step == 0 { most + 1 } else { (stop - start + step - step.signum()) / step };
    if !(1..=most).contains(&count) {
        return Ok(None);
    }
    // None is too large, as all were given in 32 bits; to look at each would take most of the time.
    let number = |at: i64| start.wrapping_add(at.wrapping_mul(step));
    let numbers: Vec<i64> = (0..count).map(number).collect();
    Ok(small(session, &[numbers.len()], &numbers))
}

/// `arange`: small ones of ints here, others by NumPy.
pub fn arange<'py>(call: &Call<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Made<'py> {
    match int_range(call)? {
        Some(array) => owned(numpy.py(), array).map(Some),
        None => by_numpy(call, numpy),
    }
}

fn are_numbers(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    if is_number(object) {
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
    is_generic(object)
}

/// A shape of Python's ints.
struct Shape<'py> {
    lengths: Axes<usize>,
    py: Python<'py>,
}

impl<'py> Shape<'py> {
    fn py(&self) -> Python<'py> {
        self.py
    }
}

fn plain_shape<'py>(object: &Bound<'py, PyAny>) -> Option<Shape<'py>> {
    let mut lengths = Axes::new();
    match object.cast_exact::<PyTuple>() {
        Ok(tuple) => {
            for item in tuple.iter_borrowed() {
                lengths.push(plain_length(&item)?);
            }
        }
        Err(_) => lengths.push(plain_length(object)?),
    }
    let bounded = |all: u64, &length: &usize| {
        all.checked_mul((length as u64).max(1)).filter(|&all| all <= MOST)
    };
    lengths.iter().try_fold(1, bounded)?;
    (lengths.len() <= MOST_AXES).then_some(Shape { lengths, py: object.py() })
}

fn plain_length(object: &Bound<'_, PyAny>) -> Option<usize> {
    match object.is_exact_instance_of::<PyInt>() {
        true => usize::try_from(object.extract::<i64>().ok()?).ok(),
        false => None,
    }
}
