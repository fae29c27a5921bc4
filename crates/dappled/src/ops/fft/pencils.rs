//! Transforms along several axes of a distributed array by pencil decomposition.
//!
//! Each rank transforms its piece along the axes that are local. The array is then redistributed so
//! that other axes are local. The result keeps its distribution, so that a forward and an inverse
//! transform redistribute twice, not four times.

use dappled_fabric::{keep, take_buffer};
use dappled_kernels::{Buffer, View, thread_count};
use dappled_protocol::Distribution;

use super::local::transform_bytes;
use super::one_dimensional::transform_lines;
use super::{FftKind, FftStep, OPERATION, block_ranges};
use crate::array::Array;
use crate::config::FFT_ROW_ELEMENTS_PER_THREAD;
use crate::error::Result;
use crate::error::RunError;
use crate::run::collective;
use crate::session::Session;
use crate::view::byte_range;

/// Transforms an array along the axes of all steps. Collective.
pub(super) fn transform_all(array: &Array, steps: &[FftStep]) -> Result<Array> {
    commuting_groups(steps).into_iter().try_fold(array.clone(), transform_group)
}

/// Groups of consecutive steps that commute: complex ones along different axes.
fn commuting_groups(steps: &[FftStep]) -> Vec<&[FftStep]> {
    let is_alike = |a: &FftStep, b: &FftStep| a.kind == b.kind && a.kind == FftKind::Complex;
    let has_repeated_axis = |group: &[FftStep]| {
        group.iter().enumerate().any(|(at, step)| group[..at].iter().any(|s| s.axis == step.axis))
    };
    steps
        .chunk_by(is_alike)
        .flat_map(|group| match has_repeated_axis(group) {
            true => group.chunks(1),
            false => group.chunks(group.len()),
        })
        .collect()
}

fn transform_group(array: Array, steps: &[FftStep]) -> Result<Array> {
    let (mut array, mut remaining) = (array, steps.to_vec());
    while !remaining.is_empty() {
        array = in_regular_blocks(&array)?;
        let grid = array.distribution()?.grid_shape();
        let (local, distributed): (Vec<FftStep>, Vec<FftStep>) =
            remaining.iter().partition(|step| grid[step.axis] == 1);
        if !local.is_empty() {
            array = match distributed.is_empty() || !has_local_rows(&array)? {
                true => transform_local_axes(&array, &local)?,
                false => transform_rows_to_columns(&array, &local[0])?,
            };
            remaining = distributed;
            continue;
        }
        let axes: Vec<usize> = remaining.iter().map(|step| step.axis).collect();
        match pencil_distribution(array.session(), array.shape(), &axes) {
            Some(pencils) => array = array.redistribute(&pencils)?,
            None => {
                let last = remaining.pop().expect("a step remains");
                array = transform_lines(&array, &last)?;
            }
        }
    }
    Ok(array)
}

/// Redistributes an array to blocks of equal size, unless it has them.
fn in_regular_blocks(array: &Array) -> Result<Array> {
    if array.is_replicated() {
        return Ok(array.clone());
    }
    let is_regular = |distribution: &Distribution| {
        regular_blocks(distribution, array.shape()).is_some_and(|regular| regular == *distribution)
    };
    match array.distribution() {
        Ok(distribution) if is_regular(&distribution) => Ok(array.clone()),
        _ => array.redistribute(&array.session().block_distribution(array.shape())),
    }
}

/// Blocks of equal size of a shape, on the process grid of a distribution.
fn regular_blocks(distribution: &Distribution, shape: &[usize]) -> Option<Distribution> {
    let kinds: String =
        distribution.dist().chars().map(|kind| if kind == 'n' { 'n' } else { 'b' }).collect();
    let shape: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let spec = Distribution::spec(&shape).dist(&kinds).nprocs(distribution.nprocs());
    match kinds.chars().all(|kind| kind == 'n') {
        true => spec.build().ok(),
        false => spec.grid_shape(&distribution.grid_shape()).build().ok(),
    }
}

/// Transforms each rank's piece along local axes.
fn transform_local_axes(array: &Array, steps: &[FftStep]) -> Result<Array> {
    let session = array.session();
    let distribution = array.distribution()?;
    let (mut buffer, mut view) = piece(array, &distribution)?;
    let mut shape = array.shape().to_vec();
    for step in steps {
        let bytes = buffer.read().map_err(RunError::from)?;
        let transformed = transform_bytes(session, &bytes[byte_range(&view)], &view, step)?;
        drop(bytes);
        (buffer, view) = transformed;
        shape = step.output_shape(&shape);
    }
    let result = regular_blocks(&distribution, &shape)
        .expect("the blocks of the other axes are those of the input");
    Ok(Array::from_owned_piece(session, result, buffer, view))
}

