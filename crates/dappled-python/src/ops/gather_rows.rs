//! Gather and scatter of rows of distributed arrays by global index.

use dappled::{Array, BoundsChecked, PutValues, RowIndices};
use dappled_sort::route::OutOfBoundsIndex;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::interop::buffer_export::OpaqueDType;
use crate::ndarray::class::{NdArray, not_native};
use crate::ndarray::distribution_methods::owned_array;
use crate::protocol::distribution::PyDistribution;
use crate::runtime::lock::run_locked;

/// The first index that is out of range, equal on all ranks.
type InvalidIndex = Option<i64>;

/// Gathers the rows of each rank's indices, or returns an index that is out of range. Collective.
///
/// `piece` has the bytes of this rank's rows, distributed in blocks of rows.
#[pyfunction(name = "rows_by_number")]
pub fn gather_rows<'py>(
    array: &Bound<'py, NdArray>,
    rows: &Bound<'py, PyDistribution>,
    piece: PyReadonlyArray1<'py, u8>,
    indices: PyReadonlyArray1<'py, i64>,
    target: &Bound<'py, PyDistribution>,
) -> PyResult<(Option<Bound<'py, NdArray>>, InvalidIndex)> {
    let py = array.py();
    let (memory, item) = native_memory(array)?;
    let [rows, target] =
        [rows, target].map(|distribution| memory_distribution(distribution, memory, item));
    let (piece, indices) = (piece.as_slice()?, indices.as_slice()?);
    let named = RowIndices { rows: &rows, indices };
    let act = || split_invalid(memory.take_rows(&named, piece, &target));
    let (gathered, invalid) = run_locked(py, usize::MAX, act)?;
    let gathered = gathered.map(|gathered| Bound::new(py, owned_array(py, gathered, item)));
    Ok((gathered.transpose()?, invalid))
}

/// Scatters a row per index, or one row to all, in place. Collective.
///
/// Returns whether rows were written, or an index that is out of range.
#[pyfunction(name = "put_by_number")]
pub fn scatter_rows<'py>(
    array: &Bound<'py, NdArray>,
    rows: &Bound<'py, PyDistribution>,
    indices: PyReadonlyArray1<'py, i64>,
    values: PyReadonlyArray1<'py, u8>,
    same: bool,
) -> PyResult<(bool, InvalidIndex)> {
    let (memory, item) = native_memory(array)?;
    let rows = memory_distribution(rows, memory, item);
    let (indices, values) = (indices.as_slice()?, values.as_slice()?);
    let named = RowIndices { rows: &rows, indices };
    let values = if same { PutValues::Broadcast(values) } else { PutValues::PerIndex(values) };
    let act = || split_invalid(memory.put_rows(&named, values));
    let (done, invalid) = run_locked(array.py(), usize::MAX, act)?;
    Ok((done.flatten().is_some(), invalid))
}

fn native_memory<'a>(array: &'a Bound<'_, NdArray>) -> PyResult<(&'a Array, OpaqueDType<'a>)> {
    array.get().memory().ok_or_else(not_native)
}

/// Returns the distribution of the memory: for an opaque dtype with the bytes as its last axis.
fn memory_distribution(
    distribution: &Bound<'_, PyDistribution>,
    memory: &Array,
    item: OpaqueDType<'_>,
) -> dappled::protocol::Distribution {
    let inner = distribution.get().inner.clone();
    match (item, memory.shape().last()) {
        (Some(_), Some(&bytes)) => inner.with_trailing(bytes as u64),
        _ => inner,
    }
}

/// Separates the result from the index that is out of range.
fn split_invalid<T>(
    result: BoundsChecked<T>,
) -> Result<(Option<T>, InvalidIndex), dappled::GraphError> {
    Ok(match result? {
        Ok(result) => (Some(result), None),
        Err(OutOfBoundsIndex(index)) => (None, Some(index)),
    })
}
