//! Sort, merge, argsort and counting of contiguous arrays, on all threads.

use dappled_sort::numpy_order::NumpyOrder;
use dappled_sort::sort_key::SortKey;
use dappled_sort::{merge, sort};
use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;

use super::dtype_dispatch::{dispatch_dtype, unsupported_dtype};
use crate::runtime::lock::run_on_pool;

type KeyArray<'py> = PyReadwriteArray1<'py, u64>;

/// Sorts values into `out`. `room` has one word per value.
#[pyfunction]
pub fn sort_values<'py>(
    values: &Bound<'py, PyAny>,
    mut room: KeyArray<'py>,
    out: &Bound<'py, PyAny>,
) -> PyResult<()> {
    for instantiation in [sort_values_of::<f64>, sort_values_of::<i64>, sort_values_of::<u64>] {
        if instantiation(values, &mut room, out)?.is_some() {
            return Ok(());
        }
    }
    Err(unsupported_dtype())
}

fn sort_values_of<'py, T: Element + SortKey>(
    values: &Bound<'py, PyAny>,
    room: &mut KeyArray<'py>,
    out: &Bound<'py, PyAny>,
) -> PyResult<Option<()>> {
    let py = values.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let mut out = out.extract::<PyReadwriteArray1<'py, T>>()?;
    let (values, room, out) = (values.as_slice()?, room.as_slice_mut()?, out.as_slice_mut()?);
    run_on_pool(py, out.len(), || {
        sort::sort(values, room, out);
        Ok(())
    })
    .map(Some)
}

/// Merges two sorted arrays into `out`; stable, with ties from the first array first.
#[pyfunction]
pub fn merge_sorted<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let wide = [
        merge_sorted_of::<f64>,
        merge_sorted_of::<i64>,
        merge_sorted_of::<f32>,
        merge_sorted_of::<i32>,
        merge_sorted_of::<u64>,
    ];
    let narrow = [
        merge_sorted_of::<u32>,
        merge_sorted_of::<i16>,
        merge_sorted_of::<u16>,
        merge_sorted_of::<i8>,
        merge_sorted_of::<u8>,
    ];
    dispatch_dtype(&[wide, narrow].concat(), |attempt| attempt(a, b, out))
}

fn merge_sorted_of<'py, T: Element + NumpyOrder>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
) -> PyResult<Option<()>> {
    let py = a.py();
    let Ok(a) = a.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let b = b.extract::<PyReadonlyArray1<'py, T>>()?;
    let mut out = out.extract::<PyReadwriteArray1<'py, T>>()?;
    let (a, b, out) = (a.as_slice()?, b.as_slice()?, out.as_slice_mut()?);
    run_on_pool(py, out.len(), || {
        merge::merge(a, b, out);
        Ok(())
    })
    .map(Some)
}

/// Scratch words, and the output of an argsort.
type ArgsortBuffers<'py> = (PyReadwriteArray1<'py, u64>, PyReadwriteArray1<'py, i64>);

/// Writes the stable argsort into `order`. `room` has four words per element.
#[pyfunction]
pub fn argsort<'py>(
    values: &Bound<'py, PyAny>,
    room: PyReadwriteArray1<'py, u64>,
    order: PyReadwriteArray1<'py, i64>,
) -> PyResult<()> {
    let attempts = [
        argsort_of::<f64>,
        argsort_of::<i64>,
        argsort_of::<f32>,
        argsort_of::<i32>,
        argsort_of::<u64>,
    ];
    let mut memory = (room, order);
    for attempt in [&attempts[..], &[argsort_of::<u32>]].concat() {
        if attempt(values, &mut memory)?.is_some() {
            return Ok(());
        }
    }
    Err(unsupported_dtype())
}

fn argsort_of<'py, T: Element + NumpyOrder>(
    values: &Bound<'py, PyAny>,
    (room, order): &mut ArgsortBuffers<'py>,
) -> PyResult<Option<()>> {
    let py = values.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let (values, room, order) = (values.as_slice()?, room.as_slice_mut()?, order.as_slice_mut()?);
    run_on_pool(py, values.len(), || {
        dappled_sort::argsort::argsort(values, room, order);
        Ok(())
    })
    .map(Some)
}

/// Returns the minimum and maximum of integers; None if there are none.
#[pyfunction(name = "extent")]
pub fn min_max(py: Python<'_>, values: PyReadonlyArray1<'_, i64>) -> PyResult<Option<(i64, i64)>> {
    let values = values.as_slice()?;
    run_on_pool(py, values.len(), || Ok(dappled_sort::bincount::min_max(values)))
}

/// Counts `length` consecutive integers from `first` on; all values must be among them.
#[pyfunction(name = "count_numbers")]
pub fn bincount<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, i64>,
    first: i64,
    length: usize,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let values = values.as_slice()?;
    let counts = run_on_pool(py, values.len(), || {
        Ok(dappled_sort::bincount::bincount(values, first, length))
    })?;
    Ok(PyArray1::from_vec(py, counts))
}

/// Writes consecutive integers from `first` on, each as often as its count.
///
/// The output is any unsigned integer dtype, whose bits are those of the signed one.
#[pyfunction(name = "spread_numbers")]
pub fn repeat_values<'py>(
    counts: PyReadonlyArray1<'py, i64>,
    first: i64,
    out: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let counts = counts.as_slice()?;
    let done = repeat_values_as(counts, first, |number| number as u64, out)?
        || repeat_values_as(counts, first, |number| number as u32, out)?
        || repeat_values_as(counts, first, |number| number as u16, out)?
        || repeat_values_as(counts, first, |number| number as u8, out)?;
    if done { Ok(()) } else { Err(unsupported_dtype()) }
}

fn repeat_values_as<'py, T: Element + Copy>(
    counts: &[i64],
    first: i64,
    of: impl Fn(i64) -> T + Copy + Send + Sync,
    out: &Bound<'py, PyAny>,
) -> PyResult<bool> {
    let Ok(mut values) = out.extract::<PyReadwriteArray1<'py, T>>() else { return Ok(false) };
    let values = values.as_slice_mut()?;
    run_on_pool(out.py(), values.len(), || {
        dappled_sort::bincount::expand_counts(counts, first, of, values);
        Ok(true)
    })
}
