//! How often each number occurs.

use rayon::prelude::*;

use crate::CHUNK;

/// The least and the greatest; None of none.
pub fn extent(values: &[i64]) -> Option<(i64, i64)> {
    let ends = |values: &[i64]| {
        values.iter().fold((i64::MAX, i64::MIN), |(low, high), &value| (low.min(value), high.max(value)))
    };
    let widest = |one: (i64, i64), other: (i64, i64)| (one.0.min(other.0), one.1.max(other.1));
    values.par_chunks(CHUNK).map(ends).reduce_with(widest)
}

/// How often each of so many numbers occurs, from `first` on; none is beyond.
///
/// ```
/// assert_eq!(dappled_sorting::count::count(&[5, 7, 5], 5, 3), [2, 0, 1]);
/// ```
pub fn count(values: &[i64], first: i64, length: usize) -> Vec<i64> {
    // Each thread has counts of its own: fewer threads where there is more to count in than to count.
    let most = values.len().div_ceil(length.max(CHUNK)).max(1);
    let threads = rayon::current_num_threads().min(most);
    let size = values.len().div_ceil(threads).max(1);
    let counted = values.par_chunks(size).map(|values| {
        let mut counts = vec![0; length];
        for &value in values {
            counts[value.wrapping_sub(first) as usize] += 1;
        }
        counts
    });
    counted.reduce_with(added).unwrap_or_else(|| vec![0; length])
}

/// Counts and counts.
pub(crate) fn added(mut total: Vec<i64>, counts: Vec<i64>) -> Vec<i64> {
    total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    total
}
