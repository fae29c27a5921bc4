//! How many values fall into each of equally wide bins.

use rayon::prelude::*;

use crate::CHUNK;

/// Counts side by side, so that values in a row do not wait for one another.
const LANES: usize = 4;

/// Counts values between edges, which are about equally far apart; `scale` is how many bins there
/// are to a unit. A value on an edge belongs to the bin above; on the last edge, to the last bin.
/// What is outside, or no number, is not counted.
///
/// The bin is computed and then put right by the edges, as NumPy does: so it does not matter how
/// it was rounded.
///
/// ```
/// let counts = dappled_sorting::histogram::histogram(&[0.0, 0.5, 1.0, 2.0], &[0.0, 0.5, 1.0]);
/// assert_eq!(counts, [1, 2]);
/// ```
pub fn histogram(values: &[f64], edges: &[f64]) -> Vec<i64> {
    let bins = edges.len() - 1;
    let size = values.len().div_ceil(rayon::current_num_threads()).max(CHUNK);
    let counted = values.par_chunks(size).map(|values| part(values, edges));
    counted.reduce_with(added).unwrap_or_else(|| vec![0; bins])
}

fn added(mut total: Vec<i64>, counts: Vec<i64>) -> Vec<i64> {
    total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    total
}

fn part(values: &[f64], edges: &[f64]) -> Vec<i64> {
    let bins = edges.len() - 1;
    // One more than there are bins, for what is outside.
    let mut counts = vec![[0_i64; LANES]; bins + 1];
    let (rows, rest) = values.as_chunks::<LANES>();
    for row in rows {
        for lane in 0..LANES {
            let count = &mut counts[bin(row[lane], edges)][lane];
            *count = count.wrapping_add(1);
        }
    }
    for &value in rest {
        counts[bin(value, edges)][0] += 1;
    }
    counts[..bins].iter().map(|lanes| lanes.iter().sum()).collect()
}

/// The bin of a value, or the number of bins where it has none.
#[inline(always)]
fn bin(value: f64, edges: &[f64]) -> usize {
    let bins = edges.len() - 1;
    let (first, last) = (edges[0], edges[bins]);
    let inside = (first <= value) & (value <= last);
    let scale = bins as f64 / (last - first);
    let guess = ((value - first) * scale) as i64 as usize;
    let guess = if inside { guess.min(bins - 1) } else { 0 };
    let guess = guess.wrapping_sub(usize::from(inside & (value < edges[guess])));
    let next = guess.wrapping_add(1);
    let up = (value >= edges[next]) & (next < bins);
    if inside { guess.wrapping_add(usize::from(up)) } else { bins }
}
