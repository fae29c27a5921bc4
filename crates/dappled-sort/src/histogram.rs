//! How many values fall into each of equally wide bins.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::CHUNK;

/// Counts side by side, so that values in a row do not wait for one another.
const LANES: usize = 4;

/// The least and the greatest; None if there is none, or one that is no number.
pub fn extent(values: &[f64]) -> Option<(f64, f64)> {
    let ends = values.par_chunks(CHUNK).map(ends_of);
    let widest = |one: (f64, f64), other: (f64, f64)| (one.0.min(other.0), one.1.max(other.1));
    ends.map(|ends| ends.filter(|(low, high)| low <= high))
        .reduce_with(|one, other| Some(widest(one?, other?)))?
}

/// Lane by lane, so that several are compared at once; None if one is no number.
fn ends_of(values: &[f64]) -> Option<(f64, f64)> {
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let mut strange = [0_u64; LANES];
    let (rows, rest) = values.as_chunks::<LANES>();
    let mut last = [*values.first()?; LANES];
    last[..rest.len()].copy_from_slice(rest);
    for row in rows.iter().chain([&last]) {
        for lane in 0..LANES {
            low[lane] = if row[lane] < low[lane] { row[lane] } else { low[lane] };
            high[lane] = if row[lane] > high[lane] { row[lane] } else { high[lane] };
            strange[lane] |= u64::from(row[lane].is_nan());
        }
    }
    let numbers = strange.iter().all(|&strange| strange == 0);
    let ends = (
        low.into_iter().fold(f64::INFINITY, f64::min),
        high.into_iter().fold(f64::NEG_INFINITY, f64::max),
    );
    numbers.then_some(ends)
}

/// Counts values between edges, which are about equally far apart. A value on an edge belongs to
/// the bin above; on the last edge, to the last bin. What is outside, or no number, is not counted.
///
/// The bin is computed and then put right by the edges, as NumPy does: so it does not matter how
/// it was rounded.
///
/// ```
/// let counts = dappled_sort::histogram::histogram(&[0.0, 0.5, 1.0, 2.0], &[0.0, 0.5, 1.0]);
/// assert_eq!(counts, [1, 2]);
/// ```
pub fn histogram(values: &[f64], edges: &[f64]) -> Vec<i64> {
    let bins = edges.len() - 1;
    let size = values.len().div_ceil(rayon::current_num_threads()).max(CHUNK);
    let counted = values.par_chunks(size).map(|values| part(values, &Bins::new(edges)));
    counted.reduce_with(added).unwrap_or_else(|| memory::zeros(bins))
}

fn added(mut total: Vec<i64>, counts: Vec<i64>) -> Vec<i64> {
    total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    total
}

fn part(values: &[f64], bins: &Bins<'_>) -> Vec<i64> {
    // One more than there are bins, for what is outside.
    let mut counts: Vec<[i64; LANES]> = memory::zeros(bins.count + 1);
    let (blocks, rest) = values.as_chunks::<BLOCK>();
    let mut found = [0; BLOCK];
    for (number, block) in blocks.iter().enumerate() {
        if number % CHUNK == 0 {
            interrupt::check();
        }
        if !bins.are_plain(block, &mut found) {
            found = block.map(|value| bins.of(value) as u32);
        }
        for row in found.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                let count = &mut counts[row[lane] as usize][lane];
                *count = count.wrapping_add(1);
            }
        }
    }
    for &value in rest {
        counts[bins.of(value)][0] += 1;
    }
    memory::collected(counts[..bins.count].iter().map(|lanes| lanes.iter().sum()))
}

/// Values whose bins are computed together, without looking at the edges.
const BLOCK: usize = 64;

/// Added to a number that is not too large, it leaves the nearest whole number in the lowest bits.
const WHOLE: f64 = 1.5 * (1_u64 << 52) as f64;

/// Bins, as they are looked up.
struct Bins<'a> {
    edges: &'a [f64],
    count: usize,
    first: f64,
    last: f64,
    scale: f64,
    /// So far from an edge, in bins, the computed one is right.
    sure: f64,
}

impl<'a> Bins<'a> {
    fn new(edges: &'a [f64]) -> Self {
        let count = edges.len() - 1;
        let (first, last) = (edges[0], edges[count]);
        let scale = count as f64 / (last - first);
        // How far edges are from where equal bins have them; and what rounding does to a place.
        let away = edges.iter().enumerate().map(|(at, edge)| (edge - first) * scale - at as f64);
        let away = away.fold(0.0, |most, away| if away.abs() <= most { most } else { away.abs() });
        let sure = 2.0 * away + 8.0 * count as f64 * f64::EPSILON;
        Self { edges, count, first, last, scale, sure }
    }

    /// Finds the bins of values that are all far enough from edges; false if they are not. No
    /// branches: several are done at once.
    #[inline(always)]
    fn are_plain(&self, values: &[f64; BLOCK], found: &mut [u32; BLOCK]) -> bool {
        let (outside, most) = (self.count as f64 + 0.5, 1.0 - self.sure);
        let mut strange = 0;
        for (&value, found) in values.iter().zip(found) {
            let inside = (self.first <= value) & (value <= self.last);
            let place = if inside { (value - self.first) * self.scale } else { outside };
            let shifted = place - 0.5 + WHOLE;
            let beyond = place - (shifted - WHOLE);
            strange |= u64::from(!((beyond > self.sure) & (beyond < most)));
            *found = shifted.to_bits() as u32;
        }
        strange == 0
    }

    /// The bin of a value, or the number of bins where it has none.
    #[inline(always)]
    fn of(&self, value: f64) -> usize {
        if !((self.first <= value) & (value <= self.last)) {
            return self.count;
        }
        let away = value - self.first;
        let guess = match self.scale.is_finite() {
            true => away * self.scale,
            // Bins narrower than numbers can say.
            false => away / (self.last - self.first) * self.count as f64,
        };
        let guess = guess as u32 as usize;
        let guess = guess.min(self.count - 1);
        let guess = guess.wrapping_sub(usize::from(value < self.edges[guess]));
        let next = guess.wrapping_add(1);
        let up = (value >= self.edges[next]) & (next < self.count);
        guess.wrapping_add(usize::from(up))
    }
}
