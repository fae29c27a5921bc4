//! Selection: order statistics without sorting all values.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::config::PARALLEL_CHUNK_ELEMENTS;
use crate::numpy_order::NumpyOrder;

/// The values within a range, and the count below it.
#[derive(Clone, Debug, Default)]
pub struct RangeSelection<T> {
    /// Number of values below the range.
    pub before: usize,
    /// The values in the range, unordered.
    pub values: Vec<T>,
}

/// Selects the values of each range, both ends included, and counts NaNs, which are in no range.
///
/// If the range around an order statistic is narrow, few values remain, and the order statistic is
/// one of them.
///
/// ```
/// let (selected, nans) = dappled_sort::select::select_ranges(&[5, 1, 4, 2, 3], &[(2, 3)]);
/// assert_eq!((selected[0].before, selected[0].values.len(), nans), (1, 2, 0));
/// ```
pub fn select_ranges<T: NumpyOrder>(
    values: &[T],
    ranges: &[(T, T)],
) -> (Vec<RangeSelection<T>>, usize) {
    let parts =
        values.par_chunks(PARALLEL_CHUNK_ELEMENTS).map(|values| select_chunk(values, ranges));
    let none = || (ranges.iter().map(|_| empty_selection()).collect(), 0);
    parts.reduce(none, |(mut one, nans): (Vec<RangeSelection<T>>, usize), (other, more)| {
        for (one, other) in one.iter_mut().zip(other) {
            one.before += other.before;
            memory::append(&mut one.values, &other.values);
        }
        (one, nans + more)
    })
}

fn empty_selection<T>() -> RangeSelection<T> {
    RangeSelection { before: 0, values: Vec::new() }
}

/// Selects from one chunk, block by block, so that a block is still in the cache when its values
/// are copied and for the next range.
fn select_chunk<T: NumpyOrder>(values: &[T], ranges: &[(T, T)]) -> (Vec<RangeSelection<T>>, usize) {
    let mut nans = 0;
    let mut selections: Vec<RangeSelection<T>> = ranges.iter().map(|_| empty_selection()).collect();
    interrupt::check();
    for block in values.chunks(128) {
        let mut nan_count = 0_u64;
        for &value in block {
            nan_count = nan_count.wrapping_add(u64::from(value.is_nan()));
        }
        nans += nan_count as usize;
        for (selection, &(low, high)) in selections.iter_mut().zip(ranges) {
            let (mut below, mut inside) = (0_u64, 0_u64);
            for &value in block {
                below = below.wrapping_add(u64::from(value < low));
                inside = inside.wrapping_add(u64::from((value >= low) & (value <= high)));
            }
            selection.before += below as usize;
            if inside > 0 {
                memory::reserve(&mut selection.values, inside as usize);
                let is_inside = |value: &&T| (**value >= low) & (**value <= high);
                selection.values.extend(block.iter().filter(is_inside));
            }
        }
    }
    (selections, nans)
}

/// Counts the values that satisfy a condition.
pub fn count<T: NumpyOrder>(values: &[T], condition: impl Fn(T) -> bool + Sync) -> usize {
    let count_block = |block: &[T]| {
        block.iter().fold(0_u64, |count, &value| count.wrapping_add(u64::from(condition(value))))
    };
    let parts = values.par_chunks(PARALLEL_CHUNK_ELEMENTS).map(|values| {
        interrupt::check();
        values.chunks(128).map(count_block).sum::<u64>() as usize
    });
    parts.sum()
}
