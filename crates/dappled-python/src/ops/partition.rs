//! Partition of values by splitters between ranks, and the local step after the all-to-all.

use dappled_sort::argsort::{self, ArgsortPart};
use dappled_sort::numpy_order::NumpyOrder;
use dappled_sort::range_partition::Splitters;
use numpy::{Element, PyReadonlyArray1, PyReadwriteArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::dtype_dispatch::{dispatch_dtype, unsupported_dtype};
use super::sort::ArgsortBuffers;
use crate::errors::internal_error;
use crate::interop::numpy_arrays::scratch;
use crate::runtime::lock::run_on_pool;

/// This rank's values, the global index of the first, and the splitters: values and global indices.
#[derive(FromPyObject)]
pub struct PartitionArguments<'py>(Bound<'py, PyAny>, i64, Bound<'py, PyAny>, Vec<i64>);

/// Values partition by partition, their offsets from the first, and the size of each partition.
type PartitionedValues<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<usize>);

/// Partitions values by the splitters.
#[pyfunction(name = "divided")]
pub fn partition_values(given: PartitionArguments<'_>) -> PyResult<PartitionedValues<'_>> {
    let attempts = [
        partition_values_of::<f64>,
        partition_values_of::<i64>,
        partition_values_of::<f32>,
        partition_values_of::<i32>,
    ];
    let attempts =
        [&attempts[..], &[partition_values_of::<u64>, partition_values_of::<u32>]].concat();
    dispatch_dtype(&attempts, |attempt| attempt(&given))
}

fn partition_values_of<'py, T: Element + NumpyOrder>(
    PartitionArguments(values, first, bounds, numbers): &PartitionArguments<'py>,
) -> PyResult<Option<PartitionedValues<'py>>> {
    let py = values.py();
    let Ok(values) = values.extract::<PyReadonlyArray1<'py, T>>() else { return Ok(None) };
    let room = (values.len(),).into_pyobject(py)?;
    let allocate = |kind| scratch(py, &room, kind)?.ok_or_else(unsupported_dtype);
    let (partitioned, offsets) = (allocate(&values.dtype())?, allocate(&numpy::dtype::<u32>(py))?);
    let bounds = parse_bounds::<T>(bounds, numbers)?;
    let mut memory: (PyReadwriteArray1<'py, T>, PyReadwriteArray1<'py, u32>) =
        (partitioned.extract()?, offsets.extract()?);
    let (values, values_out) = (values.as_slice()?, memory.0.as_slice_mut()?);
    let offsets_out = memory.1.as_slice_mut()?;
    let counts = run_on_pool(py, values.len(), || {
        let counts = bounds.counts(values, *first);
        bounds.partition(values, *first, &counts, values_out, offsets_out);
        Ok(counts)
    })?;
    drop(memory);
    Ok(Some((partitioned, offsets, counts)))
}

fn parse_bounds<T: Element + NumpyOrder>(
    bounds: &Bound<'_, PyAny>,
    numbers: &[i64],
) -> PyResult<Splitters> {
    let bounds = bounds.extract::<PyReadonlyArray1<'_, T>>()?;
    Ok(Splitters::new(bounds.as_slice()?.iter().copied().zip(numbers.iter().copied())))
}

/// Values received from a rank, their offsets from its first, and the global index of that first.
type ReceivedValues<'py> = (Bound<'py, PyAny>, PyReadonlyArray1<'py, u32>, u64);

/// Writes the global indices of received values in the order of the values, ties by index.
///
/// All indices are below `length`.
#[pyfunction(name = "argsort_parts")]
pub fn argsort_received<'py>(
    came: Vec<ReceivedValues<'py>>,
    length: usize,
    room: PyReadwriteArray1<'py, u64>,
    order: PyReadwriteArray1<'py, i64>,
) -> PyResult<()> {
    let attempts = [
        argsort_received_of::<f64>,
        argsort_received_of::<i64>,
        argsort_received_of::<f32>,
        argsort_received_of::<i32>,
        argsort_received_of::<u64>,
    ];
    let mut memory = (room, order);
    for attempt in [&attempts[..], &[argsort_received_of::<u32>]].concat() {
        if attempt(&came, length, &mut memory)?.is_some() {
            return Ok(());
        }
    }
    Err(unsupported_dtype())
}

fn argsort_received_of<'py, T: Element + NumpyOrder>(
    received: &[ReceivedValues<'py>],
    length: usize,
    (room, order): &mut ArgsortBuffers<'py>,
) -> PyResult<Option<()>> {
    let values_of_ranks =
        received.iter().map(|(values, _, _)| values.extract::<PyReadonlyArray1<'py, T>>());
    let Ok(values_of_ranks) = values_of_ranks.collect::<Result<Vec<_>, _>>() else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    for (values, (_, offsets, first)) in values_of_ranks.iter().zip(received) {
        let (values, offsets) = (values.as_slice()?, offsets.as_slice()?);
        if values.len() != offsets.len() {
            return Err(internal_error("received values and offsets differ in length"));
        }
        parts.push(ArgsortPart { values, first: *first, offsets: Some(offsets) });
    }
    let (py, room, order) = (room.py(), room.as_slice_mut()?, order.as_slice_mut()?);
    run_on_pool(py, order.len(), || {
        argsort::argsort_parts(&parts, length, room, order);
        Ok(())
    })
    .map(Some)
}
