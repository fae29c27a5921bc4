//! How many values fall into each of equally wide bins.

use rayon::prelude::*;

use crate::CHUNK;
use crate::count::added;

/// Counts values between edges, which are about equally far apart. A value on an edge belongs to the
/// bin above; on the last edge, to the last bin. What is outside, or no number, is not counted.
///
/// The bin is computed and then put right by the edges, with the operations of NumPy's
/// `histogram`: rounding may not move a value into another bin than there.
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

fn part(values: &[f64], edges: &[f64]) -> Vec<i64> {
    let bins = edges.len() - 1;
    let (first, last) = (edges[0], edges[bins]);
    let span = last - first;
    // One more than there are bins, for what is outside.
    let mut counts = vec![0; bins + 1];
    for &value in values {
        let inside = first <= value && value <= last;
        let guess = ((value - first) / span * bins as f64) as usize;
        let guess = guess.min(bins - 1);
        let guess = guess - usize::from(inside && value < edges[guess]);
        let up = guess + 1 < bins && value >= edges[guess + 1];
        counts[if inside { guess + usize::from(up) } else { bins }] += 1;
    }
    counts.truncate(bins);
    counts
}
