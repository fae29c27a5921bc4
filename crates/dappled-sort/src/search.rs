//! Binary search of many values in a sorted slice, on all threads.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::config::PARALLEL_CHUNK_ELEMENTS;

/// Returns the number of sorted elements before each value; with `right` also those equal to it.
///
/// `is_less` orders elements and values. Ascending values are faster: only the elements after the
/// previous result are searched.
///
/// ```
/// let sorted = [1, 3, 3, 5];
/// let search = |right| dappled_sort::search::search(&sorted, &[3, 6, 0], right, |a, b| a < b);
/// assert_eq!((search(false), search(true)), (vec![1, 4, 0], vec![3, 4, 0]));
/// ```
pub fn search<T: Copy + Send + Sync>(
    sorted: &[T],
    values: &[T],
    right: bool,
    is_less: impl Fn(T, T) -> bool + Sync,
) -> Vec<i64> {
    let mut positions: Vec<i64> = memory::zeros(values.len());
    let chunks = values.par_chunks(PARALLEL_CHUNK_ELEMENTS);
    positions.par_chunks_mut(PARALLEL_CHUNK_ELEMENTS).zip(chunks).for_each(
        |(positions, values)| {
            interrupt::check();
            let (mut last, mut found) = (values[0], sorted.len());
            for (position, &value) in positions.iter_mut().zip(values) {
                let range = if is_less(last, value) { found..sorted.len() } else { 0..found };
                let start = range.start;
                found = start
                    + match right {
                        true => sorted[range].partition_point(|&element| !is_less(value, element)),
                        false => sorted[range].partition_point(|&element| is_less(element, value)),
                    };
                (*position, last) = (found as i64, value);
            }
        },
    );
    positions
}