/// This rank's contiguous piece of an array.
pub(crate) fn piece(array: &Array, distribution: &Distribution) -> Result<(Buffer, View)> {
    if !array.is_replicated() {
        return array.contiguous_local_part(distribution);
    }
    let array = match array.view().is_contiguous() {
        true => array.clone(),
        false => array.cast_copy(array.dtype())?,
    };
    Ok((array.local_buffer()?, array.view().clone()))
}

/// The distribution in which as many of the axes as possible are local; `None` if none can be.
pub(crate) fn pencil_distribution(
    session: &Session,
    shape: &[usize],
    axes: &[usize],
) -> Option<Distribution> {
    let ranks = session.fabric().size();
    let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    (0..axes.len()).find_map(|first| {
        let is_local = |axis: usize| axes[first..].contains(&axis);
        let cells: u64 = (0..shape.len()).filter(|&a| !is_local(a)).map(|a| lengths[a]).product();
        let kind = |axis| if is_local(axis) { 'n' } else { 'b' };
        let kinds: String = (0..shape.len()).map(kind).collect();
        (cells >= ranks && kinds.contains('b'))
            .then(|| Distribution::spec(&lengths).dist(&kinds).nprocs(ranks).build().ok())
            .flatten()
    })
}

/// Returns true if ranks hold whole rows of a matrix with at least as many columns as ranks.
fn has_local_rows(array: &Array) -> Result<bool> {
    let ranks = array.session().fabric().size();
    let has_rows = array.shape().len() == 2 && array.distribution()?.grid_shape() == [ranks, 1];
    Ok(has_rows && ranks > 1 && array.shape()[1] as u64 >= ranks)
}

/// Transforms the rows of a matrix and redistributes it by columns. Collective.
///
/// A few rows are transformed at a time, so that they are in the cache when they are copied into
/// the messages.
fn transform_rows_to_columns(array: &Array, step: &FftStep) -> Result<Array> {
    let session = array.session();
    let (buffer, view) = piece(array, &array.distribution()?)?;
    let (rows, width) = (view.shape[0], step.output_length());
    let dtype = step.output_dtype(view.dtype);
    let item = dtype.itemsize();
    let columns = block_ranges(session, width);
    let mut messages: Vec<Vec<u8>> =
        columns.iter().map(|range| take_buffer(rows * range.len() * item)).collect();
    let chunk = (thread_count() * FFT_ROW_ELEMENTS_PER_THREAD / view.shape[1].max(1)).max(1);
    let input = buffer.read().map_err(RunError::from)?;
    for first in (0..rows).step_by(chunk) {
        let part = view.slice_axis(0, first, 1, chunk.min(rows - first));
        let (transformed, _) = transform_bytes(session, &input[byte_range(&part)], &part, step)?;
        let bytes = transformed.read().map_err(RunError::from)?;
        for (row, values) in bytes.chunks_exact(width * item).take(part.shape[0]).enumerate() {
            for (message, range) in messages.iter_mut().zip(&columns) {
                let size = range.len() * item;
                message[(first + row) * size..][..size]
                    .copy_from_slice(&values[range.start * item..range.end * item]);
            }
        }
        drop(bytes);
        session.buffer_pool().recycle(transformed);
    }
    drop(input);
    let received = collective::all_to_all_bytes(session, OPERATION, messages)?;
    let shape = [array.shape()[0], columns[session.fabric().rank() as usize].len()];
    let result = View::c_order(dtype, &shape);
    let target = session.buffer_pool().allocate(result.len() * item, &result);
    let mut out = target.write().map_err(RunError::from)?;
    let mut next = 0;
    for rows in received {
        out[next..next + rows.len()].copy_from_slice(&rows);
        next += rows.len();
        keep(rows);
    }
    drop(out);
    let lengths = [array.shape()[0] as u64, width as u64];
    let by_columns = Distribution::spec(&lengths).dist("nb").nprocs(session.fabric().size());
    let by_columns = by_columns.build().expect("every shape can be distributed by columns");
    Ok(Array::from_owned_piece(session, by_columns, target, result))
}
