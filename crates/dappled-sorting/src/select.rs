//! Elements by their rank, without sorting all of them.

use rayon::prelude::*;

use crate::CHUNK;
use crate::order::Key;

/// How many elements come before a range of values, how many are NaN, and those in the range.
#[derive(Clone, Debug, Default)]
pub struct Within<T> {
    /// How many come before.
    pub before: usize,
    /// How many are NaN; they may be in the range, too.
    pub nans: usize,
    /// Those that come neither before the low nor after the high end, in no order.
    pub found: Vec<T>,
}

/// Looks once at all elements. Where a range around the wanted rank is narrow, what is found is
/// little, and the element is one of it.
///
/// ```
/// let within = dappled_sorting::select::within(&[5, 1, 4, 2, 3], 2, 3);
/// assert_eq!((within.before, within.found.len()), (1, 2));
/// ```
pub fn within<T: Key + Default>(values: &[T], low: T, high: T) -> Within<T> {
    let (low, high) = (low.key(), high.key());
    let parts = values.par_chunks(CHUNK).map(|values| part(values, low, high));
    parts.reduce(
        || Within { before: 0, nans: 0, found: Vec::new() },
        |mut one, other| {
            one.found.extend(other.found);
            Within { before: one.before + other.before, nans: one.nans + other.nans, ..one }
        },
    )
}

fn part<T: Key + Default>(values: &[T], low: u64, high: u64) -> Within<T> {
    let (mut before, mut nans, mut inside) = (0, 0, 0);
    for value in values {
        let key = value.key();
        before += usize::from(key < low);
        nans += usize::from(value.is_nan());
        inside += usize::from(low <= key && key <= high);
    }
    let mut found = Vec::with_capacity(inside);
    if inside > 0 {
        found.extend(values.iter().filter(|value| (low..=high).contains(&value.key())));
    }
    Within { before, nans, found }
}
