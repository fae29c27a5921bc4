//! The reduction rule of each dtype family, in the order of NumPy's loops.

use std::marker::PhantomData;

use half::f16;

use super::{ReduceRule, Splitting};
use crate::loops::elementwise::arithmetic::Arithmetic;
use crate::loops::elementwise::ops::BinaryOp;
use crate::loops::prefetch::prefetch;
use crate::loops::reduce::pairwise_tree::{Summand, half_node_sum, node_sum};
use crate::types::element::Element;

/// The pairwise sum of floats and complex numbers.
pub(crate) struct PairwiseSum<T>(PhantomData<T>);

impl<T: Summand + Arithmetic> ReduceRule for PairwiseSum<T> {
    type Item = T;
    type State = T;
    const ELEMENTS: u64 = T::ELEMENTS;
    const SPLITTING: Splitting = Splitting::Tree;
    const RAISES_CPU_FLAGS: bool = true;

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

/// The pairwise sum of float16: computed in float32, rounded after each run.
pub(crate) struct Float16Sum;

impl ReduceRule for Float16Sum {
    type Item = f16;
    type State = f32;
    const SPLITTING: Splitting = Splitting::Tree;
    const RAISES_CPU_FLAGS: bool = true;

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

/// Operations that may be split anywhere: exact ones, and those of scalar loops that keep the first
/// or the last of equal values.
pub(crate) struct ExactReduce<O, T>(PhantomData<(O, T)>);

impl<T: Element, O: BinaryOp<T, Out = T>> ReduceRule for ExactReduce<O, T> {
    type Item = T;
    type State = T;
    const SPLITTING: Splitting = Splitting::Anywhere;

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

/// Minimum and maximum of float32 and float64, where the last of equal values wins.
///
/// NumPy's lanes show in the sign of zeros. Contiguous values cycle through N vector lanes, each
/// starting with the accumulator, and halves of the lanes are combined until one is left. Other
/// values cycle through eight scalars, which are combined in order after the accumulator. The
/// remaining values come last in both cases.
pub(crate) struct LaneReduce<O, T, const N: usize, const CONTIGUOUS: bool>(PhantomData<(O, T)>);

impl<T: Element, O: BinaryOp<T, Out = T>, const N: usize, const CONTIGUOUS: bool> ReduceRule
    for LaneReduce<O, T, N, CONTIGUOUS>
{
    type Item = T;
    type State = T;
    const LANES: usize = N;
    const SPLITTING: Splitting = Splitting::Lanes;

    #[inline(always)]
    fn apply(acc: T, value: T) -> T {
        O::apply(acc, value)
    }
    #[inline(always)]
    fn part(values: &[T], state: &mut [T]) {
        state.copy_from_slice(&reduce_lanes::<O, T, N>(values.as_chunks::<N>().0));
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
        let acc =
            if rows.is_empty() { acc } else { Self::finish(acc, &reduce_lanes::<O, T, N>(rows)) };
        tail.iter().fold(acc, |acc, &value| O::apply(acc, value))
    }
}

/// Reduces rows lane by lane. Eight at a time are combined in pairs, with the same result and
/// shorter dependency chains.
#[inline(always)]
fn reduce_lanes<O: BinaryOp<T, Out = T>, T: Element, const N: usize>(rows: &[[T; N]]) -> [T; N] {
    let (mut acc, rest) = (rows[0], &rows[1..]);
    let (blocks, tail) = rest.as_chunks::<8>();
    for block in blocks {
        prefetch(block.as_flattened());
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
