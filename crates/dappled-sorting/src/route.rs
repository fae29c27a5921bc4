//! Rows by their numbers, where the rows lie in parts that follow one another: which of them each part
//! is asked for, what it answers, and the answers in the order of the numbers.
//!
//! A part is asked by the places in it, as little-endian bytes: four of them where it has no more rows
//! than those can say ([`place_bytes`]). Nothing else need be remembered, for the numbers say again
//! to which part each answer belongs.

use rayon::prelude::*;

use crate::{CHUNK, ahead, place};

/// Numbers that are looked at once for each part while they are in the nearest cache.
const NEAR: usize = 256;
/// So many rows are on their way at the same time.
const AHEAD: usize = 64;

/// The first number that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong(pub i64);

/// Bytes that say a place in any part; `starts` are their first rows, and the number of all rows.
pub fn place_bytes(starts: &[u64]) -> usize {
    let longest = starts.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0);
    if longest <= 1 << 32 { 4 } else { 8 }
}

/// Appends to the columns of the parts the places that they are asked for, in the order of the numbers.
/// `give` is told for each part which of the numbers, from so many-th on, these were.
///
/// ```
/// let mut columns = [vec![], vec![]];
/// dappled_sorting::route::ask(&[1, 3, -1], &[0, 2, 5], 0..2, &mut columns, |_, _, _| ()).unwrap();
/// assert_eq!(columns, [[1, 0, 0, 0].to_vec(), [[1, 0, 0, 0], [2, 0, 0, 0]].concat()]);
/// ```
pub fn ask(
    numbers: &[i64],
    starts: &[u64],
    parts: impl Iterator<Item = usize> + Clone,
    columns: &mut [Vec<u8>],
    mut give: impl FnMut(usize, usize, &[u32]),
) -> Result<(), Wrong> {
    let (length, bytes) = (starts[columns.len()] as usize, place_bytes(starts));
    let (mut near, mut chosen) = ([0; NEAR], [0; NEAR]);
    for (block, numbers) in numbers.chunks(NEAR).enumerate() {
        let near = &mut near[..numbers.len()];
        rows_of(numbers, length, near).map_err(|at| Wrong(numbers[at]))?;
        for part in parts.clone() {
            let count = chosen_of(near, starts[part], starts[part + 1], &mut chosen);
            let chosen = &chosen[..count];
            match bytes {
                4 => append::<4>(&mut columns[part], near, chosen, starts[part]),
                _ => append::<8>(&mut columns[part], near, chosen, starts[part]),
            }
            give(part, block * NEAR, chosen);
        }
    }
    Ok(())
}

/// The rows that numbers mean, which may count from the end; or where the first wrong one stands.
fn rows_of(numbers: &[i64], length: usize, rows: &mut [u64]) -> Result<(), usize> {
    let mut wrong = false;
    for (row, &number) in rows.iter_mut().zip(numbers) {
        let found = place(number, length);
        *row = found as u64;
        wrong |= found >= length;
    }
    let first = || rows.iter().position(|&row| row >= length as u64);
    if wrong { first().map_or(Ok(()), Err) } else { Ok(()) }
}

/// Writes which of a few rows are in a part; how many are. Every one is written, and the next one
/// over it if it is not: nothing is guessed.
fn chosen_of(rows: &[u64], start: u64, stop: u64, chosen: &mut [u32; NEAR]) -> usize {
    let (mut count, length) = (0, stop - start);
    for (at, row) in rows.iter().enumerate() {
        chosen[count % NEAR] = at as u32;
        count = count.wrapping_add(usize::from(row.wrapping_sub(start) < length));
    }
    count
}

fn append<const N: usize>(column: &mut Vec<u8>, rows: &[u64], chosen: &[u32], start: u64) {
    let filled = column.len();
    column.resize(filled + chosen.len() * N, 0);
    let (slots, _) = column[filled..].as_chunks_mut::<N>();
    for (slot, &at) in slots.iter_mut().zip(chosen) {
        let place = rows[at as usize % NEAR].wrapping_sub(start).to_le_bytes();
        slot.copy_from_slice(&place[..N]);
    }
}

/// Appends to a column the rows, of so many bytes each, that some of the numbers stand beside.
pub fn append_rows(column: &mut Vec<u8>, rows: Rows<'_>, first: usize, chosen: &[u32]) {
    match rows.width {
        4 => append_known::<4>(column, rows, first, chosen),
        8 => append_known::<8>(column, rows, first, chosen),
        _ => append_known::<0>(column, rows, first, chosen),
    }
}

fn append_known<const W: usize>(
    column: &mut Vec<u8>,
    rows: Rows<'_>,
    first: usize,
    chosen: &[u32],
) {
    let (width, filled) = (known::<W>(rows.width), column.len());
    column.resize(filled + chosen.len() * width, 0);
    for (slot, &at) in column[filled..].chunks_exact_mut(width).zip(chosen) {
        let from = first.wrapping_add(at as usize).wrapping_mul(width);
        slot.copy_from_slice(&rows.bytes[from..][..width]);
    }
}

/// Rows of a part, of so many bytes each.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// Their bytes.
    pub bytes: &'a [u8],
    /// The bytes of one.
    pub width: usize,
}

