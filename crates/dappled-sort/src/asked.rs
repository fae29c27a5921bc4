//! What numbers ask of the parts that have their rows, and what comes of it put in the order of the numbers.

use dappled_base::memory;
use rayon::prelude::*;

use crate::ahead;
use crate::near::NEAR;
use crate::route::{Rows, Wrong, ask, known, number, place_bytes};

/// Numbers that a thread asks about at a time, at least.
const SHARE: usize = 1 << 13;

/// What some numbers ask for.
#[derive(Debug, Default)]
pub struct Asked {
    /// How many these are.
    numbers: usize,
    /// The places that each part is asked for.
    columns: Vec<Vec<u8>>,
    /// Which numbers of a near block these belong to: of each block, part by part.
    chosen: Vec<u8>,
    /// Where those of each part end among those of their block.
    ends: Vec<u16>,
    /// Bytes of a place.
    place_bytes: usize,
}

/// What each thread's share of the numbers asks of all parts.
///
/// ```
/// use dappled_sort::{asked, route::Rows};
/// let (asked, mut out) = (asked::ask_all(&[1, 3, -1], &[0, 2, 5]).unwrap(), [0; 3]);
/// assert_eq!(asked::column(&asked, 1, vec![]), [1, 0, 0, 0, 2, 0, 0, 0]);
/// asked::own(&asked, 0, Rows { bytes: b"ab", width: 1 }, &mut out);
/// asked::join(&asked, 1, b"de", 1, &mut out);
/// assert_eq!(&out, b"bde");
/// ```
pub fn ask_all(numbers: &[i64], starts: &[u64]) -> Result<Vec<Asked>, Wrong> {
    let size = numbers.len().div_ceil(rayon::current_num_threads()).max(SHARE);
    if numbers.len() <= size {
        return Ok(vec![Asked::new(numbers, starts)?]); // no other thread has to be woken
    }
    let shares = numbers.par_chunks(size.next_multiple_of(NEAR));
    shares.map(|numbers| Asked::new(numbers, starts)).collect()
}

/// All places that a part is asked for, appended to this memory.
pub fn column(asked: &[Asked], part: usize, mut room: Vec<u8>) -> Vec<u8> {
    asked.iter().for_each(|asked| memory::append(&mut room, &asked.columns[part]));
    room
}

/// Writes the rows that are asked of a part that is at hand.
pub fn own(asked: &[Asked], part: usize, rows: Rows<'_>, out: &mut [u8]) {
    let act = match (rows.width, asked.first().map(|asked| asked.place_bytes)) {
        (1, Some(4)) => Asked::look_up::<1, 4>,
        (4, Some(4)) => Asked::look_up::<4, 4>,
        (8, Some(4)) => Asked::look_up::<8, 4>,
        (16, Some(4)) => Asked::look_up::<16, 4>,
        (_, Some(4)) => Asked::look_up::<0, 4>,
        _ => Asked::look_up::<0, 8>,
    };
    each_share(asked, part, rows.width, out, |asked, _, out| act(asked, part, rows, out));
}

/// Writes the rows that a part has answered, in the order in which it was asked.
pub fn join(asked: &[Asked], part: usize, answers: &[u8], width: usize, out: &mut [u8]) {
    let act = match width {
        1 => Asked::put::<1>,
        4 => Asked::put::<4>,
        8 => Asked::put::<8>,
        16 => Asked::put::<16>,
        _ => Asked::put::<0>,
    };
    each_share(asked, part, width, out, |asked, first, out| {
        act(asked, part, &answers[first * width..], width, out);
    });
}

/// Each share, with the number of rows that shares before it ask of a part, and its part of the target.
fn each_share(
    asked: &[Asked],
    part: usize,
    width: usize,
    mut out: &mut [u8],
    act: impl Fn(&Asked, usize, &mut [u8]) + Sync,
) {
    let (mut first, mut shares) = (0, Vec::new());
    for asked in asked {
        let (here, rest) = std::mem::take(&mut out).split_at_mut(asked.numbers * width);
        shares.push((asked, first, here));
        first += asked.columns[part].len() / asked.place_bytes;
        out = rest;
    }
    match shares.len() {
        1 => shares.into_iter().for_each(|(asked, first, out)| act(asked, first, out)),
        _ => shares.into_par_iter().for_each(|(asked, first, out)| act(asked, first, out)),
    }
}

impl Asked {
    fn new(numbers: &[i64], starts: &[u64]) -> Result<Self, Wrong> {
        let (parts, place_bytes) = (starts.len() - 1, place_bytes(starts));
        // A little more than if all are asked for as many.
        let room = numbers.len() / parts * place_bytes;
        let mut columns: Vec<Vec<u8>> =
            (0..parts).map(|_| memory::with_room(room + room / 8)).collect();
        let mut chosen = memory::with_room(numbers.len());
        let mut ends = memory::with_room(numbers.len().div_ceil(NEAR) * parts);
        ask(numbers, starts, 0..parts, &mut columns, |_, first, found| {
            memory::append(&mut chosen, found);
            ends.push((chosen.len() - first) as u16);
        })?;
        Ok(Self { numbers: numbers.len(), columns, chosen, ends, place_bytes })
    }

    fn look_up<const W: usize, const N: usize>(&self, part: usize, rows: Rows<'_>, out: &mut [u8]) {
        let width = known::<W>(rows.width);
        let (places, _) = self.columns[part].as_chunks::<N>();
        self.write::<W>(part, width, out, |at| {
            if let Some(later) = places.get(at.wrapping_add(ahead::AHEAD)) {
                ahead::ask(rows.bytes, number(later).wrapping_mul(width));
            }
            &rows.bytes[number(&places[at]).wrapping_mul(width)..][..width]
        });
    }

    fn put<const W: usize>(&self, part: usize, answers: &[u8], width: usize, out: &mut [u8]) {
        let width = known::<W>(width);
        self.write::<W>(part, width, out, |at| &answers[at.wrapping_mul(width)..][..width]);
    }

    /// Writes the rows of a part, of which `row` gives one after the other.
    #[inline(always)]
    fn write<'a, const W: usize>(
        &self,
        part: usize,
        width: usize,
        out: &mut [u8],
        row: impl Fn(usize) -> &'a [u8],
    ) {
        let (width, mut done) = (known::<W>(width), 0_usize);
        let ends = self.ends.chunks_exact(self.columns.len());
        let blocks = self.chosen.chunks(NEAR).zip(out.chunks_mut(NEAR * width));
        for (ends, (chosen, out)) in ends.zip(blocks) {
            let before = if part == 0 { 0 } else { ends[part - 1] };
            for &at in &chosen[before.into()..ends[part].into()] {
                out[usize::from(at).wrapping_mul(width)..][..width].copy_from_slice(row(done));
                done = done.wrapping_add(1);
            }
        }
    }
}
