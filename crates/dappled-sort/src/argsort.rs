//! `argsort`: the stable sorting permutation.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::config::{MAX_RANGES, PARALLEL_CHUNK_ELEMENTS, SAMPLES_PER_RANGE};
use crate::numpy_order::{MergeOrder, NumpyOrder};
use crate::route::simd_select::BLOCK_ROWS;
use crate::sort::radix::{self, RadixKey};

/// Scratch words needed per value.
pub const SCRATCH_WORDS: usize = 4;

/// Writes the indices that sort the values, stably.
///
/// `room` has [`SCRATCH_WORDS`] words per value.
///
/// ```
/// let (mut order, mut scratch) = ([0; 4], [0; 16]);
/// dappled_sort::argsort::argsort(&[2.0, f64::NAN, -1.0, 2.0], &mut scratch, &mut order);
/// assert_eq!(order, [2, 0, 3, 1]);
/// ```
pub fn argsort<T: NumpyOrder>(values: &[T], room: &mut [u64], order: &mut [i64]) {
    let parts = [ArgsortPart { values, first: 0, offsets: None }];
    argsort_parts(&parts, values.len(), room, order);
}

/// Writes the indices that sort the values, stably, by comparison.
///
/// ```
/// use num_complex::Complex64 as Complex;
/// let mut order = [0; 2];
/// dappled_sort::argsort::argsort_by_comparison(&[Complex::I, -Complex::ONE], &mut order);
/// assert_eq!(order, [1, 0]);
/// ```
pub fn argsort_by_comparison<T: MergeOrder>(values: &[T], order: &mut [i64]) {
    // The sort allocates as much as it sorts, infallibly.
    memory::expect_available(size_of_val(order));
    order.iter_mut().zip(0..).for_each(|(slot, index)| *slot = index);
    order.par_sort_by(|&one, &other| values[one as usize].compare(values[other as usize]));
}

/// Values with the global indices of their elements.
#[derive(Clone, Copy, Debug)]
pub struct ArgsortPart<'a, T> {
    /// The values.
    pub values: &'a [T],
    /// The index that offsets are relative to.
    pub first: u64,
    /// Offset of each element from `first`; None for consecutive elements.
    pub offsets: Option<&'a [u32]>,
}

impl<T> ArgsortPart<'_, T> {
    #[inline(always)]
    fn element_index(&self, at: usize) -> u64 {
        self.first.wrapping_add(self.offsets.map_or(at as u64, |offsets| offsets[at].into()))
    }
}

/// Writes the global indices in the order of their values.
///
/// Ties are ordered by index. All indices are below `length`. `room` has [`SCRATCH_WORDS`] words
/// per value.
///
/// ```
/// use dappled_sort::argsort::{ArgsortPart, argsort_parts};
/// let local = ArgsortPart { values: &[2.0, 9.0, 2.0][..], first: 5, offsets: None };
/// let received = ArgsortPart { values: &[-1.0], first: 0, offsets: Some(&[3]) };
/// let (mut order, mut scratch) = ([0; 4], [0; 16]);
/// argsort_parts(&[local, received], 8, &mut scratch, &mut order);
/// assert_eq!(order, [3, 5, 7, 6]);
/// ```
pub fn argsort_parts<T: NumpyOrder>(
    parts: &[ArgsortPart<'_, T>],
    length: usize,
    room: &mut [u64],
    order: &mut [i64],
) {
    // The index makes keys unique, so no stable sort is needed. A narrow value and a small index
    // fit into one word.
    if size_of::<T>() <= 4 && length <= 1 << 32 {
        let key = |key: u64, index: u64| key << 32 | index;
        return PartKeys { parts, key }.sort(|key| (key as u32).into(), room, order);
    }
    let (room, _) = room.as_chunks_mut::<2>();
    PartKeys { parts, key: |key, index| [key, index] }.sort(|key| key[1] as i64, room, order);
}

/// The keys of the values of several parts.
struct PartKeys<'a, T, F> {
    parts: &'a [ArgsortPart<'a, T>],
    key: F,
}

