//! Values in order: dealt out to ranges that fit into the second cache, each of which is sorted there.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::exact::Exact;
use crate::radix;
use crate::scale::Scale;

/// Values of a range, about; and how many ranges are written to at the same time, at most.
const RANGE: usize = 10 << 10;
const RANGES: usize = 1 << 12;

/// Into so many parts ranges are cut at most, of which a thread does each with the same memory.
const TURNS: usize = 64;

/// Into how many ranges so many values are dealt.
pub fn ranges(length: usize) -> usize {
    (length / RANGE).clamp(1, RANGES)
}

/// Writes values in order. `room` is for a word for each of them.
///
/// ```
/// let (mut out, mut room) = ([0.0; 4], [0; 4]);
/// dappled_sort::sort::sort(&[2.0, f64::NAN, -1.0, 2.0], &mut room, &mut out);
/// assert_eq!(out[..3], [-1.0, 2.0, 2.0]);
/// ```
pub fn sort<T: Exact>(values: &[T], room: &mut [u64], out: &mut [T]) {
    gather(&deal(values, values, ranges(values.len()), room), out);
}

/// Keys by ranges of their order, and where each range starts among them.
#[derive(Clone, Debug)]
pub struct Dealt<'a> {
    /// The keys, those of the first range first.
    pub keys: &'a [u64],
    /// Where each range starts, and where the last one ends.
    pub starts: Vec<usize>,
}

impl Dealt<'_> {
    fn range(&self, range: usize) -> &[u64] {
        &self.keys[self.starts[range]..self.starts[range + 1]]
    }
}

/// Deals values out to so many ranges, which are the same for the same samples: each thread a part of
/// them, of which the keys are written one part after the other.
pub fn deal<'a, T: Exact>(
    samples: &[T],
    values: &[T],
    ranges: usize,
    mut keys: &'a mut [u64],
) -> Vec<Dealt<'a>> {
    let scale = Scale::of(samples, ranges);
    let size = values.len().div_ceil(rayon::current_num_threads()).max(1);
    let mut shares = Vec::new();
    for values in values.chunks(size) {
        let (room, rest) = std::mem::take(&mut keys).split_at_mut(values.len());
        shares.push((values, room));
        keys = rest;
    }
    shares.into_par_iter().map(|(values, keys)| share(values, &scale, ranges, keys)).collect()
}

/// Writes the values whose keys were dealt in order.
///
/// ```
/// use dappled_sort::sort::{deal, gather};
/// let (mut here, mut there, mut out) = ([0; 2], [0; 2], [0_i64; 4]);
/// let mut dealt = deal(&[1_i64, 9], &[3, 1], 2, &mut here);
/// dealt.extend(deal(&[1_i64, 9], &[2, 0], 2, &mut there));
/// gather(&dealt, &mut out);
/// assert_eq!(out, [0, 1, 2, 3]);
/// ```
pub fn gather<T: Exact>(dealt: &[Dealt<'_>], mut out: &mut [T]) {
    let ranges = dealt.first().map_or(0, |dealt| dealt.starts.len().saturating_sub(1));
    let mut targets = Vec::new();
    for range in 0..ranges {
        let count = dealt.iter().map(|dealt| dealt.range(range).len()).sum();
        let (target, rest) = std::mem::take(&mut out).split_at_mut(count);
        targets.push(target);
        out = rest;
    }
    let targets = targets.into_par_iter().enumerate().with_min_len(ranges.div_ceil(TURNS).max(1));
    targets.for_each_init(Memory::default, |memory, (range, target)| {
        interrupt::check();
        let parts: Vec<&[u64]> = dealt.iter().map(|dealt| dealt.range(range)).collect();
        memory.sort(&parts, target);
    });
}

/// Where the keys of a range are sorted.
#[derive(Default)]
struct Memory {
    keys: Vec<u64>,
    beside: Vec<u64>,
}

impl Memory {
    fn sort<T: Exact>(&mut self, parts: &[&[u64]], target: &mut [T]) {
        let Some(&first) = parts.iter().find_map(|part| part.first()) else { return };
        // What is often the same is more than there is memory for.
        if parts.iter().all(|part| part.iter().all(|&key| key == first)) {
            return target.fill(T::from_exact(first));
        }
        self.keys.clear();
        parts.iter().for_each(|part| memory::append(&mut self.keys, part));
        let length = self.keys.len().max(self.beside.len());
        memory::resize(&mut self.beside, length, 0);
        let sorted = radix::sort(&mut self.keys, &mut self.beside[..target.len()]);
        for (value, &key) in target.iter_mut().zip(&*sorted) {
            *value = T::from_exact(key);
        }
    }
}

fn share<'a, T: Exact>(
    values: &[T],
    scale: &Scale,
    ranges: usize,
    keys: &'a mut [u64],
) -> Dealt<'a> {
    let mut starts = vec![0_usize; ranges + 1];
    scale.each(values, |_, range| starts[range + 1] = starts[range + 1].wrapping_add(1));
    for range in 0..ranges {
        starts[range + 1] += starts[range];
    }
    let mut next = starts.clone();
    scale.each(values, |value, range| {
        let place = &mut next[range];
        keys[*place] = value.exact();
        *place = place.wrapping_add(1);
    });
    Dealt { keys, starts }
}
