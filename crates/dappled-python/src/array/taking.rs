//! Elements by places and by masks, on all threads: of NumPy's arrays in contiguous memory, and of ours.
//!
//! Of an element only its bytes matter: Python shows arrays as unsigned numbers, or complex ones of
//! 16 bytes.

use dappled_sort::take::OutOfRange;
use dappled_sort::{compact, put, take};
use num_complex::Complex64;
use numpy::{Element, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::class::{NdArray, result};
use super::exclusive::{exclusive, on_pool};

/// The first index that is out of range, counted from 0.
type Wrong = Option<usize>;

/// The first attempt that knows the type of the elements.
pub fn first_of<F, T>(attempts: &[F], attempt: impl Fn(&F) -> PyResult<Option<T>>) -> PyResult<T> {
    for one in attempts {
        if let Some(done) = attempt(one)? {
            return Ok(done);
        }
    }
    Err(unknown())
}

/// No attempt knows the type of the elements.
pub fn unknown() -> PyErr {
    PyTypeError::new_err("a type of elements that is not known here")
}

fn wrong(done: Result<(), OutOfRange>) -> Wrong {
    done.err().map(|OutOfRange(index)| index)
}

type Indices<'py> = PyReadonlyArray1<'py, i64>;
type Mask<'py> = PyReadonlyArray1<'py, bool>;

/// Writes rows of `source`, of so many elements each, into `out`; gives the first wrong index.
#[pyfunction]
pub fn take_rows<'py>(
    source: &Bound<'py, PyAny>,
    width: usize,
    at: Indices<'py>,
    out: &Bound<'py, PyAny>,
) -> PyResult<Wrong> {
    let attempts = [taken::<u64>, taken::<u32>, taken::<u8>, taken::<u16>, taken::<Complex64>];
    first_of(&attempts, |attempt| attempt(source, width, &at, out))
}

fn taken<'py, T: Element + Copy>(
    source: &Bound<'py, PyAny>,
    width: usize,
    at: &Indices<'py>,
    out: &Bound<'py, PyAny>,
) -> PyResult<Option<Wrong>> {
    let py = source.py();
    let Ok(source) = source.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let mut out = out.extract::<PyReadwriteArray1<'py, T>>()?;
    let (source, at, out) = (source.as_slice()?, at.as_slice()?, out.as_slice_mut()?);
    on_pool(py, at.len(), || Ok(wrong(take::take(source, width, at, out)))).map(Some)
}

/// Writes values, or the one there is, at their indices; gives the first wrong index, and then
/// nothing is written.
#[pyfunction]
pub fn put_items<'py>(
    target: &Bound<'py, PyAny>,
    at: Indices<'py>,
    values: &Bound<'py, PyAny>,
) -> PyResult<Wrong> {
    let attempts = [written::<u64>, written::<u32>, written::<u8>, written::<u16>];
    let attempts = [&attempts[..], &[written::<Complex64>]].concat();
    first_of(&attempts, |attempt| attempt(target, &at, values))
}

fn written<'py, T: Element + Copy>(
    target: &Bound<'py, PyAny>,
    at: &Indices<'py>,
    values: &Bound<'py, PyAny>,
) -> PyResult<Option<Wrong>> {
    let py = target.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let mut target = target.extract::<PyReadwriteArray1<'py, T>>()?;
    let (target, at, values) = (target.as_slice_mut()?, at.as_slice()?, values.as_slice()?);
    on_pool(py, at.len(), || Ok(wrong(put::put(target, at, values)))).map(Some)
}

/// How many elements a mask chooses.
#[pyfunction]
pub fn count_chosen(py: Python<'_>, mask: Mask<'_>) -> PyResult<usize> {
    let mask = mask.as_slice()?;
    on_pool(py, mask.len(), || Ok(compact::count(mask)))
}

/// What a mask of its shape chooses of an array, in C order; None where it is not known how. Its
/// values are computed when they are needed. Collective.
#[pyfunction]
pub fn chosen<'py>(
    array: &Bound<'py, NdArray>,
    mask: &Bound<'py, NdArray>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let (Some(array), Some(mask)) = (array.get().array(), mask.get().array()) else {
        return Ok(None);
    };
    let found = exclusive(py, array.view().len(), || array.chosen_by(mask))?;
    found.map(|found| result(py, found)).transpose()
}

/// Writes the places that a mask chooses into `out`, which has room for just those.
#[pyfunction]
pub fn places<'py>(
    py: Python<'py>,
    mask: Mask<'py>,
    mut out: PyReadwriteArray1<'py, i64>,
) -> PyResult<()> {
    let (mask, out) = (mask.as_slice()?, out.as_slice_mut()?);
    on_pool(py, mask.len(), || {
        compact::places(mask, out);
        Ok(())
    })
}
