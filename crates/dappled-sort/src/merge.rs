//! Parallel merge of two sorted slices.

use dappled_base::interrupt;

use crate::config::PARALLEL_CHUNK_ELEMENTS;
use crate::numpy_order::MergeOrder;

/// Merges `a` and `b` into `out`; of equal values those of `a` come first.
///
/// ```
/// let mut out = [0; 5];
/// dappled_sort::merge::merge(&[1, 4], &[2, 3, 5], &mut out);
/// assert_eq!(out, [1, 2, 3, 4, 5]);
/// ```
pub fn merge<T: MergeOrder>(a: &[T], b: &[T], out: &mut [T]) {
    let (a, a_nans) = split_last(a);
    let (b, b_nans) = split_last(b);
    let (out, nans) = out.split_at_mut(a.len() + b.len());
    merge_parallel(a, b, out);
    nans[..a_nans.len()].copy_from_slice(a_nans);
    nans[a_nans.len()..].copy_from_slice(b_nans);
}

/// Merges runs pairwise by `merge`, in rounds, so that each element takes part in few merges.
///
/// ```
/// let joined = dappled_sort::merge::merge_runs(vec!["a", "b", "c"], |a, b| [a, b].concat().leak());
/// assert_eq!(joined, Some("abc"));
/// ```
pub fn merge_runs<R>(mut runs: Vec<R>, merge: impl Fn(R, R) -> R) -> Option<R> {
    while runs.len() > 1 {
        let mut unmerged = std::mem::take(&mut runs).into_iter();
        while let Some(one) = unmerged.next() {
            runs.push(match unmerged.next() {
                Some(other) => merge(one, other),
                None => one,
            });
        }
    }
    runs.pop()
}

/// Splits sorted values into numbers and the NaNs behind them.
fn split_last<T: MergeOrder>(values: &[T]) -> (&[T], &[T]) {
    values.split_at(values.partition_point(|value| !value.is_last()))
}

fn merge_parallel<T: MergeOrder>(a: &[T], b: &[T], out: &mut [T]) {
    interrupt::check();
    if out.len() <= PARALLEL_CHUNK_ELEMENTS {
        return merge_serial(a, b, out);
    }
    let (in_a, in_b) = split_point(a, b);
    let (left, right) = out.split_at_mut(in_a + in_b);
    rayon::join(
        || merge_parallel(&a[..in_a], &b[..in_b], left),
        || merge_parallel(&a[in_a..], &b[in_b..], right),
    );
}

/// Returns how many values of each slice go to the first half, split at the middle of the longer.
fn split_point<T: MergeOrder>(a: &[T], b: &[T]) -> (usize, usize) {
    if a.len() >= b.len() {
        let middle = a.len() / 2;
        (middle, b.partition_point(|other| other.is_less(a[middle])))
    } else {
        let middle = b.len() / 2;
        (a.partition_point(|other| !b[middle].is_less(*other)), middle)
    }
}

/// Merges from both ends at once, which gives two independent chains of operations. Takes as many
/// steps as neither slice can be exhausted by, so the loop needs no bounds checks or branches.
fn merge_serial<T: MergeOrder>(mut a: &[T], mut b: &[T], mut out: &mut [T]) {
    loop {
        let sure = a.len().min(b.len()) / 2;
        if sure == 0 {
            return merge_remainder(a, b, out);
        }
        let (front, rest) = out.split_at_mut(sure);
        let (rest, back) = rest.split_at_mut(rest.len() - sure);
        let (mut i, mut j) = (0, 0);
        let (mut last_a, mut last_b) = (a.len() - 1, b.len() - 1);
        for (low, high) in front.iter_mut().zip(back.iter_mut().rev()) {
            let (one, other) = (a[i], b[j]);
            let second = other.is_less(one);
            *low = if second { other } else { one };
            j = j.wrapping_add(usize::from(second));
            i = i.wrapping_add(usize::from(!second));
            let (one, other) = (a[last_a], b[last_b]);
            let first = other.is_less(one);
            *high = if first { one } else { other };
            last_a = last_a.wrapping_sub(usize::from(first));
            last_b = last_b.wrapping_sub(usize::from(!first));
        }
        (a, b, out) = (&a[i..=last_a], &b[j..=last_b], rest);
    }
}

/// Merges the rest once one slice is nearly exhausted.
fn merge_remainder<T: MergeOrder>(mut a: &[T], mut b: &[T], out: &mut [T]) {
    for out in out {
        match (a, b) {
            ([one, rest @ ..], []) => (*out, a) = (*one, rest),
            ([one, rest @ ..], [other, ..]) if !other.is_less(*one) => (*out, a) = (*one, rest),
            (_, [other, rest @ ..]) => (*out, b) = (*other, rest),
            ([], []) => return,
        }
    }
}
