//! Elements written at places: where a place is named more than once, the last one stays.

use dappled_base::memory;
use rayon::prelude::*;

use crate::marks::{Parts, WORD};
use crate::take::{OutOfRange, first_wrong};
use crate::{CHUNK, place};

/// Parts of the target that are written at the same time.
const PARTS: usize = 8;

/// Writes each value at its index; one value is written at all of them. If an index is out of range,
/// nothing is written.
///
/// ```
/// let mut target = [0; 4];
/// dappled_sort::put::put(&mut target, &[1, -1, 1], &[7, 8, 9]).unwrap();
/// assert_eq!(target, [0, 9, 0, 8]);
/// ```
pub fn put<T: Copy + Send + Sync>(
    target: &mut [T],
    at: &[i64],
    values: &[T],
) -> Result<(), OutOfRange> {
    let parts = Parts::of(target, 0, target.len());
    let marks = marked(&parts, at)?;
    write(target, &parts, &marks, at, values);
    Ok(())
}

/// The same of indices that are in range, where the target begins with the `first` of so many: what
/// belongs elsewhere is left out.
pub(crate) fn put_own<T: Copy + Send + Sync>(
    target: &mut [T],
    (first, length): (usize, usize),
    at: &[i64],
    values: &[T],
) {
    let parts = Parts::of(target, first, length);
    if let Ok(marks) = marked(&parts, at) {
        write(target, &parts, &marks, at, values);
    }
}

impl Parts {
    /// As many as there are threads, of a target that begins with the `first` of so many.
    fn of<T>(target: &[T], first: usize, length: usize) -> Self {
        let count = rayon::current_num_threads().min(PARTS);
        Self { length, first, size: target.len().div_ceil(count).max(1), count }
    }
}

/// Writes what is marked, each part by a thread.
fn write<T: Copy + Send + Sync>(
    target: &mut [T],
    parts: &Parts,
    marks: &[u64],
    at: &[i64],
    values: &[T],
) {
    let Some(&any) = values.first() else { return };
    let (at, values, same) = (Words::of(at, 0), Words::of(values, any), [any; WORD]);
    let row = |word| if values.length == 1 { &same } else { values.get(word) };
    target.par_chunks_mut(parts.size).enumerate().for_each(|(part, target)| {
        let start = parts.first + part * parts.size;
        let slot = |index| place(index, parts.length).wrapping_sub(start);
        for (word, marks) in marks.chunks_exact(parts.count).enumerate() {
            let (at, values, mut left) = (at.get(word), row(word), marks[part]);
            while left != 0 {
                let bit = left.trailing_zeros() as usize % WORD;
                // The last part is marked as long as the others.
                if let Some(target) = target.get_mut(slot(at[bit])) {
                    *target = values[bit];
                }
                left &= left.wrapping_sub(1);
            }
        }
    });
}

/// Elements by as many as a word of bits is for; the last ones with others behind them.
struct Words<'a, T> {
    whole: &'a [[T; WORD]],
    last: [T; WORD],
    length: usize,
}

impl<'a, T: Copy> Words<'a, T> {
    fn of(elements: &'a [T], other: T) -> Self {
        let (whole, rest) = elements.as_chunks::<WORD>();
        let mut last = [other; WORD];
        last[..rest.len()].copy_from_slice(rest);
        Self { whole, last, length: elements.len() }
    }

    fn get(&self, word: usize) -> &[T; WORD] {
        self.whole.get(word).unwrap_or(&self.last)
    }
}

/// The parts of all indices; so these are read by all threads together, and then by each only its own.
fn marked(parts: &Parts, at: &[i64]) -> Result<Vec<u64>, OutOfRange> {
    let mut marks = memory::zeros(at.len().div_ceil(WORD) * parts.count);
    let chunks = at.par_chunks(CHUNK).zip(marks.par_chunks_mut(CHUNK / WORD * parts.count));
    let wrong = chunks.enumerate().filter_map(|(chunk, (at, marks))| {
        let right = parts.mark(at, marks);
        let wrong = if right { None } else { first_wrong(at, parts.length) };
        wrong.map(|index| OutOfRange(chunk * CHUNK + index))
    });
    match wrong.min() {
        Some(wrong) => Err(wrong),
        None => Ok(marks),
    }
}
