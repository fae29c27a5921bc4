//! Indices, ranks and keys from Python. What is none is an IndexError, as in NumPy.

use dappled_protocol::slice::Item;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice, PyTuple};

use crate::convert::{is_int, shown};

/// An index; one that does not fit in 64 bits is out of every range.
pub fn index(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    if !is_int(object) {
        let message = format!("an index must be an integer, not {}", shown(object));
        return Err(PyIndexError::new_err(message));
    }
    let too_large = |_| PyIndexError::new_err(format!("index {} is out of bounds", shown(object)));
    object.extract::<i64>().map_err(too_large)
}

/// One index an axis, as a tuple or list; a bare integer where there is one axis.
pub fn indices(object: &Bound<'_, PyAny>, axes: usize) -> PyResult<Vec<i64>> {
    if is_int(object) {
        return expect_axes(vec![index(object)?], axes);
    }
    let not_indices = |_| {
        PyIndexError::new_err(format!("expected a tuple of {axes} indices, not {}", shown(object)))
    };
    let mut found = Vec::new();
    for item in object.try_iter().map_err(not_indices)? {
        found.push(index(&item.map_err(not_indices)?)?);
        // One more than are wanted tells as much as all: an endless iterator ends here.
        if found.len() > axes {
            break;
        }
    }
    expect_axes(found, axes)
}

fn expect_axes(indices: Vec<i64>, axes: usize) -> PyResult<Vec<i64>> {
    match indices.len() {
        given if given == axes => Ok(indices),
        given => {
            let given = if given > axes { format!("more than {axes}") } else { given.to_string() };
            Err(PyIndexError::new_err(format!("{given} indices for an array of {axes} dimensions")))
        }
    }
}

/// A rank below `nprocs`.
pub fn rank(object: &Bound<'_, PyAny>, nprocs: u64) -> PyResult<u64> {
    let rank = index(object)?;
    match u64::try_from(rank) {
        Ok(found) if found < nprocs => Ok(found),
        _ => {
            let message = format!("rank {rank} is out of range for {nprocs} processes");
            Err(PyIndexError::new_err(message))
        }
    }
}

/// A key of NumPy's basic indexing: an int, slice, Ellipsis or None, or a tuple of them.
pub fn key(object: &Bound<'_, PyAny>) -> PyResult<Vec<Item>> {
    match object.cast::<PyTuple>() {
        Ok(items) => items.iter().map(|part| item(&part)).collect(),
        Err(_) => Ok(vec![item(object)?]),
    }
}

fn item(object: &Bound<'_, PyAny>) -> PyResult<Item> {
    if object.is_none() {
        return Ok(Item::NewAxis);
    }
    if object.is_instance_of::<PyEllipsis>() {
        return Ok(Item::Ellipsis);
    }
    match object.cast::<PySlice>() {
        Ok(slice) => slice_item(slice),
        Err(_) if is_int(object) => Ok(Item::Index(index(object)?)),
        Err(_) => Err(PyIndexError::new_err(format!(
            "only integers, slices (`:`), ellipsis (`...`) and numpy.newaxis (`None`) are valid \
             indices of a distribution, not {}",
            shown(object)
        ))),
    }
}

fn slice_item(slice: &Bound<'_, PySlice>) -> PyResult<Item> {
    let bound = |name: &str| -> PyResult<Option<i64>> {
        let bound = slice.getattr(name)?;
        if bound.is_none() { Ok(None) } else { clamped(&bound).map(Some) }
    };
    let item = Item::Slice(bound("start")?, bound("stop")?, bound("step")?);
    match item {
        Item::Slice(_, _, Some(0)) => Err(PyValueError::new_err("slice step cannot be zero")),
        item => Ok(item),
    }
}

/// Python cuts bounds and steps that are too large to the largest there are; so do we.
fn clamped(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    if !is_int(object) {
        let message = "slice indices must be integers or None or have an __index__ method";
        return Err(PyIndexError::new_err(message));
    }
    object.extract::<i64>().or_else(|_| Ok(if object.lt(0)? { -i64::MAX } else { i64::MAX }))
}
