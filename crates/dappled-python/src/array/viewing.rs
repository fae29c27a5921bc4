//! NumPy's functions that see the same elements in another way: the common case of each is a method
//! of the array. NumPy's own would make its view for nothing, as it is not one of our array.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple};

use super::call::Call;
use super::class::NdArray;

type Found<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// The method of this name of the first argument, if it is ours and there are no more arguments.
fn of_first<'py>(call: &Call<'_, 'py>, most: usize, name: &Bound<'py, PyString>) -> Found<'py> {
    if call.kwargs.is_some() || call.args.is_empty() || call.args.len() > most {
        return Ok(None);
    }
    let array = call.args.get_item(0)?;
    match array.is_exact_instance_of::<NdArray>() {
        true => array.call_method1(name, rest(call)).map(Some),
        false => Ok(None),
    }
}

/// The arguments but the first.
fn rest<'py>(call: &Call<'_, 'py>) -> Bound<'py, PyTuple> {
    call.args.get_slice(1, call.args.len())
}

pub fn ravel<'py>(call: &Call<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Found<'py> {
    of_first(call, 1, intern!(numpy.py(), "ravel"))
}

pub fn reshape<'py>(call: &Call<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Found<'py> {
    if call.args.len() == 2 { of_first(call, 2, intern!(numpy.py(), "reshape")) } else { Ok(None) }
}

pub fn transpose<'py>(call: &Call<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Found<'py> {
    of_first(call, 2, intern!(numpy.py(), "transpose"))
}

/// Of a matrix; of a row another function makes one.
pub fn diag<'py>(call: &Call<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Found<'py> {
    let first = call.args.iter().next();
    match first.is_some_and(|first| ndim(&first) == Some(2)) && call.args.len() <= 2 {
        true => diagonal(call, numpy),
        false => Ok(None),
    }
}

pub fn diagonal<'py>(call: &Call<'_, 'py>, numpy: &Bound<'py, PyAny>) -> Found<'py> {
    let known = rest(call).iter().all(|number| number.is_exact_instance_of::<PyInt>());
    if known { of_first(call, 4, intern!(numpy.py(), "diagonal")) } else { Ok(None) }
}

/// Of one array whose axes are put in another order: `ij->ji`.
pub fn einsum<'py>(call: &Call<'_, 'py>, _numpy: &Bound<'py, PyAny>) -> Found<'py> {
    if call.kwargs.is_some() || call.args.len() != 2 {
        return Ok(None);
    }
    let (subscripts, array) = (call.args.get_item(0)?, call.args.get_item(1)?);
    let (Ok(text), Some(ndim)) = (subscripts.cast_exact::<PyString>(), ndim(&array)) else {
        return Ok(None);
    };
    match axis_order(text.to_str()?, ndim) {
        Some(order) => array.call_method1(intern!(array.py(), "transpose"), (order,)).map(Some),
        None => Ok(None),
    }
}

/// Which axis becomes which, if subscripts say no more.
fn axis_order(subscripts: &str, ndim: usize) -> Option<Vec<usize>> {
    let (given, result) = subscripts.split_once("->")?;
    let is_once = |letter| given.matches(letter).count() == 1;
    let all_once = given.chars().all(|letter| letter.is_ascii_alphabetic() && is_once(letter));
    let order: Vec<usize> =
        result.chars().map(|letter| given.find(letter)).collect::<Option<_>>()?;
    let is_whole = (0..ndim).all(|axis| order.contains(&axis));
    (ndim > 0 && all_once && given.len() == ndim && order.len() == ndim && is_whole)
        .then_some(order)
}

/// The number of axes of an array of ours whose elements are numbers.
fn ndim(object: &Bound<'_, PyAny>) -> Option<usize> {
    Some(object.cast_exact::<NdArray>().ok()?.get().array()?.shape().len())
}
