//! Rows by their numbers, where the rows lie in parts that follow one another: which of them each part
//! is asked for, what it answers, and the answers in the order of the numbers.
//!
//! A part is asked by the places in it, as little-endian bytes: four of them where it has no more rows
//! than those can say ([`place_bytes`]). Which answer belongs where is in [`crate::asked`].

use dappled_base::memory;
use rayon::prelude::*;

use crate::dealt::Dealt;
use crate::near::{self, Chosen, NEAR};
use crate::{CHUNK, ahead, place};

/// The first number that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong(pub i64);

/// Of so many parts each is looked for among all numbers, several of them at a time; of more, each number
/// is asked for its part.
const FEW: usize = 12;

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
/// dappled_sort::route::ask(&[1, 3, -1], &[0, 2, 5], 0..2, &mut columns, |_, _, _| ()).unwrap();
/// assert_eq!(columns, [[1, 0, 0, 0].to_vec(), [[1, 0, 0, 0], [2, 0, 0, 0]].concat()]);
/// ```
pub fn ask(
    numbers: &[i64],
    starts: &[u64],
    parts: impl Iterator<Item = usize> + Clone,
    columns: &mut [Vec<u8>],
    mut give: impl FnMut(usize, usize, &[u8]),
) -> Result<(), Wrong> {
    let (length, bytes) = (starts[columns.len()] as usize, place_bytes(starts));
    let (mut near, few) = ([0; NEAR], bytes == 4 && columns.len() <= FEW);
    let (mut chosen, mut dealt) = (Chosen::none(), Dealt::new(columns.len()));
    for (block, numbers) in numbers.chunks(NEAR).enumerate() {
        let (near, first) = (&mut near[..numbers.len()], block * NEAR);
        if !near::rows_of(numbers, length, near) {
            return Err(first_wrong(numbers, starts).expect("one is out of range"));
        }
        if few {
            for part in parts.clone() {
                chosen.choose(near, starts[part], starts[part + 1]);
                memory::append(&mut columns[part], chosen.places());
                give(part, first, chosen.at());
            }
        } else {
            dealt.deal(near, starts);
            for part in parts.clone() {
                dealt.append(&mut columns[part], near, (part, starts[part]), bytes);
                give(part, first, dealt.at(part));
            }
        }
    }
    Ok(())
}

/// The first number that is out of range, if there is one.
pub fn first_wrong(numbers: &[i64], starts: &[u64]) -> Option<Wrong> {
    let length = starts.last().map_or(0, |&length| length as usize);
    numbers.iter().copied().find(|&number| place(number, length) >= length).map(Wrong)
}

/// Appends to a column the rows, of so many bytes each, that some of the numbers stand beside.
pub fn append_rows(column: &mut Vec<u8>, rows: Rows<'_>, first: usize, chosen: &[u8]) {
    match rows.width {
        4 => append_known::<4>(column, rows, first, chosen),
        8 => append_known::<8>(column, rows, first, chosen),
        _ => append_known::<0>(column, rows, first, chosen),
    }
}

fn append_known<const W: usize>(column: &mut Vec<u8>, rows: Rows<'_>, first: usize, chosen: &[u8]) {
    let width = known::<W>(rows.width);
    memory::reserve(column, chosen.len() * width);
    for &at in chosen {
        let from = first.wrapping_add(at.into()).wrapping_mul(width);
        column.extend_from_slice(&rows.bytes[from..][..width]);
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
/// use dappled_sort::route::{Rows, answered};
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
    if rayon::current_num_threads() == 1 {
        return act(rows, places, out);
    }
    let chunks = out.par_chunks_mut(chunk * rows.width).zip(places.par_chunks(chunk * place_bytes));
    chunks.for_each(|(out, places)| act(rows, places, out));
}

/// The width of rows: known when the loop is compiled, where it is not 0.
#[inline(always)]
pub(crate) fn known<const WIDTH: usize>(width: usize) -> usize {
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
        if let Some(later) = places.get(at.wrapping_add(ahead::AHEAD)) {
            ahead::ask(rows.bytes, number(later).wrapping_mul(width));
        }
        out.copy_from_slice(&rows.bytes[number(place).wrapping_mul(width)..][..width]);
    }
}
