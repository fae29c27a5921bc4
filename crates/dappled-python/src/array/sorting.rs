//! Elements of NumPy's arrays by their order and number: contiguous memory, on all threads.

use dappled_sort::order::Key;
use dappled_sort::{count, histogram, merge, rank, select};
use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;

use super::exclusive::on_pool;
use super::taking::{first_of, unknown};

/// Merges two sorted arrays into `out`; of what is equal, the first array's comes first.
#[pyfunction]
pub fn merge_sorted<'py>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let wide = [merged::<f64>, merged::<i64>, merged::<f32>, merged::<i32>, merged::<u64>];
    let narrow = [merged::<u32>, merged::<i16>, merged::<u16>, merged::<i8>, merged::<u8>];
    first_of(&[wide, narrow].concat(), |attempt| attempt(a, b, out))
}

fn merged<'py, T: Element + Key>(
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
) -> PyResult<Option<()>> {
    let py = a.py();
    let Ok(a) = a.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let b = b.extract::<PyReadonlyArray1<'py, T>>()?;
    let mut out = out.extract::<PyReadwriteArray1<'py, T>>()?;
    let (a, b, out) = (a.as_slice()?, b.as_slice()?, out.as_slice_mut()?);
    on_pool(py, out.len(), || {
        merge::merge(a, b, out);
        Ok(())
    })
    .map(Some)
}

/// Memory for words, and for the order that is found.
pub(super) type Memory<'py> = (PyReadwriteArray1<'py, u64>, PyReadwriteArray1<'py, i64>);

/// Writes the places of elements in their order; of equal ones, the first first. `room` is for four
/// words for each.
#[pyfunction]
pub fn argsort<'py>(
    values: &Bound<'py, PyAny>,
    room: PyReadwriteArray1<'py, u64>,
    order: PyReadwriteArray1<'py, i64>,
) -> PyResult<()> {
    let attempts = [ranked::<f64>, ranked::<i64>, ranked::<f32>, ranked::<i32>, ranked::<u64>];
    let mut memory = (room, order);
    for attempt in [&attempts[..], &[ranked::<u32>]].concat() {
        if attempt(values, &mut memory)?.is_some() {
            return Ok(());
        }
    }
    Err(unknown())
}

fn ranked<'py, T: Element + Key>(
    values: &Bound<'py, PyAny>,
    (room, order): &mut Memory<'py>,
) -> PyResult<Option<()>> {
    let py = values.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let (values, room, order) = (values.as_slice()?, room.as_slice_mut()?, order.as_slice_mut()?);
    on_pool(py, values.len(), || {
        rank::argsort(values, room, order);
        Ok(())
    })
    .map(Some)
}

/// How many elements come before a range, how many are NaN, and those in the range.
#[pyfunction]
pub fn within<'py>(
    values: &Bound<'py, PyAny>,
    low: &Bound<'py, PyAny>,
    high: &Bound<'py, PyAny>,
) -> PyResult<(usize, usize, Bound<'py, PyAny>)> {
    let attempts = [found::<f64>, found::<f32>, found::<i64>, found::<i32>, found::<u64>];
    first_of(&attempts, |attempt| attempt(values, low, high))
}

type Found<'py> = (usize, usize, Bound<'py, PyAny>);

fn found<'py, T>(
    values: &Bound<'py, PyAny>,
    low: &Bound<'py, PyAny>,
    high: &Bound<'py, PyAny>,
) -> PyResult<Option<Found<'py>>>
where
    T: Element + Key + for<'a> FromPyObject<'a, 'py>,
{
    let py = values.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let (Ok(low), Ok(high)) = (low.extract::<T>(), high.extract::<T>()) else { return Ok(None) };
    let values = values.as_slice()?;
    let within = on_pool(py, values.len(), || Ok(select::within(values, low, high)))?;
    Ok(Some((within.before, within.nans, PyArray1::from_vec(py, within.found).into_any())))
}

/// The least and the greatest of whole numbers; None of none.
#[pyfunction]
pub fn extent(py: Python<'_>, values: PyReadonlyArray1<'_, i64>) -> PyResult<Option<(i64, i64)>> {
    let values = values.as_slice()?;
    on_pool(py, values.len(), || Ok(count::extent(values)))
}

/// The least and the greatest; None if there is none, or one that is no number.
#[pyfunction]
pub fn extent_of_floats(
    py: Python<'_>,
    values: PyReadonlyArray1<'_, f64>,
) -> PyResult<Option<(f64, f64)>> {
    let values = values.as_slice()?;
    on_pool(py, values.len(), || Ok(histogram::extent(values)))
}

/// How often each of so many numbers occurs, from `first` on; none is beyond.
#[pyfunction]
pub fn count_numbers<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, i64>,
    first: i64,
    length: usize,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let values = values.as_slice()?;
    let counts = on_pool(py, values.len(), || Ok(count::count(values, first, length)))?;
    Ok(PyArray1::from_vec(py, counts))
}

/// Writes numbers in order, each as often as it is counted, the first of them being `first`: as
/// unsigned ones of any size, which have the bits of the others.
#[pyfunction]
pub fn spread_numbers<'py>(
    counts: PyReadonlyArray1<'py, i64>,
    first: i64,
    out: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let counts = counts.as_slice()?;
    let done = spread_as(counts, first, |number| number as u64, out)?
        || spread_as(counts, first, |number| number as u32, out)?
        || spread_as(counts, first, |number| number as u16, out)?
        || spread_as(counts, first, |number| number as u8, out)?;
    if done { Ok(()) } else { Err(unknown()) }
}

fn spread_as<'py, T: Element + Copy>(
    counts: &[i64],
    first: i64,
    of: impl Fn(i64) -> T + Copy + Send + Sync,
    out: &Bound<'py, PyAny>,
) -> PyResult<bool> {
    let Ok(mut values) = out.extract::<PyReadwriteArray1<'py, T>>() else { return Ok(false) };
    let values = values.as_slice_mut()?;
    on_pool(out.py(), values.len(), || {
        count::spread(counts, first, of, values);
        Ok(true)
    })
}

/// How many values fall between edges that are equally far apart.
#[pyfunction]
pub fn count_between<'py>(
    py: Python<'py>,
    values: PyReadonlyArray1<'py, f64>,
    edges: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (values, edges) = (values.as_slice()?, edges.as_slice()?);
    let counts = on_pool(py, values.len(), || Ok(histogram::histogram(values, edges)))?;
    Ok(PyArray1::from_vec(py, counts))
}
