//! `put` of rows that other ranks sent; for repeated rows the last one wins.

use rayon::prelude::*;

use crate::config::{MAX_TARGET_PARTS, PREFETCH_DISTANCE};
use crate::put::put_local;
use crate::route::read_position;
use crate::{prefetch, wrap_index};

/// Writes rows of `width` bytes at encoded positions.
///
/// A single row is written at all positions.
///
/// ```
/// let mut target = *b"abcd";
/// let positions = [2, 0, 0, 0, 0, 0, 0, 0]; // 2 and 0, in four bytes each
/// dappled_sort::put_received::put_rows(&mut target, 1, &positions, 4, b"xy");
/// assert_eq!(&target, b"ybxd");
/// ```
pub fn put_rows(
    target: &mut [u8],
    width: usize,
    positions: &[u8],
    position_bytes: usize,
    values: &[u8],
) {
    match position_bytes {
        4 => put_parallel(
            target,
            width,
            positions.as_chunks::<4>().0.iter().map(read_position),
            values,
        ),
        _ => put_parallel(
            target,
            width,
            positions.as_chunks::<8>().0.iter().map(read_position),
            values,
        ),
    }
}

/// Writes the rows whose global indices fall into the target. The target starts at row `start` of
/// `length` rows; indices outside of it are skipped.
pub fn put_local_rows(
    target: &mut [u8],
    width: usize,
    indices: &[i64],
    (start, length): (usize, usize),
    values: &[u8],
) {
    match width {
        1 => put_local_fixed::<1>(target, (start, length), indices, values),
        2 => put_local_fixed::<2>(target, (start, length), indices, values),
        4 => put_local_fixed::<4>(target, (start, length), indices, values),
        8 => put_local_fixed::<8>(target, (start, length), indices, values),
        16 => put_local_fixed::<16>(target, (start, length), indices, values),
        _ => {
            let local = |&index: &i64| wrap_index(index, length).wrapping_sub(start);
            put_parallel(target, width, indices.iter().map(local), values);
        }
    }
}

fn put_local_fixed<const N: usize>(
    target: &mut [u8],
    of: (usize, usize),
    indices: &[i64],
    values: &[u8],
) {
    put_local(target.as_chunks_mut::<N>().0, of, indices, values.as_chunks::<N>().0);
}

/// Splits the target among threads; each prefetches its positions before writing.
fn put_parallel(
    target: &mut [u8],
    width: usize,
    positions: impl ExactSizeIterator<Item = usize> + Clone + Sync,
    values: &[u8],
) {
    let parts = rayon::current_num_threads().min(MAX_TARGET_PARTS);
    let rows = (target.len() / width).div_ceil(parts).max(1);
    target.par_chunks_mut(rows * width).enumerate().for_each(|(part, target)| {
        let positions =
            positions.clone().map(|position| position.wrapping_sub(part.wrapping_mul(rows)));
        match width {
            1 => put_fixed_width::<1>(target, positions, values),
            2 => put_fixed_width::<2>(target, positions, values),
            4 => put_fixed_width::<4>(target, positions, values),
            8 => put_fixed_width::<8>(target, positions, values),
            16 => put_fixed_width::<16>(target, positions, values),
            _ => put_any_width(target, width, positions, values),
        }
    });
}

/// Rows outside the part go to a dummy row, which is cheaper than a mispredicted branch.
fn put_fixed_width<const N: usize>(
    target: &mut [u8],
    positions: impl Iterator<Item = usize> + Clone,
    values: &[u8],
) {
    let (rows, _) = target.as_chunks_mut::<N>();
    let mut dummy = [0; N];
    let mut upcoming = positions.clone().skip(PREFETCH_DISTANCE);
    let mut put = |position: usize, value: &[u8; N]| {
        if let Some(upcoming) = upcoming.next() {
            prefetch::prefetch(rows, upcoming);
        }
        *rows.get_mut(position).unwrap_or(&mut dummy) = *value;
    };
    match values.as_chunks::<N>().0 {
        [value] => positions.for_each(|position| put(position, value)),
        values => positions.zip(values).for_each(|(position, value)| put(position, value)),
    }
}

fn put_any_width(
    target: &mut [u8],
    width: usize,
    positions: impl Iterator<Item = usize>,
    values: &[u8],
) {
    let rows = target.len() / width;
    let one = values.len() == width;
    for (row, position) in positions.enumerate() {
        if position < rows {
            let from = if one { 0 } else { row };
            target[position * width..][..width].copy_from_slice(&values[from * width..][..width]);
        }
    }
}
