//! Selection: order statistics without sorting all values.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::config::PARALLEL_CHUNK_ELEMENTS;
use crate::numpy_order::NumpyOrder;

/// The values within a range, and the counts around it.
#[derive(Clone, Debug)]
pub struct RangeSelection<T> {
    /// Number of values below the range.
    pub before: usize,
    /// Number of NaNs; they are outside the range.
    pub nans: usize,
    /// The values in the range, unordered.
    pub values: Vec<T>,
}

/// Selects the values from `low` to `high`, both included.
///
/// If the range around the wanted rank is narrow, few values remain, and the order statistic is one
/// of them.
///
/// ```
/// let selection = dappled_sort::select::select_range(&[5, 1, 4, 2, 3], 2, 3);
/// assert_eq!((selection.before, selection.values.len()), (1, 2));
/// ```
pub fn select_range<T: NumpyOrder>(values: &[T], low: T, high: T) -> RangeSelection<T> {
    let parts =
        values.par_chunks(PARALLEL_CHUNK_ELEMENTS).map(|values| select_chunk(values, low, high));
    let none = || RangeSelection { before: 0, nans: 0, values: Vec::new() };
    parts.reduce(none, |mut one, other| {
        memory::append(&mut one.values, &other.values);
        RangeSelection { before: one.before + other.before, nans: one.nans + other.nans, ..one }
    })
}

/// Selects from one chunk, block by block, so that a block is still in the cache when its values
/// are copied.
fn select_chunk<T: NumpyOrder>(values: &[T], low: T, high: T) -> RangeSelection<T> {
    let (mut before, mut nans) = (0, 0);
    let mut found = Vec::new();
    interrupt::check();
    for block in values.chunks(128) {
        let (mut below, mut nan_count, mut inside) = (0_u64, 0_u64, 0_u64);
        for &value in block {
            below = below.wrapping_add(u64::from(value < low));
            nan_count = nan_count.wrapping_add(u64::from(value.is_nan()));
            inside = inside.wrapping_add(u64::from((value >= low) & (value <= high)));
        }
        (before, nans) = (before + below as usize, nans + nan_count as usize);
        if inside > 0 {
            memory::reserve(&mut found, inside as usize);
            found.extend(block.iter().filter(|&&value| (value >= low) & (value <= high)));
        }
    }
    RangeSelection { before, nans, values: found }
}
