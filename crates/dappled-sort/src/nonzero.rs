//! Positions of the true elements of a mask, as `numpy.nonzero` returns them.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::config::PARALLEL_CHUNK_ELEMENTS;
use crate::route::simd_select::{ONE_PER_BYTE, SET_BIT_POSITIONS};

const WORD_ELEMENTS: usize = 8;
/// Multiplier that gathers the lowest bit of each byte into the highest byte.
const LOW_BIT_GATHER: u64 = 0x0102_0408_1020_4080;

/// Counts the true elements.
pub fn count_nonzero(mask: &[bool]) -> usize {
    mask.par_chunks(PARALLEL_CHUNK_ELEMENTS).map(count_chunk).sum()
}

fn count_chunk(mask: &[bool]) -> usize {
    let add = |total: u8, &is_true: &bool| total.wrapping_add(u8::from(is_true));
    mask.chunks(128).map(|block| block.iter().fold(0, add) as usize).sum()
}

/// Writes the positions of the true elements; `out` has exactly that length.
///
/// ```
/// let mut out = [0; 2];
/// dappled_sort::nonzero::nonzero(&[true, false, true], &mut out);
/// assert_eq!(out, [0, 2]);
/// ```
pub fn nonzero(mask: &[bool], out: &mut [i64]) {
    for_each_chunk(mask, out, |start, mask, mut out| {
        let (words, rest) = mask.as_chunks::<WORD_ELEMENTS>();
        let mut last = [false; WORD_ELEMENTS];
        last[..rest.len()].copy_from_slice(rest);
        for (index, word) in words.iter().chain([&last]).enumerate() {
            let count = write_word((start + index * WORD_ELEMENTS) as i64, word, out);
            out = &mut out[count..];
        }
    });
}

/// Writes the positions of the true elements of one word and returns their number. If there is
/// room, writes all eight positions without a branch; later words overwrite the surplus.
#[inline(always)]
fn write_word(first: i64, word: &[bool; WORD_ELEMENTS], out: &mut [i64]) -> usize {
    let word = u64::from_le_bytes(word.map(u8::from));
    let count = (word.wrapping_mul(ONE_PER_BYTE) >> 56) as usize;
    let positions =
        SET_BIT_POSITIONS[(word.wrapping_mul(LOW_BIT_GATHER) >> 56) as usize].to_le_bytes();
    // Written directly to the output: partial stores followed by a wide load of the same memory
    // would stall.
    match out.first_chunk_mut::<WORD_ELEMENTS>() {
        Some(slots) => write_positions(first, positions, slots),
        None => write_positions(first, positions, &mut out[..count]),
    }
    count
}

#[inline(always)]
fn write_positions(first: i64, positions: [u8; WORD_ELEMENTS], out: &mut [i64]) {
    for (out, position) in out.iter_mut().zip(positions) {
        *out = first.wrapping_add(position.into());
    }
}

/// Runs `act` on each chunk of the mask with the part of the output that it fills.
fn for_each_chunk<T: Send>(
    mask: &[bool],
    out: &mut [T],
    act: impl Fn(usize, &[bool], &mut [T]) + Sync,
) {
    let counts: Vec<usize> = mask.par_chunks(PARALLEL_CHUNK_ELEMENTS).map(count_chunk).collect();
    let mut rest = out;
    let mut parts = memory::with_capacity(counts.len());
    for count in counts {
        let (part, after) = rest.split_at_mut(count);
        parts.push(part);
        rest = after;
    }
    let parts = mask.par_chunks(PARALLEL_CHUNK_ELEMENTS).zip(parts).enumerate();
    parts.for_each(|(chunk, (mask, out))| {
        interrupt::check();
        act(chunk * PARALLEL_CHUNK_ELEMENTS, mask, out);
    });
}
