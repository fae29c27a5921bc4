//! In which order elements are sorted.

use dappled_base::interrupt;
use rayon::prelude::*;

use crate::CHUNK;
use crate::near::NEAR;
use crate::order::Key;
use crate::radix::{self, Digits};

/// Words of memory beside it that are needed for each value.
pub const ROOM: usize = 4;

/// Ranges of the order that are sorted at the same time, each by a thread that looks at all values.
const PARTS: usize = 16;
/// Values of which bounds between two ranges are chosen, for each range.
const SAMPLES: usize = 64;

/// Writes the places of the elements in their order; of equal ones, the first first. `room` is for
/// [`ROOM`] words for each value.
///
/// ```
/// let (mut order, mut room) = ([0; 4], [0; 16]);
/// dappled_sort::rank::argsort(&[2.0, f64::NAN, -1.0, 2.0], &mut room, &mut order);
/// assert_eq!(order, [2, 0, 3, 1]);
/// ```
pub fn argsort<T: Key>(values: &[T], room: &mut [u64], order: &mut [i64]) {
    let parts = [Part { values, first: 0, offsets: None }];
    argsort_parts(&parts, values.len(), room, order);
}

/// Values, and the numbers of their elements.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a, T> {
    /// The values.
    pub values: &'a [T],
    /// The number from which on they are counted.
    pub first: u64,
    /// How far from there each is; None of those that follow one another.
    pub offsets: Option<&'a [u32]>,
}

impl<T> Part<'_, T> {
    #[inline(always)]
    fn number(&self, at: usize) -> u64 {
        self.first.wrapping_add(self.offsets.map_or(at as u64, |offsets| offsets[at].into()))
    }
}

/// Writes the numbers of elements in the order of their values, and of equal ones in that of the numbers,
/// which are all below `length`.
///
/// ```
/// use dappled_sort::rank::{Part, argsort_parts};
/// let here = Part { values: &[2.0, 9.0, 2.0][..], first: 5, offsets: None };
/// let came = Part { values: &[-1.0], first: 0, offsets: Some(&[3]) };
/// let (mut order, mut room) = ([0; 4], [0; 16]);
/// argsort_parts(&[here, came], 8, &mut room, &mut order);
/// assert_eq!(order, [3, 5, 7, 6]);
/// ```
pub fn argsort_parts<T: Key>(
    parts: &[Part<'_, T>],
    length: usize,
    room: &mut [u64],
    order: &mut [i64],
) {
    // Keys are made different by the numbers, so that no stable sort is needed. A narrow value and a
    // small number are one word.
    if size_of::<T>() <= 4 && length <= 1 << 32 {
        let key = |key: u64, number: u64| key << 32 | number;
        return Keys { parts, key }.sort(|key| (key as u32).into(), room, order);
    }
    let (room, _) = room.as_chunks_mut::<2>();
    Keys { parts, key: |key, number| [key, number] }.sort(|key| key[1] as i64, room, order);
}

/// The keys of values in parts.
struct Keys<'a, T, F> {
    parts: &'a [Part<'a, T>],
    key: F,
}

impl<T: Key, K: Digits, F: Fn(u64, u64) -> K + Sync> Keys<'_, T, F> {
    fn sort(&self, number: impl Fn(K) -> i64 + Sync, mut room: &mut [K], mut order: &mut [i64]) {
        let bounds = self.bounds(order.len());
        let counts = self.counts(&bounds, order.len());
        let mut ranges = Vec::new();
        for (inner, count) in bounds.windows(2).zip(counts) {
            let (keys, rest) = std::mem::take(&mut room).split_at_mut(count);
            let (beside, rest) = rest.split_at_mut(count);
            let (found, left) = std::mem::take(&mut order).split_at_mut(count);
            (room, order) = (rest, left);
            ranges.push((inner, keys, beside, found));
        }
        ranges.into_par_iter().for_each(|(inner, keys, beside, order)| {
            self.pick(inner, keys);
            interrupt::check();
            let sorted = radix::sort(keys, beside);
            for (order, &key) in order.iter_mut().zip(&*sorted) {
                *order = number(key);
            }
        });
    }

    /// Keys between which there are ranges of about as many each, one for each thread; none before the
    /// first range, and none after the last.
    fn bounds(&self, length: usize) -> Vec<Option<K>> {
        let parts = rayon::current_num_threads().min(PARTS).min(length / CHUNK).max(1);
        let mut samples = if parts > 1 { self.samples(parts * SAMPLES) } else { Vec::new() };
        samples.sort_unstable();
        let inner = (1..parts).map(|part| part * samples.len() / parts);
        let mut bounds = vec![None];
        bounds.extend(inner.filter_map(|at| samples.get(at)).copied().map(Some));
        bounds.push(None);
        bounds
    }

    fn samples(&self, count: usize) -> Vec<K> {
        let step = (self.parts.iter().map(|part| part.values.len()).sum::<usize>() / count).max(1);
        let some = self
            .parts
            .iter()
            .flat_map(|part| (0..part.values.len()).step_by(step).map(move |at| self.at(part, at)));
        some.collect()
    }

    /// How many keys there are between each bound and the next; `length` in all.
    fn counts(&self, bounds: &[Option<K>], length: usize) -> Vec<usize> {
        let before = |&bound: &Option<K>| {
            let chunks = self.parts.par_iter().flat_map(|part| {
                (0..part.values.len().div_ceil(CHUNK)).into_par_iter().map(move |at| (part, at))
            });
            let count = |(part, chunk): (&Part<'_, T>, usize)| {
                let places = chunk * CHUNK..part.values.len().min(chunk * CHUNK + CHUNK);
                let inside = |at| usize::from(is_between(self.at(part, at), None, bound));
                places.map(inside).fold(0, usize::wrapping_add)
            };
            chunks.map(count).sum::<usize>()
        };
        let inner = &bounds[1..bounds.len() - 1];
        let ends: Vec<usize> = inner.iter().map(before).chain([length]).collect();
        let starts = std::iter::once(&0).chain(&ends);
        starts.zip(&ends).map(|(start, end)| end - start).collect()
    }

    /// Writes the keys of a range. Every key is written near, and the next one over it if it is not of
    /// the range: nothing is guessed.
    fn pick(&self, range: &[Option<K>], keys: &mut [K]) {
        let (mut near, mut filled) = ([K::LEAST; NEAR], 0);
        for part in self.parts {
            if let [None, None] = range {
                let slots = keys[filled..][..part.values.len()].iter_mut().enumerate();
                slots.for_each(|(at, slot)| *slot = self.at(part, at));
                filled += part.values.len();
                continue;
            }
            for start in (0..part.values.len()).step_by(NEAR) {
                if start % CHUNK == 0 {
                    interrupt::check();
                }
                let mut count = 0_usize;
                for at in start..part.values.len().min(start + NEAR) {
                    let key = self.at(part, at);
                    near[count % NEAR] = key;
                    count = count.wrapping_add(usize::from(is_between(key, range[0], range[1])));
                }
                keys[filled..][..count].copy_from_slice(&near[..count]);
                filled += count;
            }
        }
    }

    #[inline(always)]
    fn at(&self, part: &Part<'_, T>, at: usize) -> K {
        (self.key)(part.values[at].key(), part.number(at))
    }
}

#[inline(always)]
fn is_between<K: Digits>(key: K, low: Option<K>, high: Option<K>) -> bool {
    low.is_none_or(|low| key >= low) & high.is_none_or(|high| key < high)
}
