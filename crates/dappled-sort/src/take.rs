//! Elements by their places.

use dappled_base::interrupt;
use rayon::prelude::*;

use crate::{CHUNK, ahead, place};

/// Which of the indices, counted from 0, is the first that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutOfRange(pub usize);

/// Writes, for each index, a row of so many elements into `out`.
///
/// ```
/// let mut out = [0; 4];
/// dappled_sort::take::take(&[1, 2, 3, 4, 5, 6], 2, &[-1, 0], &mut out).unwrap();
/// assert_eq!(out, [5, 6, 1, 2]);
/// ```
pub fn take<T: Copy + Send + Sync>(
    from: &[T],
    width: usize,
    at: &[i64],
    out: &mut [T],
) -> Result<(), OutOfRange> {
    if width == 0 {
        return Ok(());
    }
    let rows = (CHUNK / width).max(1);
    let chunks = out.par_chunks_mut(rows * width).zip(at.par_chunks(rows)).enumerate();
    let wrong = chunks.filter_map(|(chunk, (out, at))| {
        interrupt::check();
        let found = match width {
            1 => elements(from, at, out),
            _ => rows_of(from, width, at, out),
        };
        found.map(|index| OutOfRange(chunk * rows + index))
    });
    wrong.min().map_or(Ok(()), Err)
}

/// All indices are looked at first.
fn elements<T: Copy>(from: &[T], at: &[i64], out: &mut [T]) -> Option<usize> {
    let wrong = first_wrong(at, from.len());
    match size_of_val(from) {
        _ if wrong.is_some() => {}
        ..=ahead::NEAR => {
            at.iter().zip(out).for_each(|(&index, out)| *out = from[place(index, from.len())])
        }
        _ => from_afar(from, at, out),
    }
    wrong
}

fn from_afar<T: Copy>(from: &[T], at: &[i64], out: &mut [T]) {
    for (number, (&index, out)) in at.iter().zip(out).enumerate() {
        if let Some(&later) = at.get(number + ahead::AHEAD) {
            ahead::ask(from, place(later, from.len()));
        }
        *out = from[place(index, from.len())];
    }
}

/// The first index that is out of range, if there is one: nearly always none.
pub(crate) fn first_wrong(at: &[i64], length: usize) -> Option<usize> {
    let is_wrong = |index: i64| place(index, length) >= length;
    let any = at.iter().fold(false, |any, &index| any | is_wrong(index));
    if any { at.iter().position(|&index| is_wrong(index)) } else { None }
}

fn rows_of<T: Copy>(from: &[T], width: usize, at: &[i64], out: &mut [T]) -> Option<usize> {
    let length = from.len() / width;
    for (number, (&index, out)) in at.iter().zip(out.chunks_exact_mut(width)).enumerate() {
        let row = place(index, length);
        if row >= length {
            return Some(number);
        }
        out.copy_from_slice(&from[row * width..][..width]);
    }
    None
}
