//! `take`: reads elements or rows at indices.

use dappled_base::interrupt;
use rayon::prelude::*;

use crate::config::{MAX_CACHED_BYTES, PARALLEL_CHUNK_ELEMENTS, PREFETCH_DISTANCE};
use crate::{prefetch, wrap_index};

/// The position of the first index that is out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutOfBoundsPosition(pub usize);

/// Writes the row of `width` elements at each index into `out`.
///
/// ```
/// let mut out = [0; 4];
/// dappled_sort::take::take(&[1, 2, 3, 4, 5, 6], 2, &[-1, 0], &mut out).unwrap();
/// assert_eq!(out, [5, 6, 1, 2]);
/// ```
pub fn take<T: Copy + Send + Sync>(
    from: &[T],
    width: usize,
    indices: &[i64],
    out: &mut [T],
) -> Result<(), OutOfBoundsPosition> {
    if width == 0 {
        return Ok(());
    }
    let rows = (PARALLEL_CHUNK_ELEMENTS / width).max(1);
    let chunks = out.par_chunks_mut(rows * width).zip(indices.par_chunks(rows)).enumerate();
    let out_of_bounds = chunks.filter_map(|(chunk, (out, indices))| {
        interrupt::check();
        let bad = match width {
            1 => take_elements(from, indices, out),
            _ => take_rows(from, width, indices, out),
        };
        bad.map(|index| OutOfBoundsPosition(chunk * rows + index))
    });
    out_of_bounds.min().map_or(Ok(()), Err)
}

/// Checks all indices first.
fn take_elements<T: Copy>(from: &[T], indices: &[i64], out: &mut [T]) -> Option<usize> {
    let out_of_bounds = first_out_of_bounds(indices, from.len());
    match size_of_val(from) {
        _ if out_of_bounds.is_some() => {}
        ..=MAX_CACHED_BYTES => indices
            .iter()
            .zip(out)
            .for_each(|(&index, out)| *out = from[wrap_index(index, from.len())]),
        _ => take_prefetched(from, indices, out),
    }
    out_of_bounds
}

fn take_prefetched<T: Copy>(from: &[T], indices: &[i64], out: &mut [T]) {
    for (position, (&index, out)) in indices.iter().zip(out).enumerate() {
        if let Some(&upcoming) = indices.get(position + PREFETCH_DISTANCE) {
            prefetch::prefetch(from, wrap_index(upcoming, from.len()));
        }
        *out = from[wrap_index(index, from.len())];
    }
}

/// Returns the position of the first index out of bounds. Optimised for there being none.
pub(crate) fn first_out_of_bounds(indices: &[i64], length: usize) -> Option<usize> {
    let is_out_of_bounds = |index: i64| wrap_index(index, length) >= length;
    let any = indices.iter().fold(false, |any, &index| any | is_out_of_bounds(index));
    if any { indices.iter().position(|&index| is_out_of_bounds(index)) } else { None }
}

fn take_rows<T: Copy>(from: &[T], width: usize, indices: &[i64], out: &mut [T]) -> Option<usize> {
    let length = from.len() / width;
    for (position, (&index, out)) in indices.iter().zip(out.chunks_exact_mut(width)).enumerate() {
        let row = wrap_index(index, length);
        if row >= length {
            return Some(position);
        }
        out.copy_from_slice(&from[row * width..][..width]);
    }
    None
}
