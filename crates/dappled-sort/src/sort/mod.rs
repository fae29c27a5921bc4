//! Parallel sort: distributes values to buckets that fit into the L2 cache, then sorts each bucket.

pub(crate) mod linear_buckets;
pub(crate) mod radix;

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use self::linear_buckets::LinearBuckets;
use crate::config::{BUCKET_VALUES, MAX_BUCKETS, MAX_SORT_TASKS, PARALLEL_CHUNK_ELEMENTS};
use crate::numpy_order::MergeOrder;
use crate::sort_key::SortKey;

/// Returns the number of buckets for `length` values.
fn bucket_count(length: usize) -> usize {
    (length / BUCKET_VALUES).clamp(1, MAX_BUCKETS)
}

/// Sorts values into `out`. `keys_room` has one word per value.
///
/// ```
/// let (mut out, mut room) = ([0.0; 4], [0; 4]);
/// dappled_sort::sort::sort(&[2.0, f64::NAN, -1.0, 2.0], &mut room, &mut out);
/// assert_eq!(out[..3], [-1.0, 2.0, 2.0]);
/// ```
pub fn sort<T: SortKey>(values: &[T], keys_room: &mut [u64], out: &mut [T]) {
    sort_buckets(&distribute(values, bucket_count(values.len()), keys_room), out);
}

/// Sorts values stably into `out`: zeros of either sign and NaNs keep their order.
///
/// ```
/// let mut out = [1.0; 3];
/// dappled_sort::sort::sort_stable(&[1.0, 0.0, -0.0], &mut out);
/// assert_eq!(out.map(f64::to_bits), [0.0, -0.0, 1.0].map(f64::to_bits));
/// ```
pub fn sort_stable<T: SortKey + Default>(values: &[T], out: &mut [T]) {
    let mut keys = memory::zeros(values.len());
    if bucket_count(values.len()) > 1 {
        sort(values, &mut keys, out);
    } else {
        keys.iter_mut().zip(values).for_each(|(key, value)| *key = value.to_sort_key());
        keys.sort_unstable();
        out.iter_mut().zip(&keys).for_each(|(out, &key)| *out = T::from_sort_key(key));
    }
    restore_order_of_ties(values, out);
}

/// Sorts values stably into `out` by comparison.
///
/// ```
/// use num_complex::Complex64 as Complex;
/// let mut out = [Complex::ZERO; 2];
/// dappled_sort::sort::sort_by_comparison(&[Complex::I, -Complex::ONE], &mut out);
/// assert_eq!(out, [-Complex::ONE, Complex::I]);
/// ```
pub fn sort_by_comparison<T: MergeOrder>(values: &[T], out: &mut [T]) {
    // The sort allocates as much as it sorts, infallibly.
    memory::expect_available(size_of_val(values));
    out.copy_from_slice(values);
    out.par_sort_by(|one, other| one.compare(*other));
}

/// Calls `act` with each line of `length` values and of outputs, on all threads.
pub fn for_each_line<T: Sync, U: Send>(
    values: &[T],
    length: usize,
    out: &mut [U],
    act: impl Fn(&[T], &mut [U]) + Sync,
) {
    let length = length.max(1);
    let lines = out.par_chunks_mut(length).zip(values.par_chunks(length));
    lines.with_min_len((PARALLEL_CHUNK_ELEMENTS / length).max(1)).for_each(|(out, values)| {
        interrupt::check();
        act(values, out);
    });
}

/// Writes values that are equal but differ in their bits in their original order.
fn restore_order_of_ties<T: SortKey + Default>(values: &[T], out: &mut [T]) {
    let zero = T::default().key();
    let last = out.last().filter(|last| last.is_nan()).map(|nan| nan.key());
    for tied in [Some(zero), last].into_iter().flatten() {
        let start = out.partition_point(|value| value.key() < tied);
        let end = out.partition_point(|value| value.key() <= tied);
        let ties = &mut out[start..end];
        let same = |value: &T| value.to_sort_key() == ties[0].to_sort_key();
        if ties.is_empty() || ties.iter().all(same) {
            continue;
        }
        let originals = values.iter().filter(|value| value.key() == tied);
        ties.iter_mut().zip(originals).for_each(|(tie, &original)| *tie = original);
    }
}

