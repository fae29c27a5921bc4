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
    // The index makes keys unique, so no stable sort is needed. A narrow value and a small index
    // fit into one word.
    if size_of::<T>() <= 4 && values.len() <= 1 << 32 {
        let key = |key: u64, index: u64| key << 32 | index;
        return IndexedKeys { values, key }.sort(|key| (key as u32).into(), room, order);
    }
    let (room, _) = room.as_chunks_mut::<2>();
    IndexedKeys { values, key: |key, index| [key, index] }.sort(|key| key[1] as i64, room, order);
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

/// The keys of values with their indices.
struct IndexedKeys<'a, T, F> {
    values: &'a [T],
    key: F,
}

impl<T: NumpyOrder, K: RadixKey, F: Fn(u64, u64) -> K + Sync> IndexedKeys<'_, T, F> {
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
        let step = (self.values.len() / count).max(1);
        (0..self.values.len()).step_by(step).map(|at| self.key_at(at)).collect()
    }

    /// Counts the keys between consecutive splitters; `length` is their total.
    fn range_counts(&self, bounds: &[Option<K>], length: usize) -> Vec<usize> {
        let before = |&bound: &Option<K>| {
            let count = |chunk: usize| {
                let start = chunk * PARALLEL_CHUNK_ELEMENTS;
                let positions = start..length.min(start + PARALLEL_CHUNK_ELEMENTS);
                let inside = |at| usize::from(is_between(self.key_at(at), None, bound));
                positions.map(inside).fold(0, usize::wrapping_add)
            };
            let chunks = 0..length.div_ceil(PARALLEL_CHUNK_ELEMENTS);
            chunks.into_par_iter().map(count).sum::<usize>()
        };
        let inner_bounds = &bounds[1..bounds.len() - 1];
        let ends: Vec<usize> = inner_bounds.iter().map(before).chain([length]).collect();
        let starts = std::iter::once(&0).chain(&ends);
        starts.zip(&ends).map(|(start, end)| end - start).collect()
    }

    /// Writes the keys of a range. Each key is stored unconditionally and overwritten by the next
    /// if it is outside the range, which avoids branch mispredictions.
    fn collect_range(&self, range: &[Option<K>], keys: &mut [K]) {
        if let [None, None] = range {
            keys.iter_mut().enumerate().for_each(|(at, slot)| *slot = self.key_at(at));
            return;
        }
        let (mut block, mut filled) = ([K::MIN; BLOCK_ROWS], 0);
        for start in (0..self.values.len()).step_by(BLOCK_ROWS) {
            if start % PARALLEL_CHUNK_ELEMENTS == 0 {
                interrupt::check();
            }
            let mut count = 0_usize;
            for at in start..self.values.len().min(start + BLOCK_ROWS) {
                let key = self.key_at(at);
                block[count % BLOCK_ROWS] = key;
                count = count.wrapping_add(usize::from(is_between(key, range[0], range[1])));
            }
            keys[filled..][..count].copy_from_slice(&block[..count]);
            filled += count;
        }
    }

    #[inline(always)]
    fn key_at(&self, at: usize) -> K {
        (self.key)(self.values[at].key(), at as u64)
    }
}

#[inline(always)]
fn is_between<K: RadixKey>(key: K, low: Option<K>, high: Option<K>) -> bool {
    low.is_none_or(|low| key >= low) & high.is_none_or(|high| key < high)
}
