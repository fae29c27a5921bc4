//! Values divided among ranks by ranges of their order, and put in order where they come to.

use dappled_sorting::divide::Bounds;
use dappled_sorting::order::Key;
use dappled_sorting::rank::{self, Part};
use numpy::{Element, PyReadonlyArray1, PyReadwriteArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::conversion::scratch;
use super::exclusive::exclusive;
use super::sorting::Memory;
use super::taking::{first_of, unknown};

/// This rank's values, the number of the first one, and the bounds between ranges: values and numbers.
#[derive(FromPyObject)]
pub struct Given<'py>(Bound<'py, PyAny>, i64, Bound<'py, PyAny>, Vec<i64>);

/// Values, and how far from the first each stood.
type Range<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The values of each range, and how far from the first they stand; of this rank's own range, only how
/// many they are.
#[pyfunction]
pub fn divided<'py>(given: Given<'py>, own: usize) -> PyResult<(Vec<Range<'py>>, usize)> {
    let attempts = [in_ranges::<f64>, in_ranges::<i64>, in_ranges::<f32>, in_ranges::<i32>];
    let attempts = [&attempts[..], &[in_ranges::<u64>, in_ranges::<u32>]].concat();
    first_of(&attempts, |attempt| attempt(&given, own))
}

type Divided<'py> = (Vec<Range<'py>>, usize);

fn in_ranges<'py, T: Element + Key>(
    Given(values, first, bounds, numbers): &Given<'py>,
    own: usize,
) -> PyResult<Option<Divided<'py>>> {
    let py = values.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let (kind, values) = (values.dtype(), values.as_slice()?);
    let bounds = between::<T>(bounds, numbers)?;
    let counts = exclusive(py, values.len(), || Ok(bounds.counts(values, *first)))?;
    let offsets = numpy::dtype::<u32>(py);
    let mut ranges = Vec::new();
    for (range, &count) in counts.iter().enumerate() {
        let room = (if range == own { 0 } else { count },).into_pyobject(py)?;
        let made = |kind| scratch(py, &room, kind)?.ok_or_else(unknown);
        ranges.push((made(&kind)?, made(&offsets)?));
    }
    let mut arrays = ranges.iter().map(writeable::<T>).collect::<PyResult<Vec<_>>>()?;
    let slices =
        arrays.iter_mut().map(|(one, other)| Ok((one.as_slice_mut()?, other.as_slice_mut()?)));
    let mut slices = slices.collect::<PyResult<Vec<(&mut [T], &mut [u32])>>>()?;
    exclusive(py, values.len(), || {
        bounds.divide(values, *first, &mut slices);
        Ok(())
    })?;
    drop(arrays);
    let own = counts.get(own).copied().unwrap_or(0);
    Ok(Some((ranges, own)))
}

type Writeable<'py, T> = (PyReadwriteArray1<'py, T>, PyReadwriteArray1<'py, u32>);

fn writeable<'py, T: Element>((one, other): &Range<'py>) -> PyResult<Writeable<'py, T>> {
    Ok((one.extract()?, other.extract()?))
}

fn between<T: Element + Key>(bounds: &Bound<'_, PyAny>, numbers: &[i64]) -> PyResult<Bounds> {
    let bounds = bounds.extract::<PyReadonlyArray1<'_, T>>()?;
    Ok(Bounds::new(bounds.as_slice()?.iter().copied().zip(numbers.iter().copied())))
}

/// What a rank has sent: values, how far from its first each stood, and the number of that.
type Came<'py> = (Bound<'py, PyAny>, PyReadonlyArray1<'py, u32>, u64);

/// Writes the numbers of elements in the order of their values, of equal ones the smallest first: of this
/// rank's own in a range, and of those that came; all numbers are below `length`.
#[pyfunction]
pub fn argsort_parts<'py>(
    given: Given<'py>,
    own: usize,
    came: Vec<Came<'py>>,
    length: usize,
    room: PyReadwriteArray1<'py, u64>,
    order: PyReadwriteArray1<'py, i64>,
) -> PyResult<()> {
    let attempts = [ranked::<f64>, ranked::<i64>, ranked::<f32>, ranked::<i32>, ranked::<u64>];
    let mut memory = (room, order);
    for attempt in [&attempts[..], &[ranked::<u32>]].concat() {
        if attempt(&given, own, &came, length, &mut memory)?.is_some() {
            return Ok(());
        }
    }
    Err(unknown())
}

fn ranked<'py, T: Element + Key>(
    Given(values, first, bounds, numbers): &Given<'py>,
    own: usize,
    came: &[Came<'py>],
    length: usize,
    (room, order): &mut Memory<'py>,
) -> PyResult<Option<()>> {
    let py = values.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let bounds = between::<T>(bounds, numbers)?;
    let theirs = came.iter().map(|(values, _, _)| values.extract::<PyReadonlyArray1<'py, T>>());
    let theirs = theirs.collect::<Result<Vec<_>, _>>()?;
    let mut parts = vec![Part { values: values.as_slice()?, first: *first as u64, offsets: None }];
    for (values, (_, offsets, first)) in theirs.iter().zip(came) {
        let (values, offsets) = (values.as_slice()?, offsets.as_slice()?);
        if values.len() != offsets.len() {
            return Err(PyValueError::new_err("values without their places"));
        }
        parts.push(Part { values, first: *first, offsets: Some(offsets) });
    }
    let (room, order) = (room.as_slice_mut()?, order.as_slice_mut()?);
    exclusive(py, order.len(), || {
        rank::argsort_parts(&parts, &bounds, own, length, room, order);
        Ok(())
    })
    .map(Some)
}
