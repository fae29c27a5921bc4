//! Sorting by value buckets, on one rank or several.

use dappled_sort::sort::{self, BucketedKeys};
use dappled_sort::sort_key::SortKey;
use numpy::{Element, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;

use super::dtype_dispatch::{dispatch_dtype, unsupported_dtype};
use crate::errors::internal_error;
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

/// Writes the keys of values bucket by bucket, each thread for its part of the values.
///
/// The buckets depend on the samples and the total number of values of all ranks. Returns the
/// starts of the buckets among the keys, and the end of the last, for each part.
#[pyfunction(name = "deal")]
pub fn bucket_values<'py>(
    samples: &Bound<'py, PyAny>,
    length: usize,
    values: &Bound<'py, PyAny>,
    mut keys: KeyArray<'py>,
) -> PyResult<Vec<Vec<usize>>> {
    for instantiation in [bucket_values_of::<f64>, bucket_values_of::<i64>, bucket_values_of::<u64>]
    {
        if let Some(starts) = instantiation(samples, length, values, &mut keys)? {
            return Ok(starts);
        }
    }
    Err(unsupported_dtype())
}

fn bucket_values_of<'py, T: Element + SortKey>(
    samples: &Bound<'py, PyAny>,
    length: usize,
    values: &Bound<'py, PyAny>,
    keys: &mut KeyArray<'py>,
) -> PyResult<Option<Vec<Vec<usize>>>> {
    let py = values.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let samples = samples.extract::<PyReadonlyArray1<'py, T>>()?;
    let (samples, values, keys) = (samples.as_slice()?, values.as_slice()?, keys.as_slice_mut()?);
    let parts = run_on_pool(py, values.len(), || {
        let parts = sort::distribute(samples, values, sort::bucket_count(length), keys);
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

/// Keys of consecutive buckets, and the starts of the buckets relative to any origin.
type BucketArrays<'py> = (PyReadonlyArray1<'py, u64>, PyReadonlyArray1<'py, i64>);

/// Sorts the values whose keys are in the same buckets into `out`.
#[pyfunction(name = "gather_dealt")]
pub fn merge_buckets<'py>(parts: Vec<BucketArrays<'py>>, out: &Bound<'py, PyAny>) -> PyResult<()> {
    let attempts = [merge_buckets_of::<f64>, merge_buckets_of::<i64>, merge_buckets_of::<u64>];
    dispatch_dtype(&attempts, |attempt| attempt(&parts, out))
}

fn merge_buckets_of<'py, T: Element + SortKey>(
    parts: &[BucketArrays<'py>],
    out: &Bound<'py, PyAny>,
) -> PyResult<Option<()>> {
    let py = out.py();
    let Ok(mut out) = out.extract::<PyReadwriteArray1<'py, T>>() else { return Ok(None) };
    let buckets = parts.iter().map(bucketed).collect::<PyResult<Vec<_>>>()?;
    let out = out.as_slice_mut()?;
    if buckets.iter().map(|part| part.keys.len()).sum::<usize>() != out.len() {
        return Err(internal_error("the output does not have one element for each key"));
    }
    run_on_pool(py, out.len(), || {
        sort::sort_buckets(&buckets, out);
        Ok(())
    })
    .map(Some)
}

fn bucketed<'a>((keys, starts): &'a BucketArrays<'_>) -> PyResult<BucketedKeys<'a>> {
    let (keys, starts) = (keys.as_slice()?, starts.as_slice()?);
    let first = starts.first().copied().unwrap_or(0);
    Ok(BucketedKeys { keys, starts: starts.iter().map(|start| (start - first) as usize).collect() })
}
