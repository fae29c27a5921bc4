//! Elements written at places: where a place is named more than once, the last one stays.

use rayon::prelude::*;

use crate::take::{OutOfRange, first_wrong};
use crate::{CHUNK, place};

/// Parts of the target that are written at the same time, each by a thread that looks at all indices.
const PARTS: usize = 8;

/// Writes each value at its index; one value is written at all of them. If an index is out of range,
/// nothing is written.
///
/// ```
/// let mut target = [0; 4];
/// dappled_sorting::put::put(&mut target, &[1, -1, 1], &[7, 8, 9]).unwrap();
/// assert_eq!(target, [0, 9, 0, 8]);
/// ```
pub fn put<T: Copy + Send + Sync>(
    target: &mut [T],
    at: &[i64],
    values: &[T],
) -> Result<(), OutOfRange> {
    check(at, target.len())?;
    let parts = rayon::current_num_threads().min(PARTS);
    let (length, size) = (target.len(), target.len().div_ceil(parts).max(1));
    target.par_chunks_mut(size).enumerate().for_each(|(part, target)| {
        let start = part * size;
        match values {
            [value] => write(target, start, length, at.iter().map(|&index| (index, *value))),
            _ => write(target, start, length, at.iter().copied().zip(values.iter().copied())),
        }
    });
    Ok(())
}

/// Are all indices in range?
pub fn check(at: &[i64], length: usize) -> Result<(), OutOfRange> {
    let chunks = at.par_chunks(CHUNK).enumerate();
    let wrong = chunks.filter_map(|(chunk, at)| {
        first_wrong(at, length).map(|index| OutOfRange(chunk * CHUNK + index))
    });
    wrong.min().map_or(Ok(()), Err)
}

/// Writes what belongs to this part. What does not is written beside it, which costs less than to
/// guess each time whether it does.
fn write<T: Copy>(
    target: &mut [T],
    start: usize,
    length: usize,
    items: impl Iterator<Item = (i64, T)>,
) {
    let Some(&first) = target.first() else { return };
    let mut beside = first;
    for (index, value) in items {
        let slot = target.get_mut(place(index, length).wrapping_sub(start));
        *slot.unwrap_or(&mut beside) = value;
    }
}
