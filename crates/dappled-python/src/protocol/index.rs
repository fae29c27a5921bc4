//! Parsing of indices, ranks and keys; invalid ones raise `IndexError`, as in NumPy.

use dappled_protocol::slice::KeyItem;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice, PyTuple};

use super::convert::{is_int, repr_or_class};

/// Parses an index. An integer beyond 64 bits is out of every range.
pub fn parse_index(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    if !is_int(object) {
        let message = format!("an index must be an integer, not {}", repr_or_class(object));
        return Err(PyIndexError::new_err(message));
    }
    let too_large =
        |_| PyIndexError::new_err(format!("index {} is out of bounds", repr_or_class(object)));
    object.extract::<i64>().map_err(too_large)
}

/// Parses one index per axis; an int is enough for one axis.
pub fn parse_indices(object: &Bound<'_, PyAny>, axes: usize) -> PyResult<Vec<i64>> {
    if is_int(object) {
        return expect_axes(vec![parse_index(object)?], axes);
    }
    let not_indices = |_| {
        PyIndexError::new_err(format!(
            "expected a tuple of {axes} indices, not {}",
            repr_or_class(object)
        ))
    };
    let mut parsed = Vec::new();
    for item in object.try_iter().map_err(not_indices)? {
        parsed.push(parse_index(&item.map_err(not_indices)?)?);
        // One index too many is enough to raise, and ends an infinite iterator.
        if parsed.len() > axes {
            break;
        }
    }
    expect_axes(parsed, axes)
}

fn expect_axes(indices: Vec<i64>, axes: usize) -> PyResult<Vec<i64>> {
    match indices.len() {
        count if count == axes => Ok(indices),
        count => {
            let count = if count > axes { format!("more than {axes}") } else { count.to_string() };
            Err(PyIndexError::new_err(format!("{count} indices for an array of {axes} dimensions")))
        }
    }
}

/// Parses a rank below `nprocs`.
pub fn parse_rank(object: &Bound<'_, PyAny>, nprocs: u64) -> PyResult<u64> {
    let rank = parse_index(object)?;
    match u64::try_from(rank) {
        Ok(rank) if rank < nprocs => Ok(rank),
        _ => {
            let message = format!("rank {rank} is out of range for {nprocs} processes");
            Err(PyIndexError::new_err(message))
        }
    }
}

/// Parses a key of basic indexing: an int, slice, Ellipsis or None, or a tuple of these.
pub fn parse_key(object: &Bound<'_, PyAny>) -> PyResult<Vec<KeyItem>> {
    match object.cast::<PyTuple>() {
        Ok(items) => items.iter().map(|part| parse_key_item(&part)).collect(),
        Err(_) => Ok(vec![parse_key_item(object)?]),
    }
}

fn parse_key_item(object: &Bound<'_, PyAny>) -> PyResult<KeyItem> {
    if object.is_none() {
        return Ok(KeyItem::NewAxis);
    }
    if object.is_instance_of::<PyEllipsis>() {
        return Ok(KeyItem::Ellipsis);
    }
    match object.cast::<PySlice>() {
        Ok(slice) => parse_slice(slice),
        Err(_) if is_int(object) => Ok(KeyItem::Index(parse_index(object)?)),
        Err(_) => Err(PyIndexError::new_err(format!(
            "only integers, slices (`:`), ellipsis (`...`) and numpy.newaxis (`None`) are valid \
             indices of a distribution, not {}",
            repr_or_class(object)
        ))),
    }
}

fn parse_slice(slice: &Bound<'_, PySlice>) -> PyResult<KeyItem> {
    let bound = |name: &str| -> PyResult<Option<i64>> {
        let bound = slice.getattr(name)?;
        if bound.is_none() { Ok(None) } else { parse_clamped_int(&bound).map(Some) }
    };
    let item = KeyItem::Slice(bound("start")?, bound("stop")?, bound("step")?);
    match item {
        KeyItem::Slice(_, _, Some(0)) => Err(PyValueError::new_err("slice step cannot be zero")),
        item => Ok(item),
    }
}

/// Parses a slice bound or step, clamped to 64 bits as Python does.
fn parse_clamped_int(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    if !is_int(object) {
        let message = "slice indices must be integers or None or have an __index__ method";
        return Err(PyIndexError::new_err(message));
    }
    object.extract::<i64>().or_else(|_| Ok(if object.lt(0)? { -i64::MAX } else { i64::MAX }))
}
