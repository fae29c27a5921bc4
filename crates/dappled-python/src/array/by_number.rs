//! Rows of arrays in pieces by their numbers.

use dappled::graph::{Array, Found, Named, Values};
use dappled_sort::route::Wrong;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::class::NdArray;
use super::exclusive::exclusive;
use super::lending::Item;
use super::placement::made;
use crate::distribution::Distribution;

/// The first number that is out of range, the same on every rank.
type OutOfRange = Option<i64>;

/// Rows of an array in the order of numbers, where each rank has those of its numbers; or a number
/// that is out of range. `piece` has the bytes of this rank's rows, in blocks of rows. Collective.
#[pyfunction]
pub fn rows_by_number<'py>(
    array: &Bound<'py, NdArray>,
    rows: &Bound<'py, Distribution>,
    piece: PyReadonlyArray1<'py, u8>,
    numbers: PyReadonlyArray1<'py, i64>,
    target: &Bound<'py, Distribution>,
) -> PyResult<(Option<Bound<'py, NdArray>>, OutOfRange)> {
    let py = array.py();
    let (memory, item) = with_us(array)?;
    let [rows, target] = [rows, target].map(|one| of_memory(one, memory, item));
    let (piece, numbers) = (piece.as_slice()?, numbers.as_slice()?);
    let named = Named { rows: &rows, numbers };
    let act = || split(memory.rows_by_number(&named, piece, &target));
    let (found, wrong) = exclusive(py, usize::MAX, act)?;
    let found = found.map(|found| Bound::new(py, made(py, found, item)));
    Ok((found.transpose()?, wrong))
}

/// Writes a row for each number, or the same for all, in place: whether that was done, or a number that is
/// out of range. Collective.
#[pyfunction]
pub fn put_by_number<'py>(
    array: &Bound<'py, NdArray>,
    rows: &Bound<'py, Distribution>,
    numbers: PyReadonlyArray1<'py, i64>,
    values: PyReadonlyArray1<'py, u8>,
    same: bool,
) -> PyResult<(bool, OutOfRange)> {
    let (memory, item) = with_us(array)?;
    let rows = of_memory(rows, memory, item);
    let (numbers, values) = (numbers.as_slice()?, values.as_slice()?);
    let named = Named { rows: &rows, numbers };
    let values = if same { Values::Same(values) } else { Values::Each(values) };
    let act = || split(memory.put_by_number(&named, values));
    let (done, wrong) = exclusive(array.py(), usize::MAX, act)?;
    Ok((done.flatten().is_some(), wrong))
}

fn with_us<'a>(array: &'a Bound<'_, NdArray>) -> PyResult<(&'a Array, Item<'a>)> {
    array.get().memory().ok_or_else(|| PyTypeError::new_err("an array that NumPy holds"))
}

/// A distribution of the memory: that of items has the bytes of one as its last axis.
fn of_memory(
    distribution: &Bound<'_, Distribution>,
    memory: &Array,
    item: Item<'_>,
) -> dappled::protocol::Distribution {
    let inner = distribution.get().inner.clone();
    match (item, memory.shape().last()) {
        (Some(_), Some(&bytes)) => inner.with_trailing(bytes as u64),
        _ => inner,
    }
}

/// What was found, and what was wrong.
fn split<T>(found: Found<T>) -> Result<(Option<T>, OutOfRange), dappled::graph::GraphError> {
    Ok(match found? {
        Ok(found) => (Some(found), None),
        Err(Wrong(number)) => (None, Some(number)),
    })
}