/// What a part answers: the rows at these places, which are numbers of so many bytes.
///
/// ```
/// use dappled_sorting::route::{Rows, answered};
/// let mut out = [0; 4];
/// answered(Rows { bytes: b"aabbcc", width: 2 }, &[2, 0, 0, 0, 1, 0, 0, 0], 4, &mut out);
/// assert_eq!(&out, b"ccbb");
/// ```
pub fn answered(rows: Rows<'_>, places: &[u8], place_bytes: usize, out: &mut [u8]) {
    let chunk = (CHUNK / rows.width).max(1);
    let act = match (rows.width, place_bytes) {
        (1, 4) => answer::<1, 4>,
        (4, 4) => answer::<4, 4>,
        (8, 4) => answer::<8, 4>,
        (16, 4) => answer::<16, 4>,
        (_, 4) => answer::<0, 4>,
        _ => answer::<0, 8>,
    };
    let chunks = out.par_chunks_mut(chunk * rows.width).zip(places.par_chunks(chunk * place_bytes));
    chunks.for_each(|(out, places)| act(rows, places, out));
}

/// The width of rows: known when the loop is compiled, where it is not 0.
#[inline(always)]
fn known<const WIDTH: usize>(width: usize) -> usize {
    if WIDTH == 0 { width } else { WIDTH }
}

/// A place, read in one piece: put together in memory, it would wait for all that is on its way.
#[inline(always)]
pub(crate) fn number<const N: usize>(bytes: &[u8; N]) -> usize {
    match (bytes.first_chunk::<8>(), bytes.first_chunk::<4>()) {
        (Some(bytes), _) => u64::from_le_bytes(*bytes) as usize,
        (_, Some(bytes)) => u32::from_le_bytes(*bytes) as usize,
        _ => 0,
    }
}

fn answer<const WIDTH: usize, const N: usize>(rows: Rows<'_>, places: &[u8], out: &mut [u8]) {
    let width = known::<WIDTH>(rows.width);
    let (places, _) = places.as_chunks::<N>();
    for (at, (place, out)) in places.iter().zip(out.chunks_exact_mut(width)).enumerate() {
        if let Some(later) = places.get(at.wrapping_add(AHEAD)) {
            ahead::ask(rows.bytes, number(later).wrapping_mul(width));
        }
        out.copy_from_slice(&rows.bytes[number(place).wrapping_mul(width)..][..width]);
    }
}

/// Writes the rows that numbers mean, in their order: what the parts have answered, each in the order in
/// which it was asked. All numbers are in range.
///
/// ```
/// let mut out = [0; 3];
/// dappled_sorting::route::join(&[1, 3, -1], &[0, 2, 5], &[b"b", b"de"], 1, &mut out);
/// assert_eq!(&out, b"bde");
/// ```
pub fn join(numbers: &[i64], starts: &[u64], answers: &[&[u8]], width: usize, out: &mut [u8]) {
    let act = match width {
        1 => share::<1>,
        4 => share::<4>,
        8 => share::<8>,
        16 => share::<16>,
        _ => share::<0>,
    };
    let size = numbers.len().div_ceil(rayon::current_num_threads()).max(CHUNK);
    let mut first = vec![0; answers.len()];
    let mut firsts = Vec::new();
    for share in numbers.chunks(size) {
        firsts.push(first.clone());
        if firsts.len() * size < numbers.len() {
            count(share, starts, &mut first);
        }
    }
    let shares = numbers.par_chunks(size).zip(out.par_chunks_mut(size * width)).zip(firsts);
    shares.for_each(|((numbers, out), firsts)| {
        let rest = answers.iter().zip(firsts).map(|(answers, first)| &answers[first * width..]);
        act(numbers, starts, &mut rest.collect::<Vec<_>>(), width, out);
    });
}

/// Adds how many of the numbers are in each part.
fn count(numbers: &[i64], starts: &[u64], counts: &mut [usize]) {
    let length = starts[counts.len()] as usize;
    for numbers in numbers.chunks(NEAR) {
        for (count, ends) in counts.iter_mut().zip(starts.windows(2)) {
            let inside = |&number: &i64| {
                let row = place(number, length) as u64;
                usize::from((ends[0] <= row) & (row < ends[1]))
            };
            *count += numbers.iter().map(inside).fold(0, usize::wrapping_add);
        }
    }
}

fn share<const WIDTH: usize>(
    numbers: &[i64],
    starts: &[u64],
    answers: &mut [&[u8]],
    width: usize,
    out: &mut [u8],
) {
    let width = known::<WIDTH>(width);
    let length = starts[answers.len()] as usize;
    let (mut near, mut chosen) = ([0; NEAR], [0; NEAR]);
    for (numbers, out) in numbers.chunks(NEAR).zip(out.chunks_mut(NEAR * width)) {
        let near = &mut near[..numbers.len()];
        // All are in range, as whoever asked has seen.
        let _ = rows_of(numbers, length, near);
        for (answers, ends) in answers.iter_mut().zip(starts.windows(2)) {
            let count = chosen_of(near, ends[0], ends[1], &mut chosen);
            let (rows, rest) = answers.split_at(count * width);
            for (row, &at) in rows.chunks_exact(width).zip(&chosen) {
                out[(at as usize).wrapping_mul(width)..][..width].copy_from_slice(row);
            }
            *answers = rest;
        }
    }
}
