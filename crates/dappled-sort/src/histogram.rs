//! Histogram with bins of equal width.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::config::PARALLEL_CHUNK_ELEMENTS;

/// Counters per bin, so that consecutive values do not depend on one another.
const COUNTER_LANES: usize = 4;

/// Returns the smallest and largest value; None for an empty slice or if one is NaN.
pub fn min_max(values: &[f64]) -> Option<(f64, f64)> {
    let ends = values.par_chunks(PARALLEL_CHUNK_ELEMENTS).map(chunk_min_max);
    let widest = |one: (f64, f64), other: (f64, f64)| (one.0.min(other.0), one.1.max(other.1));
    ends.map(|ends| ends.filter(|(low, high)| low <= high))
        .reduce_with(|one, other| Some(widest(one?, other?)))?
}

/// Returns the extremes of a chunk, lane by lane for SIMD; None if a value is NaN.
fn chunk_min_max(values: &[f64]) -> Option<(f64, f64)> {
    let (mut low, mut high) = ([f64::INFINITY; COUNTER_LANES], [f64::NEG_INFINITY; COUNTER_LANES]);
    let mut has_nan = [0_u64; COUNTER_LANES];
    let (rows, rest) = values.as_chunks::<COUNTER_LANES>();
    let mut last = [*values.first()?; COUNTER_LANES];
    last[..rest.len()].copy_from_slice(rest);
    for row in rows.iter().chain([&last]) {
        for lane in 0..COUNTER_LANES {
            low[lane] = if row[lane] < low[lane] { row[lane] } else { low[lane] };
            high[lane] = if row[lane] > high[lane] { row[lane] } else { high[lane] };
            has_nan[lane] |= u64::from(row[lane].is_nan());
        }
    }
    let no_nan = has_nan.iter().all(|&has_nan| has_nan == 0);
    let ends = (
        low.into_iter().fold(f64::INFINITY, f64::min),
        high.into_iter().fold(f64::NEG_INFINITY, f64::max),
    );
    no_nan.then_some(ends)
}

/// Counts the values in each bin between edges of about equal distance. An edge belongs to the bin
/// above it, the last edge to the last bin. Values outside and NaN are not counted.
///
/// The computed bin is corrected by comparison with the edges, as in NumPy, so its rounding does
/// not matter.
///
/// ```
/// let counts = dappled_sort::histogram::histogram(&[0.0, 0.5, 1.0, 2.0], &[0.0, 0.5, 1.0]);
/// assert_eq!(counts, [1, 2]);
/// ```
pub fn histogram(values: &[f64], edges: &[f64]) -> Vec<i64> {
    let bins = edges.len() - 1;
    let size = values.len().div_ceil(rayon::current_num_threads()).max(PARALLEL_CHUNK_ELEMENTS);
    let counted =
        values.par_chunks(size).map(|values| count_chunk(values, &HistogramBins::new(edges)));
    counted.reduce_with(add_counts).unwrap_or_else(|| memory::zeros(bins))
}

fn add_counts(mut total: Vec<i64>, counts: Vec<i64>) -> Vec<i64> {
    total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    total
}

fn count_chunk(values: &[f64], bins: &HistogramBins<'_>) -> Vec<i64> {
    // One extra bin counts the values outside.
    let mut counts: Vec<[i64; COUNTER_LANES]> = memory::zeros(bins.count + 1);
    let (blocks, rest) = values.as_chunks::<BLOCK_VALUES>();
    let mut bin_numbers = [0; BLOCK_VALUES];
    for (block_index, block) in blocks.iter().enumerate() {
        if block_index % PARALLEL_CHUNK_ELEMENTS == 0 {
            interrupt::check();
        }
        if !bins.bins_off_edges(block, &mut bin_numbers) {
            bin_numbers = block.map(|value| bins.bin_of(value) as u32);
        }
        for row in bin_numbers.as_chunks::<COUNTER_LANES>().0 {
            for lane in 0..COUNTER_LANES {
                let count = &mut counts[row[lane] as usize][lane];
                *count = count.wrapping_add(1);
            }
        }
    }
    for &value in rest {
        counts[bins.bin_of(value)][0] += 1;
    }
    memory::collect(counts[..bins.count].iter().map(|lanes| lanes.iter().sum()))
}

const BLOCK_VALUES: usize = 64;

/// Adding this leaves the nearest integer of a small number in the lowest bits.
const SIGNED_ROUNDING_BIAS: f64 = 1.5 * (1_u64 << 52) as f64;

/// The bins and the factors that compute the bin of a value.
struct HistogramBins<'a> {
    edges: &'a [f64],
    count: usize,
    first: f64,
    last: f64,
    scale: f64,
    /// Distance from an edge, in bins, from which the computed bin is certainly right.
    edge_margin: f64,
}

impl<'a> HistogramBins<'a> {
    fn new(edges: &'a [f64]) -> Self {
        let count = edges.len() - 1;
        let (first, last) = (edges[0], edges[count]);
        let scale = count as f64 / (last - first);
        // The deviation of the edges from equal spacing, plus the rounding error.
        let deviation =
            edges.iter().enumerate().map(|(at, edge)| (edge - first) * scale - at as f64);
        let deviation =
            deviation.fold(
                0.0,
                |most, deviation| if deviation.abs() <= most { most } else { deviation.abs() },
            );
        let edge_margin = 2.0 * deviation + 8.0 * count as f64 * f64::EPSILON;
        Self { edges, count, first, last, scale, edge_margin }
    }

    /// Computes the bins of a block without branches; returns false if a value is near an edge.
    #[inline(always)]
    fn bins_off_edges(&self, values: &[f64; BLOCK_VALUES], bins: &mut [u32; BLOCK_VALUES]) -> bool {
        let (outside, max_fraction) = (self.count as f64 + 0.5, 1.0 - self.edge_margin);
        let mut is_near_edge = 0;
        for (&value, bin) in values.iter().zip(bins) {
            let inside = (self.first <= value) & (value <= self.last);
            let position = if inside { (value - self.first) * self.scale } else { outside };
            let shifted = position - 0.5 + SIGNED_ROUNDING_BIAS;
            let fraction = position - (shifted - SIGNED_ROUNDING_BIAS);
            is_near_edge |= u64::from(!((fraction > self.edge_margin) & (fraction < max_fraction)));
            *bin = shifted.to_bits() as u32;
        }
        is_near_edge == 0
    }

    /// Returns the bin of a value, or the number of bins if it is outside.
    #[inline(always)]
    fn bin_of(&self, value: f64) -> usize {
        if !((self.first <= value) & (value <= self.last)) {
            return self.count;
        }
        let distance = value - self.first;
        let guess = match self.scale.is_finite() {
            true => distance * self.scale,
            // The bins are narrower than the spacing of floats.
            false => distance / (self.last - self.first) * self.count as f64,
        };
        let guess = guess as u32 as usize;
        let guess = guess.min(self.count - 1);
        let guess = guess.wrapping_sub(usize::from(value < self.edges[guess]));
        let next = guess.wrapping_add(1);
        let up = (value >= self.edges[next]) & (next < self.count);
        guess.wrapping_add(usize::from(up))
    }
}
