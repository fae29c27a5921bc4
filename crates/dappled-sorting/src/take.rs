//! Elements by their places.

use rayon::prelude::*;

use crate::{CHUNK, place};

/// Which of the indices, counted from 0, is the first that is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutOfRange(pub usize);

/// Writes, for each index, a row of so many elements into `out`.
///
/// ```
/// let mut out = [0; 4];
/// dappled_sorting::take::take(&[1, 2, 3, 4, 5, 6], 2, &[-1, 0], &mut out).unwrap();
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
        let found = match width {
            1 => elements(from, at, out),
            _ => rows_of(from, width, at, out),
        };
        found.map(|index| OutOfRange(chunk * rows + index))
    });
    wrong.min().map_or(Ok(()), Err)
}

fn elements<T: Copy>(from: &[T], at: &[i64], out: &mut [T]) -> Option<usize> {
    for (number, (&index, out)) in at.iter().zip(out).enumerate() {
        match from.get(place(index, from.len())) {
            Some(&value) => *out = value,
            None => return Some(number),
        }
    }
    None
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
