//! Values divided among ranks by ranges of their order, and put in order where they come to.

use dappled_sort::divide::Bounds;
use dappled_sort::order::Key;
use dappled_sort::rank::{self, Part};
use numpy::{Element, PyReadonlyArray1, PyReadwriteArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::conversion::scratch;
use super::exclusive::on_pool;
use super::sorting::Memory;
use super::taking::{first_of, unknown};

/// This rank's values, the number of the first one, and the bounds between ranges: values and numbers.
#[derive(FromPyObject)]
pub struct Given<'py>(Bound<'py, PyAny>, i64, Bound<'py, PyAny>, Vec<i64>);

/// Values range by range, how far from the first each stood, and how many each range has.
type Divided<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<usize>);

/// The values of each range, and how far from the first they stand.
#[pyfunction]
pub fn divided(given: Given<'_>) -> PyResult<Divided<'_>> {
    let attempts = [in_ranges::<f64>, in_ranges::<i64>, in_ranges::<f32>, in_ranges::<i32>];
    let attempts = [&attempts[..], &[in_ranges::<u64>, in_ranges::<u32>]].concat();
    first_of(&attempts, |attempt| attempt(&given))
}

fn in_ranges<'py, T: Element + Key>(
    Given(values, first, bounds, numbers): &Given<'py>,
) -> PyResult<Option<Divided<'py>>> {
    let py = values.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let room = (values.len(),).into_pyobject(py)?;
    let made = |kind| scratch(py, &room, kind)?.ok_or_else(unknown);
    let (found, offsets) = (made(&values.dtype())?, made(&numpy::dtype::<u32>(py))?);
    let bounds = between::<T>(bounds, numbers)?;
    let mut memory: (PyReadwriteArray1<'py, T>, PyReadwriteArray1<'py, u32>) =
        (found.extract()?, offsets.extract()?);
    let (values, found_here) = (values.as_slice()?, memory.0.as_slice_mut()?);
    let offsets_here = memory.1.as_slice_mut()?;
    let counts = on_pool(py, values.len(), || {
        let counts = bounds.counts(values, *first);
        bounds.divide(values, *first, &counts, found_here, offsets_here);
        Ok(counts)
    })?;
    drop(memory);
    Ok(Some((found, offsets, counts)))
}

fn between<T: Element + Key>(bounds: &Bound<'_, PyAny>, numbers: &[i64]) -> PyResult<Bounds> {
    let bounds = bounds.extract::<PyReadonlyArray1<'_, T>>()?;
    Ok(Bounds::new(bounds.as_slice()?.iter().copied().zip(numbers.iter().copied())))
}

/// What a rank has sent: values, how far from its first each stood, and the number of that.
type Came<'py> = (Bound<'py, PyAny>, PyReadonlyArray1<'py, u32>, u64);

/// Writes the numbers of elements in the order of their values, of equal ones the smallest first; all
/// numbers are below `length`.
#[pyfunction]
pub fn argsort_parts<'py>(
    came: Vec<Came<'py>>,
    length: usize,
    room: PyReadwriteArray1<'py, u64>,
    order: PyReadwriteArray1<'py, i64>,
) -> PyResult<()> {
    let attempts = [ranked::<f64>, ranked::<i64>, ranked::<f32>, ranked::<i32>, ranked::<u64>];
    let mut memory = (room, order);
    for attempt in [&attempts[..], &[ranked::<u32>]].concat() {
        if attempt(&came, length, &mut memory)?.is_some() {
            return Ok(());
        }
    }
    Err(unknown())
}

fn ranked<'py, T: Element + Key>(
    came: &[Came<'py>],
    length: usize,
    (room, order): &mut Memory<'py>,
) -> PyResult<Option<()>> {
    let theirs = came.iter().map(|(values, _, _)| values.extract::<PyReadonlyArray1<'py, T>>());
    let Ok(theirs) = theirs.collect::<Result<Vec<_>, _>>() else { return Ok(None) };
    let mut parts = Vec::new();
    for (values, (_, offsets, first)) in theirs.iter().zip(came) {
        let (values, offsets) = (values.as_slice()?, offsets.as_slice()?);
        if values.len() != offsets.len() {
            return Err(PyValueError::new_err("values without their places"));
        }
        parts.push(Part { values, first: *first, offsets: Some(offsets) });
    }
    let (py, room, order) = (room.py(), room.as_slice_mut()?, order.as_slice_mut()?);
    on_pool(py, order.len(), || {
        rank::argsort_parts(&parts, length, room, order);
        Ok(())
    })
    .map(Some)
}
