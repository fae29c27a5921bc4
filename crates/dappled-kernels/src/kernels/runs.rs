//! How each family of dtypes folds a run of values, in the order in which NumPy's loops do.

use std::marker::PhantomData;

use half::f16;

use super::ahead::ask_ahead;
use super::arithmetic::{Arithmetic, BinaryOp};
use super::fold::{Cuts, Folding};
use crate::element::Element;
use crate::tree::{Summand, half_node_sum, node_sum};

/// The pairwise sum of floats and complex numbers.
pub(super) struct Pairwise<T>(PhantomData<T>);

impl<T: Summand + Arithmetic> Folding for Pairwise<T> {
    type Item = T;
    type State = T;
    const ELEMENTS: u64 = T::ELEMENTS;
    const CUTS: Cuts = Cuts::Tree;
    const SIGNALS: bool = true;

    #[inline(always)]
    fn apply(acc: T, value: T) -> T {
        acc + value
    }
    #[inline(always)]
    fn part(values: &[T], state: &mut [T]) {
        state[0] = node_sum(values);
    }
    #[inline(always)]
    fn join(left: &mut [T], right: &[T]) {
        left[0] = left[0] + right[0];
    }
    #[inline(always)]
    fn finish(acc: T, state: &[T]) -> T {
        acc + state[0]
    }
    #[inline(always)]
    fn run(acc: T, values: &[T]) -> T {
        acc + if values.len() < 8 { T::leaf_sum(values) } else { node_sum(values) }
    }
}

/// The pairwise sum of float16: in float32, rounded after each run.
pub(super) struct HalfSum;

impl Folding for HalfSum {
    type Item = f16;
    type State = f32;
    const CUTS: Cuts = Cuts::Tree;
    const SIGNALS: bool = true;

    #[inline(always)]
    fn apply(acc: f16, value: f16) -> f16 {
        acc.add(value)
    }
    #[inline(always)]
    fn part(values: &[f16], state: &mut [f32]) {
        state[0] = half_node_sum(values);
    }
    #[inline(always)]
    fn join(left: &mut [f32], right: &[f32]) {
        left[0] += right[0];
    }
    #[inline(always)]
    fn finish(acc: f16, state: &[f32]) -> f16 {
        f16::from_f32(acc.to_f32() + state[0])
    }
    #[inline(always)]
    fn run(acc: f16, values: &[f16]) -> f16 {
        Self::finish(acc, &[half_node_sum(values)])
    }
}

/// Operations for which no cut matters: exact ones, and those of a scalar loop that keep the
/// first or the last of equal values.
pub(super) struct Plain<O, T>(PhantomData<(O, T)>);

impl<T: Element, O: BinaryOp<T, Out = T>> Folding for Plain<O, T> {
    type Item = T;
    type State = T;
    const CUTS: Cuts = Cuts::Anywhere;

    #[inline(always)]
    fn apply(acc: T, value: T) -> T {
        O::apply(acc, value)
    }
    #[inline(always)]
    fn part(values: &[T], state: &mut [T]) {
        state[0] = Self::run(values[0], &values[1..]);
    }
    #[inline(always)]
    fn join(left: &mut [T], right: &[T]) {
        left[0] = O::apply(left[0], right[0]);
    }
    #[inline(always)]
    fn finish(acc: T, state: &[T]) -> T {
        O::apply(acc, state[0])
    }
    #[inline(always)]
    fn run(acc: T, values: &[T]) -> T {
        values.iter().fold(acc, |acc, &value| O::apply(acc, value))
    }
}

/// Minimum and maximum of float32 and float64, where the last of equal values wins: among zeros
/// of both signs NumPy's lanes show.
///
/// Contiguous values go round N lanes of a vector, in each of which the accumulator comes first,
/// and the lanes' halves are folded until one is left. Others go round eight scalars, which are
/// folded in order, the accumulator before them. What is left over comes last in both.
pub(super) struct Lanes<O, T, const N: usize, const CONTIGUOUS: bool>(PhantomData<(O, T)>);

impl<T: Element, O: BinaryOp<T, Out = T>, const N: usize, const CONTIGUOUS: bool> Folding
    for Lanes<O, T, N, CONTIGUOUS>
{
    type Item = T;
    type State = T;
    const LANES: usize = N;
    const CUTS: Cuts = Cuts::Lanes;

    #[inline(always)]
    fn apply(acc: T, value: T) -> T {
        O::apply(acc, value)
    }
    #[inline(always)]
    fn part(values: &[T], state: &mut [T]) {
        state.copy_from_slice(&lanes::<O, T, N>(values.as_chunks::<N>().0));
    }
    #[inline(always)]
    fn join(left: &mut [T], right: &[T]) {
        left.iter_mut().zip(right).for_each(|(left, &right)| *left = O::apply(*left, right));
    }
    #[inline(always)]
    fn finish(acc: T, state: &[T]) -> T {
        if !CONTIGUOUS {
            return state.iter().fold(acc, |acc, &lane| O::apply(acc, lane));
        }
        let mut lanes: [T; N] = std::array::from_fn(|at| O::apply(acc, state[at]));
        let mut len = N;
        while len > 1 {
            len /= 2;
            for at in 0..len {
                lanes[at] = O::apply(lanes[at], lanes[at + len]);
            }
        }
        lanes[0]
    }
    #[inline(always)]
    fn run(acc: T, values: &[T]) -> T {
        let (rows, tail) = values.as_chunks::<N>();
        let acc = if rows.is_empty() { acc } else { Self::finish(acc, &lanes::<O, T, N>(rows)) };
        tail.iter().fold(acc, |acc, &value| O::apply(acc, value))
    }
}

/// Folds rows lane by lane. Eight at a time are folded in pairs, which is the same and does not
/// wait for each operation's end.
#[inline(always)]
fn lanes<O: BinaryOp<T, Out = T>, T: Element, const N: usize>(rows: &[[T; N]]) -> [T; N] {
    let (mut acc, rest) = (rows[0], &rows[1..]);
    let (blocks, tail) = rest.as_chunks::<8>();
    for block in blocks {
        ask_ahead(block.as_flattened());
        let [a, b, c, d, e, f, g, h] = block;
        for at in 0..N {
            let left = O::apply(O::apply(a[at], b[at]), O::apply(c[at], d[at]));
            let right = O::apply(O::apply(e[at], f[at]), O::apply(g[at], h[at]));
            acc[at] = O::apply(acc[at], O::apply(left, right));
        }
    }
    for row in tail {
        for at in 0..N {
            acc[at] = O::apply(acc[at], row[at]);
        }
    }
    acc
}
