//! Counting of integers, as in `numpy.bincount`, and the second half of a counting sort.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::config::PARALLEL_CHUNK_ELEMENTS;

/// Returns the smallest and largest value; None for an empty slice.
pub fn min_max(values: &[i64]) -> Option<(i64, i64)> {
    let wider = |(low, high): (i64, i64), &value: &i64| (low.min(value), high.max(value));
    let ends = |values: &[i64]| values.iter().fold((i64::MAX, i64::MIN), wider);
    let widest = |one: (i64, i64), other: (i64, i64)| (one.0.min(other.0), one.1.max(other.1));
    values.par_chunks(PARALLEL_CHUNK_ELEMENTS).map(ends).reduce_with(widest)
}

/// Counts how often each of the integers `first..first + length` occurs. Every value must be in
/// that range.
///
/// ```
/// assert_eq!(dappled_sort::bincount::bincount(&[5, 7, 5], 5, 3), [2, 0, 1]);
/// ```
pub fn bincount(values: &[i64], first: i64, length: usize) -> Vec<i64> {
    // Each thread has its own counters, so use fewer threads if there are more counters than
    // values.
    let max_threads = values.len().div_ceil(length.max(PARALLEL_CHUNK_ELEMENTS));
    let threads = rayon::current_num_threads().min(max_threads).max(values.len() >> 32);
    let size = values.len().div_ceil(threads.max(1)).max(1);
    let counted: Vec<Vec<u32>> =
        values.par_chunks(size).map(|values| count_chunk(values, first, length)).collect();
    let mut total: Vec<i64> = memory::zeros(length);
    total.par_chunks_mut(PARALLEL_CHUNK_ELEMENTS).enumerate().for_each(|(chunk, total)| {
        for counts in &counted {
            let counts = counts[chunk * PARALLEL_CHUNK_ELEMENTS..].iter().zip(total.iter_mut());
            counts.for_each(|(&count, total)| *total = total.wrapping_add(count.into()));
        }
    });
    total
}

fn count_chunk(values: &[i64], first: i64, length: usize) -> Vec<u32> {
    let mut counts: Vec<u32> = memory::zeros(length);
    for values in values.chunks(PARALLEL_CHUNK_ELEMENTS) {
        interrupt::check();
        for &value in values {
            let count = &mut counts[value.wrapping_sub(first) as usize];
            *count = count.wrapping_add(1);
        }
    }
    counts
}

/// Writes each integer as often as it occurs, in ascending order from `first`.
///
/// ```
/// let mut out = [0; 3];
/// dappled_sort::bincount::expand_counts(&[2, 0, 1], 5, |value| value as u8, &mut out);
/// assert_eq!(out, [5, 5, 7]);
/// ```
pub fn expand_counts<T: Copy + Send + Sync>(
    counts: &[i64],
    first: i64,
    convert: impl Fn(i64) -> T + Copy + Send + Sync,
    out: &mut [T],
) {
    if out.len() <= PARALLEL_CHUNK_ELEMENTS || counts.len() == 1 {
        return expand_serial(counts, first, convert, out);
    }
    let (before, after) = counts.split_at(counts.len() / 2);
    let (left, right) = out.split_at_mut(before.iter().sum::<i64>() as usize);
    let middle = first.wrapping_add(before.len() as i64);
    rayon::join(
        || expand_counts(before, first, convert, left),
        || expand_counts(after, middle, convert, right),
    );
}

fn expand_serial<T: Copy>(
    counts: &[i64],
    first: i64,
    convert: impl Fn(i64) -> T,
    mut out: &mut [T],
) {
    for (value, &count) in (first..).zip(counts) {
        let (run, rest) = out.split_at_mut(count as usize);
        run.fill(convert(value));
        out = rest;
    }
}
