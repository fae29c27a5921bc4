//! Where a mask is true, in order.

use rayon::prelude::*;

use crate::CHUNK;

/// Elements that are put together before they are written out: they stay in the nearest cache.
const NEAR: usize = 1024;
/// Elements that are looked at before it is asked whether there is still room for as many.
const STEP: usize = 32;

/// How many are chosen.
pub fn count(mask: &[bool]) -> usize {
    mask.par_chunks(CHUNK).map(count_in).sum()
}

fn count_in(mask: &[bool]) -> usize {
    let one = |total: u8, &chosen: &bool| total.wrapping_add(u8::from(chosen));
    mask.chunks(128).map(|few| few.iter().fold(0, one) as usize).sum()
}

/// The places that are chosen; `out` has room for just as many.
///
/// ```
/// let mut out = [0; 2];
/// dappled_sorting::compact::places(&[true, false, true], &mut out);
/// assert_eq!(out, [0, 2]);
/// ```
pub fn places(mask: &[bool], out: &mut [i64]) {
    each(mask, out, |start, mask, out| {
        let mut target = Target::new(out);
        for (number, mask) in mask.chunks(STEP).enumerate() {
            let first = (start + number * STEP) as i64;
            target.write(mask.iter().copied().zip(first..));
        }
        target.finish();
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

/// Every value is written near, and the next one over it if it was not chosen: nothing is guessed.
struct Target<'a, T> {
    near: [T; 2 * NEAR],
    filled: usize,
    out: &'a mut [T],
}

impl<'a, T: Copy + Default> Target<'a, T> {
    fn new(out: &'a mut [T]) -> Self {
        Self { near: [T::default(); 2 * NEAR], filled: 0, out }
    }

    /// Takes at most as many as a step has.
    #[inline(always)]
    fn write(&mut self, items: impl Iterator<Item = (bool, T)>) {
        let mut filled = self.filled;
        for (chosen, value) in items {
            self.near[filled % (2 * NEAR)] = value;
            filled = filled.wrapping_add(usize::from(chosen));
        }
        self.filled = filled;
        if filled >= NEAR {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let out = std::mem::take(&mut self.out);
        let (done, rest) = out.split_at_mut(self.filled);
        done.copy_from_slice(&self.near[..self.filled]);
        (self.out, self.filled) = (rest, 0);
    }

    fn finish(mut self) {
        self.flush();
    }
}
