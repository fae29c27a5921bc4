//! Values by ranges of their order, each in the order in which they stand.

use crate::order::Key;

/// Values that are looked at once for each range while they are in the nearest cache.
const NEAR: usize = 256;

/// Divides values at bounds, each a value and the number of an element: of equal values those with
/// smaller numbers come first. The first value here has the number `first`. Gives for each range, one
/// more than there are bounds, its values and their numbers. Bounds are in order.
///
/// ```
/// let found = dappled_sorting::divide::divide(&[5, 1, 3, 3], 10, &[(3, 13)]);
/// assert_eq!(found, [(vec![1, 3], vec![11, 12]), (vec![5, 3], vec![10, 13])]);
/// ```
pub fn divide<T: Key>(values: &[T], first: i64, bounds: &[(T, i64)]) -> Vec<(Vec<T>, Vec<i64>)> {
    let bounds: Vec<(u64, i64)> = bounds.iter().map(|&(value, at)| (value.key(), at)).collect();
    let room = values.len() / (bounds.len() + 1) * 17 / 16;
    let new = || (Vec::with_capacity(room), Vec::with_capacity(room));
    let mut ranges: Vec<(Vec<T>, Vec<i64>)> = (0..=bounds.len()).map(|_| new()).collect();
    let (mut parts, mut chosen) = ([0; NEAR], [0; NEAR]);
    for (block, values) in values.chunks(NEAR).enumerate() {
        let number = first + (block * NEAR) as i64;
        parts_of(values, number, &bounds, &mut parts);
        for (part, (found, numbers)) in ranges.iter_mut().enumerate() {
            let mut count = 0_usize;
            for (at, &other) in parts[..values.len()].iter().enumerate() {
                chosen[count % NEAR] = at as u32;
                count = count.wrapping_add(usize::from(other as usize == part));
            }
            found.extend(chosen[..count].iter().map(|&at| values[at as usize]));
            numbers.extend(chosen[..count].iter().map(|&at| number.wrapping_add(i64::from(at))));
        }
    }
    ranges
}

/// In which range each of a few values is: how many bounds it does not come before.
fn parts_of<T: Key>(values: &[T], first: i64, bounds: &[(u64, i64)], parts: &mut [u32; NEAR]) {
    for (at, (part, value)) in parts.iter_mut().zip(values).enumerate() {
        let (key, number) = (value.key(), first.wrapping_add(at as i64));
        let beyond = |&(bound, at): &(u64, i64)| {
            u32::from((key > bound) | ((key == bound) & (number >= at)))
        };
        *part = bounds.iter().map(beyond).fold(0, u32::wrapping_add);
    }
}