/// Keys grouped by bucket.
struct BucketedKeys<'a> {
    /// The keys of all buckets, in bucket order.
    keys: &'a [u64],
    /// Start of each bucket, and the end of the last.
    starts: Vec<usize>,
}

impl BucketedKeys<'_> {
    fn bucket(&self, bucket: usize) -> &[u64] {
        &self.keys[self.starts[bucket]..self.starts[bucket + 1]]
    }
}

/// Distributes values to buckets. Each thread handles one chunk of the values and returns its own
/// buckets.
fn distribute<'a, T: SortKey>(
    values: &[T],
    bucket_count: usize,
    mut keys: &'a mut [u64],
) -> Vec<BucketedKeys<'a>> {
    let scale = LinearBuckets::fit(values, bucket_count);
    let size = values.len().div_ceil(rayon::current_num_threads()).max(1);
    let mut shares = Vec::new();
    for values in values.chunks(size) {
        let (keys_room, rest) = std::mem::take(&mut keys).split_at_mut(values.len());
        shares.push((values, keys_room));
        keys = rest;
    }
    shares
        .into_par_iter()
        .map(|(values, keys)| distribute_chunk(values, &scale, bucket_count, keys))
        .collect()
}

/// Sorts the distributed keys into `out`, bucket by bucket.
fn sort_buckets<T: SortKey>(bucketed: &[BucketedKeys<'_>], mut out: &mut [T]) {
    let bucket_count =
        bucketed.first().map_or(0, |bucketed| bucketed.starts.len().saturating_sub(1));
    let mut targets = Vec::new();
    for bucket in 0..bucket_count {
        let count = bucketed.iter().map(|bucketed| bucketed.bucket(bucket).len()).sum();
        let (target, rest) = std::mem::take(&mut out).split_at_mut(count);
        targets.push(target);
        out = rest;
    }
    let targets = targets
        .into_par_iter()
        .enumerate()
        .with_min_len(bucket_count.div_ceil(MAX_SORT_TASKS).max(1));
    targets.for_each_init(SortBuffers::default, |memory, (bucket, target)| {
        interrupt::check();
        let slices: Vec<&[u64]> = bucketed.iter().map(|bucketed| bucketed.bucket(bucket)).collect();
        memory.sort(&slices, target);
    });
}

/// Buffers for sorting one bucket.
#[derive(Default)]
struct SortBuffers {
    keys: Vec<u64>,
    scratch: Vec<u64>,
}

impl SortBuffers {
    fn sort<T: SortKey>(&mut self, slices: &[&[u64]], target: &mut [T]) {
        let Some(&first) = slices.iter().find_map(|part| part.first()) else { return };
        // A bucket of equal keys may be larger than the cache, and needs no sorting.
        if slices.iter().all(|part| part.iter().all(|&key| key == first)) {
            return target.fill(T::from_sort_key(first));
        }
        self.keys.clear();
        slices.iter().for_each(|part| memory::append(&mut self.keys, part));
        let length = self.keys.len().max(self.scratch.len());
        memory::resize(&mut self.scratch, length, 0);
        let sorted = radix::sort(&mut self.keys, &mut self.scratch[..target.len()]);
        for (value, &key) in target.iter_mut().zip(&*sorted) {
            *value = T::from_sort_key(key);
        }
    }
}

fn distribute_chunk<'a, T: SortKey>(
    values: &[T],
    scale: &LinearBuckets,
    bucket_count: usize,
    keys: &'a mut [u64],
) -> BucketedKeys<'a> {
    let mut starts = vec![0_usize; bucket_count + 1];
    scale.for_each(values, |_, bucket| starts[bucket + 1] = starts[bucket + 1].wrapping_add(1));
    for bucket in 0..bucket_count {
        starts[bucket + 1] += starts[bucket];
    }
    let mut next = starts.clone();
    scale.for_each(values, |value, bucket| {
        let position = &mut next[bucket];
        keys[*position] = value.to_sort_key();
        *position = position.wrapping_add(1);
    });
    BucketedKeys { keys, starts }
}
