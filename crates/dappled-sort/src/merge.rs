//! Two sorted slices into one.

use dappled_base::interrupt;

use crate::CHUNK;
use crate::order::Key;

/// Writes both in order into `out`; of values that are equal, those of `a` come first.
///
/// ```
/// let mut out = [0; 5];
/// dappled_sort::merge::merge(&[1, 4], &[2, 3, 5], &mut out);
/// assert_eq!(out, [1, 2, 3, 4, 5]);
/// ```
pub fn merge<T: Key>(a: &[T], b: &[T], out: &mut [T]) {
    let (a, a_nans) = numbers(a);
    let (b, b_nans) = numbers(b);
    let (out, nans) = out.split_at_mut(a.len() + b.len());
    merge_numbers(a, b, out);
    nans[..a_nans.len()].copy_from_slice(a_nans);
    nans[a_nans.len()..].copy_from_slice(b_nans);
}

/// What is a number, and what comes after.
fn numbers<T: Key>(values: &[T]) -> (&[T], &[T]) {
    values.split_at(values.partition_point(|value| !value.is_nan()))
}

fn merge_numbers<T: Key>(a: &[T], b: &[T], out: &mut [T]) {
    interrupt::check();
    if out.len() <= CHUNK {
        return in_turn(a, b, out);
    }
    let (in_a, in_b) = halves(a, b);
    let (left, right) = out.split_at_mut(in_a + in_b);
    rayon::join(
        || merge_numbers(&a[..in_a], &b[..in_b], left),
        || merge_numbers(&a[in_a..], &b[in_b..], right),
    );
}

/// How many of each go into the first half, about: as many as come before the middle of the longer.
fn halves<T: Key>(a: &[T], b: &[T]) -> (usize, usize) {
    if a.len() >= b.len() {
        let middle = a.len() / 2;
        (middle, b.partition_point(|other| other < &a[middle]))
    } else {
        let middle = b.len() / 2;
        (a.partition_point(|other| other <= &b[middle]), middle)
    }
}

/// From both ends at the same time: neither waits for the other. As long as no slice can be used up
/// there is nothing to ask but which comes first, and no branch.
fn in_turn<T: Key>(mut a: &[T], mut b: &[T], mut out: &mut [T]) {
    loop {
        let sure = a.len().min(b.len()) / 2;
        if sure == 0 {
            return one_by_one(a, b, out);
        }
        let (front, rest) = out.split_at_mut(sure);
        let (rest, back) = rest.split_at_mut(rest.len() - sure);
        let (mut i, mut j) = (0, 0);
        let (mut last_a, mut last_b) = (a.len() - 1, b.len() - 1);
        for (low, high) in front.iter_mut().zip(back.iter_mut().rev()) {
            let (one, other) = (a[i], b[j]);
            let second = other < one;
            *low = if second { other } else { one };
            j = j.wrapping_add(usize::from(second));
            i = i.wrapping_add(usize::from(!second));
            let (one, other) = (a[last_a], b[last_b]);
            let first = one > other;
            *high = if first { one } else { other };
            last_a = last_a.wrapping_sub(usize::from(first));
            last_b = last_b.wrapping_sub(usize::from(!first));
        }
        (a, b, out) = (&a[i..=last_a], &b[j..=last_b], rest);
    }
}

/// What is left where one slice has hardly anything.
fn one_by_one<T: Key>(mut a: &[T], mut b: &[T], out: &mut [T]) {
    for out in out {
        match (a, b) {
            ([one, rest @ ..], []) => (*out, a) = (*one, rest),
            ([one, rest @ ..], [other, ..]) if one <= other => (*out, a) = (*one, rest),
            (_, [other, rest @ ..]) => (*out, b) = (*other, rest),
            ([], []) => return,
        }
    }
}
