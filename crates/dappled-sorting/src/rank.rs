//! In which order elements are sorted.

use rayon::prelude::*;

use crate::CHUNK;
use crate::order::Key;
use crate::radix::{self, Digits};

/// Words of memory beside it that are needed for each value.
pub const ROOM: usize = 4;

/// Ranges of the order that are sorted at the same time, each by a thread that looks at all values.
const PARTS: usize = 16;
/// Values of which bounds between two ranges are chosen, for each range.
const SAMPLES: usize = 64;
/// Values that are looked at while they are in the nearest cache.
const NEAR: usize = 256;

/// Writes the places of the elements in their order; of equal ones, the first first. `room` is for
/// [`ROOM`] words for each value.
///
/// ```
/// let (mut order, mut room) = ([0; 4], [0; 16]);
/// dappled_sorting::rank::argsort(&[2.0, f64::NAN, -1.0, 2.0], &mut room, &mut order);
/// assert_eq!(order, [2, 0, 3, 1]);
/// ```
pub fn argsort<T: Key>(values: &[T], room: &mut [u64], order: &mut [i64]) {
    let small = values.len() <= u32::MAX as usize;
    by_keys(values, |at| at as u64, small, room, order);
}

/// Writes the numbers of elements in the order of their values; of equal ones, the smallest first.
///
/// ```
/// let (mut order, mut room) = ([0; 3], [0; 12]);
/// dappled_sorting::rank::argsort_numbered(&[2.0, -1.0, 2.0], &[7, 8, 5], &mut room, &mut order);
/// assert_eq!(order, [8, 5, 7]);
/// ```
pub fn argsort_numbered<T: Key>(
    values: &[T],
    numbers: &[i64],
    room: &mut [u64],
    order: &mut [i64],
) {
    let small = || numbers.par_iter().all(|&number| u32::try_from(number).is_ok());
    by_keys(values, |at| numbers[at] as u64, size_of::<T>() <= 4 && small(), room, order);
}

/// Keys are made different by the numbers, so that no stable sort is needed. A narrow value and a small
/// number are one word.
fn by_keys<T: Key>(
    values: &[T],
    number: impl Fn(usize) -> u64 + Sync,
    small_numbers: bool,
    room: &mut [u64],
    order: &mut [i64],
) {
    if size_of::<T>() <= 4 && small_numbers {
        let key = |key, at| key << 32 | number(at);
        return in_ranges(values, key, |key| (key as u32).into(), room, order);
    }
    let (room, _) = room.as_chunks_mut::<2>();
    in_ranges(values, |key, at| [key, number(at)], |key| key[1] as i64, room, order);
}

fn in_ranges<T: Key, K: Digits>(
    values: &[T],
    key: impl Fn(u64, usize) -> K + Sync,
    number: impl Fn(K) -> i64 + Sync,
    mut room: &mut [K],
    mut order: &mut [i64],
) {
    let key = |at: usize| key(values[at].key(), at);
    let bounds = bounds(values.len(), &key);
    let mut ranges = Vec::new();
    for (range, count) in counts(values.len(), &key, &bounds).into_iter().enumerate() {
        let (keys, rest) = std::mem::take(&mut room).split_at_mut(count);
        let (beside, rest) = rest.split_at_mut(count);
        let (found, left) = std::mem::take(&mut order).split_at_mut(count);
        (room, order) = (rest, left);
        ranges.push((range, keys, beside, found));
    }
    ranges.into_par_iter().for_each(|(range, keys, beside, order)| {
        pick(values.len(), &key, &bounds, range, keys);
        let sorted = radix::sort(keys, beside);
        for (order, &key) in order.iter_mut().zip(&*sorted) {
            *order = number(key);
        }
    });
}

/// Keys between which there are ranges of about as many each, one for each thread.
fn bounds<K: Digits>(length: usize, key: &impl Fn(usize) -> K) -> Vec<K> {
    let parts = rayon::current_num_threads().min(PARTS).min(length / CHUNK).max(1);
    let step = (length / (parts * SAMPLES)).max(1);
    let mut samples: Vec<K> = (0..length).step_by(step).map(key).collect();
    samples.sort_unstable();
    (1..parts).map(|part| samples[part * samples.len() / parts]).collect()
}

/// How many keys each range has.
fn counts<K: Digits>(
    length: usize,
    key: &(impl Fn(usize) -> K + Sync),
    bounds: &[K],
) -> Vec<usize> {
    let before = |&bound: &K| {
        let chunks = (0..length.div_ceil(CHUNK)).into_par_iter().map(|chunk| chunk * CHUNK);
        let count = |start: usize| {
            let keys = (start..length.min(start + CHUNK)).map(key);
            keys.map(|key| usize::from(key < bound)).fold(0, usize::wrapping_add)
        };
        chunks.map(count).sum::<usize>()
    };
    let ends: Vec<usize> = bounds.iter().map(before).chain([length]).collect();
    let starts = std::iter::once(&0).chain(&ends);
    starts.zip(&ends).map(|(start, end)| end - start).collect()
}

/// Writes the keys of a range. Every key is written near, and the next one over it if it is not of the
/// range: nothing is guessed.
fn pick<K: Digits>(
    length: usize,
    key: &impl Fn(usize) -> K,
    bounds: &[K],
    range: usize,
    keys: &mut [K],
) {
    let low = range.checked_sub(1).map_or(K::LEAST, |before| bounds[before]);
    let high = bounds.get(range);
    let inside = |key: K| (key >= low) & high.is_none_or(|&high| key < high);
    let (mut near, mut filled) = ([K::LEAST; NEAR], 0);
    for start in (0..length).step_by(NEAR) {
        let mut count = 0_usize;
        for at in start..length.min(start + NEAR) {
            let key = key(at);
            near[count % NEAR] = key;
            count = count.wrapping_add(usize::from(inside(key)));
        }
        keys[filled..][..count].copy_from_slice(&near[..count]);
        filled += count;
    }
}
