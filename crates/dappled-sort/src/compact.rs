//! Where a mask is true, in order.

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::CHUNK;
use crate::near::{ONES, PLACES};

/// Elements that are looked at together: as many as a word has bytes.
const STEP: usize = 8;
/// In the highest byte of a product with it is the lowest bit of each byte.
const LOWEST: u64 = 0x0102_0408_1020_4080;

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
/// dappled_sort::compact::places(&[true, false, true], &mut out);
/// assert_eq!(out, [0, 2]);
/// ```
pub fn places(mask: &[bool], out: &mut [i64]) {
    each(mask, out, |start, mask, mut out| {
        let (words, rest) = mask.as_chunks::<STEP>();
        let mut last = [false; STEP];
        last[..rest.len()].copy_from_slice(rest);
        for (number, word) in words.iter().chain([&last]).enumerate() {
            let count = write((start + number * STEP) as i64, word, out);
            out = &mut out[count..];
        }
    });
}

/// Writes the places of a few, the first of which has the place `first`; how many are chosen. Where
/// there is room for all, all are written, and others later over what was not chosen: nothing is guessed.
#[inline(always)]
fn write(first: i64, word: &[bool; STEP], out: &mut [i64]) -> usize {
    let word = u64::from_le_bytes(word.map(u8::from));
    let count = (word.wrapping_mul(ONES) >> 56) as usize;
    let places = PLACES[(word.wrapping_mul(LOWEST) >> 56) as usize].to_le_bytes();
    // There first, and not elsewhere: what is written by parts cannot soon be read as a whole.
    match out.first_chunk_mut::<STEP>() {
        Some(room) => write_all(first, places, room),
        None => write_all(first, places, &mut out[..count]),
    }
    count
}

#[inline(always)]
fn write_all(first: i64, places: [u8; STEP], out: &mut [i64]) {
    for (out, place) in out.iter_mut().zip(places) {
        *out = first.wrapping_add(place.into());
    }
}

/// Each part of a mask, with the part of the output that it fills.
fn each<T: Send>(mask: &[bool], out: &mut [T], act: impl Fn(usize, &[bool], &mut [T]) + Sync) {
    let counts: Vec<usize> = mask.par_chunks(CHUNK).map(count_in).collect();
    let mut rest = out;
    let mut parts = memory::with_room(counts.len());
    for count in counts {
        let (part, after) = rest.split_at_mut(count);
        parts.push(part);
        rest = after;
    }
    let parts = mask.par_chunks(CHUNK).zip(parts).enumerate();
    parts.for_each(|(chunk, (mask, out))| {
        interrupt::check();
        act(chunk * CHUNK, mask, out);
    });
}
