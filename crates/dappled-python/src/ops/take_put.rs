//! Take, put and mask operations on all threads.
//!
//! Only the size of an element matters: Python passes views with an unsigned integer dtype, or
//! complex128 for 16 bytes.

use dappled_sort::take::OutOfBoundsPosition;
use dappled_sort::{put, take};
use num_complex::Complex64;
use numpy::{Element, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;

use super::dtype_dispatch::dispatch_dtype;
use crate::ndarray::class::{NdArray, to_result};
use crate::runtime::lock::{run_locked, run_on_pool};

/// The position of the first index that is out of range.
type FirstInvalid = Option<usize>;

fn invalid_position(done: Result<(), OutOfBoundsPosition>) -> FirstInvalid {
    done.err().map(|OutOfBoundsPosition(index)| index)
}

type IndexArray<'py> = PyReadonlyArray1<'py, i64>;
type MaskArray<'py> = PyReadonlyArray1<'py, bool>;

/// Copies rows of `width` elements by index into `out`; returns the first invalid position.
#[pyfunction]
pub fn take_rows<'py>(
    source: &Bound<'py, PyAny>,
    width: usize,
    at: IndexArray<'py>,
    out: &Bound<'py, PyAny>,
) -> PyResult<FirstInvalid> {
    let attempts = [
        take_rows_of::<u64>,
        take_rows_of::<u32>,
        take_rows_of::<u8>,
        take_rows_of::<u16>,
        take_rows_of::<Complex64>,
    ];
    dispatch_dtype(&attempts, |attempt| attempt(source, width, &at, out))
}

fn take_rows_of<'py, T: Element + Copy>(
    source: &Bound<'py, PyAny>,
    width: usize,
    at: &IndexArray<'py>,
    out: &Bound<'py, PyAny>,
) -> PyResult<Option<FirstInvalid>> {
    let py = source.py();
    let Ok(source) = source.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let mut out = out.extract::<PyReadwriteArray1<'py, T>>()?;
    let (source, at, out) = (source.as_slice()?, at.as_slice()?, out.as_slice_mut()?);
    run_on_pool(py, at.len(), || Ok(invalid_position(take::take(source, width, at, out)))).map(Some)
}

/// Writes values, or a single value, by index; returns the first invalid position.
///
/// Nothing is written if an index is invalid.
#[pyfunction]
pub fn put_items<'py>(
    target: &Bound<'py, PyAny>,
    at: IndexArray<'py>,
    values: &Bound<'py, PyAny>,
) -> PyResult<FirstInvalid> {
    let attempts =
        [put_items_of::<u64>, put_items_of::<u32>, put_items_of::<u8>, put_items_of::<u16>];
    let attempts = [&attempts[..], &[put_items_of::<Complex64>]].concat();
    dispatch_dtype(&attempts, |attempt| attempt(target, &at, values))
}

fn put_items_of<'py, T: Element + Copy>(
    target: &Bound<'py, PyAny>,
    at: &IndexArray<'py>,
    values: &Bound<'py, PyAny>,
) -> PyResult<Option<FirstInvalid>> {
    let py = target.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let mut target = target.extract::<PyReadwriteArray1<'py, T>>()?;
    let (target, at, values) = (target.as_slice_mut()?, at.as_slice()?, values.as_slice()?);
    run_on_pool(py, at.len(), || Ok(invalid_position(put::put(target, at, values)))).map(Some)
}

/// Counts the true elements of a mask.
#[pyfunction(name = "count_chosen")]
pub fn count_true(py: Python<'_>, mask: MaskArray<'_>) -> PyResult<usize> {
    let mask = mask.as_slice()?;
    run_on_pool(py, mask.len(), || Ok(dappled_sort::nonzero::count_nonzero(mask)))
}

/// Selects elements by a mask of the array's shape, in C order, as a deferred operation.
///
/// Returns None if that is not native. Collective.
#[pyfunction(name = "chosen")]
pub fn compress<'py>(
    array: &Bound<'py, NdArray>,
    mask: &Bound<'py, NdArray>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let (Some(array), Some(mask)) = (array.get().array(), mask.get().array()) else {
        return Ok(None);
    };
    let selection = run_locked(py, array.view().len(), || array.select_by_mask(mask))?;
    selection.map(|selection| to_result(py, selection)).transpose()
}

/// Writes the indices of the true elements of a mask into `out`, which has exactly their number.
#[pyfunction(name = "places")]
pub fn nonzero<'py>(
    py: Python<'py>,
    mask: MaskArray<'py>,
    mut out: PyReadwriteArray1<'py, i64>,
) -> PyResult<()> {
    let (mask, out) = (mask.as_slice()?, out.as_slice_mut()?);
    run_on_pool(py, mask.len(), || {
        dappled_sort::nonzero::nonzero(mask, out);
        Ok(())
    })
}
