//! What a mask chooses, in order.

use rayon::prelude::*;

use crate::CHUNK;

/// Elements that are put together before they are written out: they stay in the nearest cache.
const NEAR: usize = 1024;

/// How many are chosen.
pub fn count(mask: &[bool]) -> usize {
    mask.par_chunks(CHUNK).map(count_in).sum()
}

fn count_in(mask: &[bool]) -> usize {
    let few = |mask: &[bool]| mask.iter().map(|&chosen| u8::from(chosen)).sum::<u8>() as usize;
    mask.chunks(255).map(few).sum()
}

/// The values that are chosen, in order; `out` has room for just as many.
///
/// ```
/// let mut out = [0; 2];
/// dappled_sorting::compact::compact(&[true, false, true], &[5, 6, 7], &mut out);
/// assert_eq!(out, [5, 7]);
/// ```
pub fn compact<T: Copy + Default + Send + Sync>(mask: &[bool], values: &[T], out: &mut [T]) {
    let values = &values[..mask.len()];
    each(mask, out, |start, mask, out| {
        let values = &values[start..start + mask.len()];
        written(mask.iter().copied().zip(values.iter().copied()), out);
    });
}

/// The places that are chosen.
pub fn places(mask: &[bool], out: &mut [i64]) {
    each(mask, out, |start, mask, out| {
        written(mask.iter().copied().zip(start as i64..), out);
    });
}

/// Each part of a mask, with the part of the output that it fills.
fn each<T: Send>(mask: &[bool], out: &mut [T], act: impl Fn(usize, &[bool], &mut [T]) + Sync) {
    let counts: Vec<usize> = mask.par_chunks(CHUNK).map(count_in).collect();
    let mut rest = out;
    let mut parts = Vec::with_capacity(counts.len());
    for count in counts {
        let (part, after) = rest.split_at_mut(count);
        parts.push(part);
        rest = after;
    }
    let parts = mask.par_chunks(CHUNK).zip(parts).enumerate();
    parts.for_each(|(chunk, (mask, out))| act(chunk * CHUNK, mask, out));
}

/// Every value is written, and the next one over it if it was not chosen: nothing is guessed.
fn written<T: Copy + Default>(items: impl Iterator<Item = (bool, T)>, out: &mut [T]) {
    let mut near = [T::default(); NEAR];
    let (mut filled, mut done) = (0, 0);
    for (chosen, value) in items {
        near[filled % NEAR] = value;
        filled += usize::from(chosen);
        if filled == NEAR {
            out[done..done + NEAR].copy_from_slice(&near);
            (filled, done) = (0, done + NEAR);
        }
    }
    out[done..].copy_from_slice(&near[..filled]);
}
