//! Values sorted in ranges of their order, to which they are dealt first: here, or on several ranks.

use dappled_sort::exact::Exact;
use dappled_sort::sort::{self, Dealt};
use numpy::{Element, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::exclusive::on_pool;
use super::taking::{first_of, unknown};

type Words<'py> = PyReadwriteArray1<'py, u64>;

/// Writes values in order into `out`. `room` is for a word for each.
#[pyfunction]
pub fn sort_values<'py>(
    values: &Bound<'py, PyAny>,
    mut room: Words<'py>,
    out: &Bound<'py, PyAny>,
) -> PyResult<()> {
    for attempt in [sorted::<f64>, sorted::<i64>, sorted::<u64>] {
        if attempt(values, &mut room, out)?.is_some() {
            return Ok(());
        }
    }
    Err(unknown())
}

fn sorted<'py, T: Element + Exact>(
    values: &Bound<'py, PyAny>,
    room: &mut Words<'py>,
    out: &Bound<'py, PyAny>,
) -> PyResult<Option<()>> {
    let py = values.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let mut out = out.extract::<PyReadwriteArray1<'py, T>>()?;
    let (values, room, out) = (values.as_slice()?, room.as_slice_mut()?, out.as_slice_mut()?);
    on_pool(py, out.len(), || {
        sort::sort(values, room, out);
        Ok(())
    })
    .map(Some)
}

/// Writes the keys of values by ranges, which depend on samples and on how many values all ranks have:
/// each thread those of a part. Where each range starts among the keys, and the last ends, by parts.
#[pyfunction]
pub fn deal<'py>(
    samples: &Bound<'py, PyAny>,
    length: usize,
    values: &Bound<'py, PyAny>,
    mut keys: Words<'py>,
) -> PyResult<Vec<Vec<usize>>> {
    for attempt in [dealt::<f64>, dealt::<i64>, dealt::<u64>] {
        if let Some(starts) = attempt(samples, length, values, &mut keys)? {
            return Ok(starts);
        }
    }
    Err(unknown())
}

fn dealt<'py, T: Element + Exact>(
    samples: &Bound<'py, PyAny>,
    length: usize,
    values: &Bound<'py, PyAny>,
    keys: &mut Words<'py>,
) -> PyResult<Option<Vec<Vec<usize>>>> {
    let py = values.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let samples = samples.extract::<PyReadonlyArray1<'py, T>>()?;
    let (samples, values, keys) = (samples.as_slice()?, values.as_slice()?, keys.as_slice_mut()?);
    let parts = on_pool(py, values.len(), || {
        let parts = sort::deal(samples, values, sort::ranges(length), keys);
        Ok(parts.into_iter().map(|part| part.starts).collect::<Vec<_>>())
    })?;
    let mut before = 0;
    let from = |starts: Vec<usize>| {
        let from = before;
        before += starts.last().copied().unwrap_or(0);
        starts.into_iter().map(|start| from + start).collect()
    };
    Ok(Some(parts.into_iter().map(from).collect()))
}

/// Keys of some ranges that follow one another, and where each starts, counted from anywhere.
type Part<'py> = (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, i64>);

/// Writes the values whose keys were dealt into the same ranges in order into `out`.
#[pyfunction]
pub fn gather_dealt<'py>(parts: Vec<Part<'py>>, out: &Bound<'py, PyAny>) -> PyResult<()> {
    let attempts = [gathered::<f64>, gathered::<i64>, gathered::<u64>];
    first_of(&attempts, |attempt| attempt(&parts, out))
}

fn gathered<'py, T: Element + Exact>(
    parts: &[Part<'py>],
    out: &Bound<'py, PyAny>,
) -> PyResult<Option<()>> {
    let py = out.py();
    let Ok(mut out) = out.extract::<PyReadwriteArray1<'py, T>>() else { return Ok(None) };
    let dealt = parts.iter().map(part).collect::<PyResult<Vec<_>>>()?;
    let out = out.as_slice_mut()?;
    if dealt.iter().map(|part| part.keys.len()).sum::<usize>() != out.len() {
        return Err(PyValueError::new_err("keys, and room for other than as many values"));
    }
    on_pool(py, out.len(), || {
        sort::gather(&dealt, out);
        Ok(())
    })
    .map(Some)
}

fn part<'a>((keys, starts): &'a Part<'_>) -> PyResult<Dealt<'a>> {
    let (keys, starts) = (keys.as_slice()?, starts.as_slice()?);
    let first = starts.first().copied().unwrap_or(0);
    Ok(Dealt { keys, starts: starts.iter().map(|start| (start - first) as usize).collect() })
}