impl<T: NumpyOrder, K: RadixKey, F: Fn(u64, u64) -> K + Sync> PartKeys<'_, T, F> {
    fn sort(&self, index: impl Fn(K) -> i64 + Sync, mut room: &mut [K], mut order: &mut [i64]) {
        let bounds = self.splitters(order.len());
        let counts = self.range_counts(&bounds, order.len());
        let mut ranges = Vec::new();
        for (bounds_of_range, count) in bounds.windows(2).zip(counts) {
            let (keys, rest) = std::mem::take(&mut room).split_at_mut(count);
            let (scratch, rest) = rest.split_at_mut(count);
            let (range_order, order_rest) = std::mem::take(&mut order).split_at_mut(count);
            (room, order) = (rest, order_rest);
            ranges.push((bounds_of_range, keys, scratch, range_order));
        }
        ranges.into_par_iter().for_each(|(bounds_of_range, keys, scratch, order)| {
            self.collect_range(bounds_of_range, keys);
            interrupt::check();
            let sorted = radix::sort(keys, scratch);
            for (order, &key) in order.iter_mut().zip(&*sorted) {
                *order = index(key);
            }
        });
    }

    /// Returns splitters between ranges of about equal size, one range per thread. The first and
    /// last entries are None: unbounded.
    fn splitters(&self, length: usize) -> Vec<Option<K>> {
        let parts = rayon::current_num_threads()
            .min(MAX_RANGES)
            .min(length / PARALLEL_CHUNK_ELEMENTS)
            .max(1);
        let mut samples =
            if parts > 1 { self.samples(parts * SAMPLES_PER_RANGE) } else { Vec::new() };
        samples.sort_unstable();
        let splitter_positions = (1..parts).map(|part| part * samples.len() / parts);
        let mut bounds = vec![None];
        bounds.extend(splitter_positions.filter_map(|at| samples.get(at)).copied().map(Some));
        bounds.push(None);
        bounds
    }

    fn samples(&self, count: usize) -> Vec<K> {
        let step = (self.parts.iter().map(|part| part.values.len()).sum::<usize>() / count).max(1);
        let some = self.parts.iter().flat_map(|part| {
            (0..part.values.len()).step_by(step).map(move |at| self.key_at(part, at))
        });
        some.collect()
    }

    /// Counts the keys between consecutive splitters; `length` is their total.
    fn range_counts(&self, bounds: &[Option<K>], length: usize) -> Vec<usize> {
        let before = |&bound: &Option<K>| {
            let chunks = self.parts.par_iter().flat_map(|part| {
                (0..part.values.len().div_ceil(PARALLEL_CHUNK_ELEMENTS))
                    .into_par_iter()
                    .map(move |at| (part, at))
            });
            let count = |(part, chunk): (&ArgsortPart<'_, T>, usize)| {
                let positions = chunk * PARALLEL_CHUNK_ELEMENTS
                    ..part
                        .values
                        .len()
                        .min(chunk * PARALLEL_CHUNK_ELEMENTS + PARALLEL_CHUNK_ELEMENTS);
                let inside = |at| usize::from(is_between(self.key_at(part, at), None, bound));
                positions.map(inside).fold(0, usize::wrapping_add)
            };
            chunks.map(count).sum::<usize>()
        };
        let inner_bounds = &bounds[1..bounds.len() - 1];
        let ends: Vec<usize> = inner_bounds.iter().map(before).chain([length]).collect();
        let starts = std::iter::once(&0).chain(&ends);
        starts.zip(&ends).map(|(start, end)| end - start).collect()
    }

    /// Writes the keys of a range. Each key is stored unconditionally and overwritten by the next
    /// if it is outside the range, which avoids branch mispredictions.
    fn collect_range(&self, range: &[Option<K>], keys: &mut [K]) {
        let (mut block, mut filled) = ([K::MIN; BLOCK_ROWS], 0);
        for part in self.parts {
            if let [None, None] = range {
                let slots = keys[filled..][..part.values.len()].iter_mut().enumerate();
                slots.for_each(|(at, slot)| *slot = self.key_at(part, at));
                filled += part.values.len();
                continue;
            }
            for start in (0..part.values.len()).step_by(BLOCK_ROWS) {
                if start % PARALLEL_CHUNK_ELEMENTS == 0 {
                    interrupt::check();
                }
                let mut count = 0_usize;
                for at in start..part.values.len().min(start + BLOCK_ROWS) {
                    let key = self.key_at(part, at);
                    block[count % BLOCK_ROWS] = key;
                    count = count.wrapping_add(usize::from(is_between(key, range[0], range[1])));
                }
                keys[filled..][..count].copy_from_slice(&block[..count]);
                filled += count;
            }
        }
    }

    #[inline(always)]
    fn key_at(&self, part: &ArgsortPart<'_, T>, at: usize) -> K {
        (self.key)(part.values[at].key(), part.element_index(at))
    }
}

#[inline(always)]
fn is_between<K: RadixKey>(key: K, low: Option<K>, high: Option<K>) -> bool {
    low.is_none_or(|low| key >= low) & high.is_none_or(|high| key < high)
}
