//! In which order elements are sorted.

use rayon::prelude::*;

use crate::order::Key;

/// Writes the places of the elements in their order; of equal ones, the first first.
///
/// ```
/// let mut order = [0; 4];
/// dappled_sorting::rank::argsort(&[2.0, f64::NAN, -1.0, 2.0], &mut order);
/// assert_eq!(order, [2, 0, 3, 1]);
/// ```
pub fn argsort<T: Key>(values: &[T], order: &mut [i64]) {
    match size_of::<T>() {
        ..=4 if values.len() <= u32::MAX as usize => {
            by_keys(values, order, |key, at| key << 32 | at as u64, |key| (key as u32).into());
        }
        _ => by_keys(values, order, |key, at| (key, at), |(_, at)| at as i64),
    }
}

/// Writes the numbers of elements in the order of their values; of equal ones, the smallest first.
///
/// ```
/// let mut order = [0; 3];
/// dappled_sorting::rank::argsort_numbered(&[2.0, -1.0, 2.0], &[7, 8, 5], &mut order);
/// assert_eq!(order, [8, 5, 7]);
/// ```
pub fn argsort_numbered<T: Key>(values: &[T], numbers: &[i64], order: &mut [i64]) {
    let small = |&number: &i64| u32::try_from(number).is_ok();
    if size_of::<T>() <= 4 && numbers.par_iter().all(small) {
        let key = |key, at: usize| key << 32 | numbers[at] as u64;
        return by_keys(values, order, key, |key| (key as u32).into());
    }
    by_keys(values, order, |key, at| (key, numbers[at]), |(_, number)| number);
}

/// Keys are made different by the places, so that no stable sort is needed.
fn by_keys<T: Key, K: Ord + Copy + Send + Sync>(
    values: &[T],
    order: &mut [i64],
    key: impl Fn(u64, usize) -> K + Sync,
    place: impl Fn(K) -> i64 + Sync,
) {
    let keyed = values.par_iter().enumerate().map(|(at, value)| key(value.key(), at));
    let mut keys: Vec<K> = keyed.collect();
    keys.par_sort_unstable();
    order.par_iter_mut().zip(&keys).for_each(|(order, key)| *order = place(*key));
}
