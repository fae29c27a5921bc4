//! Two sorted slices into one.

use crate::CHUNK;
use crate::order::Key;

/// Writes both in order into `out`; of values that are equal, those of `a` come first.
///
/// ```
/// let mut out = [0; 5];
/// dappled_sorting::merge::merge(&[1, 4], &[2, 3, 5], &mut out);
/// assert_eq!(out, [1, 2, 3, 4, 5]);
/// ```
pub fn merge<T: Key>(a: &[T], b: &[T], out: &mut [T]) {
    if out.len() <= CHUNK {
        return in_turn(a, b, out);
    }
    let (in_a, in_b) = halves(a, b);
    let (left, right) = out.split_at_mut(in_a + in_b);
    rayon::join(|| merge(&a[..in_a], &b[..in_b], left), || merge(&a[in_a..], &b[in_b..], right));
}

/// How many of each go into the first half, about: as many as come before the middle of the longer.
fn halves<T: Key>(a: &[T], b: &[T]) -> (usize, usize) {
    if a.len() >= b.len() {
        let middle = a.len() / 2;
        (middle, b.partition_point(|&other| other.before(a[middle])))
    } else {
        let middle = b.len() / 2;
        (a.partition_point(|&other| !b[middle].before(other)), middle)
    }
}

fn in_turn<T: Key>(a: &[T], b: &[T], out: &mut [T]) {
    let (mut i, mut j) = (0, 0);
    for at in 0..out.len() {
        let (Some(&one), Some(&other)) = (a.get(i), b.get(j)) else {
            let (a, b) = (&a[i..], &b[j..]);
            out[at..at + a.len()].copy_from_slice(a);
            out[at + a.len()..].copy_from_slice(b);
            return;
        };
        let second = other.before(one);
        out[at] = if second { other } else { one };
        i += usize::from(!second);
        j += usize::from(second);
    }
}
