//! Elements by their rank, without sorting all of them.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::CHUNK;
use crate::order::Key;

/// How many elements come before a range of values, how many are NaN, and those in the range.
#[derive(Clone, Debug)]
pub struct Within<T> {
    /// How many come before.
    pub before: usize,
    /// How many are NaN; they are not in the range.
    pub nans: usize,
    /// Those that come neither before the low nor after the high end, in no order.
    pub found: Vec<T>,
}

/// Looks at all elements. Where a range around the wanted rank is narrow, what is found is little,
/// and the element is one of it.
///
/// ```
/// let within = dappled_sort::select::within(&[5, 1, 4, 2, 3], 2, 3);
/// assert_eq!((within.before, within.found.len()), (1, 2));
/// ```
pub fn within<T: Key>(values: &[T], low: T, high: T) -> Within<T> {
    let parts = values.par_chunks(CHUNK).map(|values| part(values, low, high));
    let none = || Within { before: 0, nans: 0, found: Vec::new() };
    parts.reduce(none, |mut one, other| {
        memory::append(&mut one.found, &other.found);
        Within { before: one.before + other.before, nans: one.nans + other.nans, ..one }
    })
}

/// A few at a time, so that they are near when those in the range are picked.
fn part<T: Key>(values: &[T], low: T, high: T) -> Within<T> {
    let (mut before, mut nans) = (0, 0);
    let mut found = Vec::new();
    interrupt::check();
    for few in values.chunks(128) {
        let (mut less, mut strange, mut inside) = (0_u64, 0_u64, 0_u64);
        for &value in few {
            less = less.wrapping_add(u64::from(value < low));
            strange = strange.wrapping_add(u64::from(value.is_nan()));
            inside = inside.wrapping_add(u64::from((value >= low) & (value <= high)));
        }
        (before, nans) = (before + less as usize, nans + strange as usize);
        if inside > 0 {
            memory::reserve(&mut found, inside as usize);
            found.extend(few.iter().filter(|&&value| (value >= low) & (value <= high)));
        }
    }
    Within { before, nans, found }
}
