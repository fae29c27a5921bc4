//! `put`: writes values at indices; for repeated indices the last value wins.

#[allow(unsafe_code)]
pub(crate) mod part_bitmap;

use dappled_base::memory;
use rayon::prelude::*;

use self::part_bitmap::{TargetParts, WORD_BITS};
use crate::config::{MAX_TARGET_PARTS, PARALLEL_CHUNK_ELEMENTS};
use crate::take::{OutOfBoundsPosition, first_out_of_bounds};
use crate::wrap_index;

/// Writes each value at its index; a single value is written at all indices. Writes nothing if an
/// index is out of bounds.
///
/// ```
/// let mut target = [0; 4];
/// dappled_sort::put::put(&mut target, &[1, -1, 1], &[7, 8, 9]).unwrap();
/// assert_eq!(target, [0, 9, 0, 8]);
/// ```
pub fn put<T: Copy + Send + Sync>(
    target: &mut [T],
    indices: &[i64],
    values: &[T],
) -> Result<(), OutOfBoundsPosition> {
    let parts = TargetParts::split(target, 0, target.len());
    let marks = build_bitmap(&parts, indices)?;
    write_marked(target, &parts, &marks, indices, values);
    Ok(())
}

/// Writes the values whose indices fall into the target, a range of `length` elements that starts
/// at `first`. All indices must be in bounds.
pub(crate) fn put_local<T: Copy + Send + Sync>(
    target: &mut [T],
    (first, length): (usize, usize),
    indices: &[i64],
    values: &[T],
) {
    let parts = TargetParts::split(target, first, length);
    if let Ok(marks) = build_bitmap(&parts, indices) {
        write_marked(target, &parts, &marks, indices, values);
    }
}

impl TargetParts {
    /// Splits a target into one part per thread.
    fn split<T>(target: &[T], first: usize, length: usize) -> Self {
        let count = rayon::current_num_threads().min(MAX_TARGET_PARTS);
        Self { length, first, size: target.len().div_ceil(count).max(1), count }
    }
}

/// Writes the marked values, one thread per part.
fn write_marked<T: Copy + Send + Sync>(
    target: &mut [T],
    parts: &TargetParts,
    marks: &[u64],
    indices: &[i64],
    values: &[T],
) {
    let Some(&filler) = values.first() else { return };
    let (indices, values, repeated) =
        (WordChunks::of(indices, 0), WordChunks::of(values, filler), [filler; WORD_BITS]);
    let row = |word| if values.length == 1 { &repeated } else { values.get(word) };
    target.par_chunks_mut(parts.size).enumerate().for_each(|(part, target)| {
        let start = parts.first + part * parts.size;
        let slot = |index| wrap_index(index, parts.length).wrapping_sub(start);
        for (word, marks) in marks.chunks_exact(parts.count).enumerate() {
            let (indices, values, mut remaining) = (indices.get(word), row(word), marks[part]);
            while remaining != 0 {
                let bit = remaining.trailing_zeros() as usize % WORD_BITS;
                // The last part may be shorter than its marks assume.
                if let Some(target) = target.get_mut(slot(indices[bit])) {
                    *target = values[bit];
                }
                remaining &= remaining.wrapping_sub(1);
            }
        }
    });
}

/// Elements in chunks of one bitmap word; the last chunk is filled up.
struct WordChunks<'a, T> {
    whole: &'a [[T; WORD_BITS]],
    last: [T; WORD_BITS],
    length: usize,
}

impl<'a, T: Copy> WordChunks<'a, T> {
    fn of(elements: &'a [T], other: T) -> Self {
        let (whole, rest) = elements.as_chunks::<WORD_BITS>();
        let mut last = [other; WORD_BITS];
        last[..rest.len()].copy_from_slice(rest);
        Self { whole, last, length: elements.len() }
    }

    fn get(&self, word: usize) -> &[T; WORD_BITS] {
        self.whole.get(word).unwrap_or(&self.last)
    }
}

/// Builds the bitmap of all indices in parallel, so that each thread then reads only its own.
fn build_bitmap(parts: &TargetParts, indices: &[i64]) -> Result<Vec<u64>, OutOfBoundsPosition> {
    let mut marks = memory::zeros(indices.len().div_ceil(WORD_BITS) * parts.count);
    let chunks = indices
        .par_chunks(PARALLEL_CHUNK_ELEMENTS)
        .zip(marks.par_chunks_mut(PARALLEL_CHUNK_ELEMENTS / WORD_BITS * parts.count));
    let out_of_bounds = chunks.enumerate().filter_map(|(chunk, (indices, marks))| {
        let is_valid = parts.mark(indices, marks);
        let out_of_bounds =
            if is_valid { None } else { first_out_of_bounds(indices, parts.length) };
        out_of_bounds.map(|index| OutOfBoundsPosition(chunk * PARALLEL_CHUNK_ELEMENTS + index))
    });
    match out_of_bounds.min() {
        Some(out_of_bounds) => Err(out_of_bounds),
        None => Ok(marks),
    }
}
