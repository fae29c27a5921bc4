//! How often each number occurs.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::CHUNK;

/// The least and the greatest; None of none.
pub fn extent(values: &[i64]) -> Option<(i64, i64)> {
    let wider = |(low, high): (i64, i64), &value: &i64| (low.min(value), high.max(value));
    let ends = |values: &[i64]| values.iter().fold((i64::MAX, i64::MIN), wider);
    let widest = |one: (i64, i64), other: (i64, i64)| (one.0.min(other.0), one.1.max(other.1));
    values.par_chunks(CHUNK).map(ends).reduce_with(widest)
}

/// How often each of so many numbers occurs, from `first` on; none is beyond.
///
/// ```
/// assert_eq!(dappled_sort::count::count(&[5, 7, 5], 5, 3), [2, 0, 1]);
/// ```
pub fn count(values: &[i64], first: i64, length: usize) -> Vec<i64> {
    // Each thread has counts of its own: fewer threads where there is more to count in than to count.
    let most = values.len().div_ceil(length.max(CHUNK));
    let threads = rayon::current_num_threads().min(most).max(values.len() >> 32);
    let size = values.len().div_ceil(threads.max(1)).max(1);
    let counted: Vec<Vec<u32>> =
        values.par_chunks(size).map(|values| part(values, first, length)).collect();
    let mut total: Vec<i64> = memory::zeros(length);
    total.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, total)| {
        for counts in &counted {
            let counts = counts[chunk * CHUNK..].iter().zip(total.iter_mut());
            counts.for_each(|(&count, total)| *total = total.wrapping_add(count.into()));
        }
    });
    total
}

fn part(values: &[i64], first: i64, length: usize) -> Vec<u32> {
    let mut counts: Vec<u32> = memory::zeros(length);
    for values in values.chunks(CHUNK) {
        interrupt::check();
        for &value in values {
            let count = &mut counts[value.wrapping_sub(first) as usize];
            *count = count.wrapping_add(1);
        }
    }
    counts
}

/// Writes numbers as often as they occur, in order: the first of them, and one more each time.
///
/// ```
/// let mut out = [0; 3];
/// dappled_sort::count::spread(&[2, 0, 1], 5, |number| number as u8, &mut out);
/// assert_eq!(out, [5, 5, 7]);
/// ```
pub fn spread<T: Copy + Send + Sync>(
    counts: &[i64],
    first: i64,
    of: impl Fn(i64) -> T + Copy + Send + Sync,
    out: &mut [T],
) {
    if out.len() <= CHUNK || counts.len() == 1 {
        return in_turn(counts, first, of, out);
    }
    let (before, after) = counts.split_at(counts.len() / 2);
    let (left, right) = out.split_at_mut(before.iter().sum::<i64>() as usize);
    let middle = first.wrapping_add(before.len() as i64);
    rayon::join(|| spread(before, first, of, left), || spread(after, middle, of, right));
}

fn in_turn<T: Copy>(counts: &[i64], first: i64, of: impl Fn(i64) -> T, mut out: &mut [T]) {
    for (number, &count) in (first..).zip(counts) {
        let (these, rest) = out.split_at_mut(count as usize);
        these.fill(of(number));
        out = rest;
    }
}
