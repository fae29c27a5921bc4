//! Rows written where others have sent them: of several for one row, the last one stays.

use rayon::prelude::*;

use crate::put::put_own;
use crate::route::number;
use crate::{ahead, place};

/// Parts of the target that are written at the same time, each by a thread that looks at all places.
const PARTS: usize = 8;

/// Writes rows of so many bytes, or the one there is, at places that are numbers of so many bytes.
///
/// ```
/// let mut target = *b"abcd";
/// dappled_sort::receive::write(&mut target, 1, &[2, 0, 0, 0, 0, 0, 0, 0], 4, b"xy");
/// assert_eq!(&target, b"ybxd");
/// ```
pub fn write(target: &mut [u8], width: usize, places: &[u8], place_bytes: usize, values: &[u8]) {
    match place_bytes {
        4 => each(target, width, places.as_chunks::<4>().0.iter().map(number), values),
        _ => each(target, width, places.as_chunks::<8>().0.iter().map(number), values),
    }
}

/// The same where rows are numbered as those of all parts are, `length` in all, of which the target
/// begins with the `start`-th: what belongs to others is left out.
pub fn write_own(
    target: &mut [u8],
    width: usize,
    numbers: &[i64],
    (start, length): (usize, usize),
    values: &[u8],
) {
    match width {
        1 => own::<1>(target, (start, length), numbers, values),
        2 => own::<2>(target, (start, length), numbers, values),
        4 => own::<4>(target, (start, length), numbers, values),
        8 => own::<8>(target, (start, length), numbers, values),
        16 => own::<16>(target, (start, length), numbers, values),
        _ => {
            let local = |&number: &i64| place(number, length).wrapping_sub(start);
            each(target, width, numbers.iter().map(local), values);
        }
    }
}

fn own<const N: usize>(target: &mut [u8], of: (usize, usize), numbers: &[i64], values: &[u8]) {
    put_own(target.as_chunks_mut::<N>().0, of, numbers, values.as_chunks::<N>().0);
}

/// The memory of each place is asked for before it is written.
fn each(
    target: &mut [u8],
    width: usize,
    places: impl ExactSizeIterator<Item = usize> + Clone + Sync,
    values: &[u8],
) {
    let parts = rayon::current_num_threads().min(PARTS);
    let rows = (target.len() / width).div_ceil(parts).max(1);
    target.par_chunks_mut(rows * width).enumerate().for_each(|(part, target)| {
        let places = places.clone().map(|place| place.wrapping_sub(part.wrapping_mul(rows)));
        match width {
            1 => fixed::<1>(target, places, values),
            2 => fixed::<2>(target, places, values),
            4 => fixed::<4>(target, places, values),
            8 => fixed::<8>(target, places, values),
            16 => fixed::<16>(target, places, values),
            _ => wide(target, width, places, values),
        }
    });
}

/// What does not belong here is written beside it, which costs less than to guess each time whether
/// it does.
fn fixed<const N: usize>(
    target: &mut [u8],
    places: impl Iterator<Item = usize> + Clone,
    values: &[u8],
) {
    let (rows, _) = target.as_chunks_mut::<N>();
    let mut beside = [0; N];
    let mut later = places.clone().skip(ahead::AHEAD);
    let mut put = |place: usize, value: &[u8; N]| {
        if let Some(later) = later.next() {
            ahead::ask(rows, later);
        }
        *rows.get_mut(place).unwrap_or(&mut beside) = *value;
    };
    match values.as_chunks::<N>().0 {
        [value] => places.for_each(|place| put(place, value)),
        values => places.zip(values).for_each(|(place, value)| put(place, value)),
    }
}

fn wide(target: &mut [u8], width: usize, places: impl Iterator<Item = usize>, values: &[u8]) {
    let rows = target.len() / width;
    let one = values.len() == width;
    for (at, place) in places.enumerate() {
        if place < rows {
            let from = if one { 0 } else { at };
            target[place * width..][..width].copy_from_slice(&values[from * width..][..width]);
        }
    }
}
