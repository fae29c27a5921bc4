//! NumPy's pairwise tree of additions over a flat index, so that a sum has NumPy's bits
//! whatever threads or ranks do its parts.
//!
//! A node of more than 128 elements is halved, the left part rounded down to a multiple of 8.
//! A leaf is summed with 8 accumulators. A complex number counts as two elements. The source is
//! `@TYPE@_pairwise_sum` in NumPy's `loops_utils.h.src`. A node's tree depends on its length
//! alone, not on where it begins.

use std::ops::{Add, Range};

use half::f16;
use num_complex::{Complex, Complex32, Complex64};

use crate::Element;

/// The most elements of a leaf; of complex numbers, half as many.
pub const LEAF: u64 = 128;

/// A number that is summed by the tree.
pub trait Summand: Element + Add<Output = Self> {
    /// What is added to nothing: with it, a sum of minus zeros is minus zero.
    const MINUS_ZERO: Self;
    /// As how many elements it counts.
    const ELEMENTS: u64 = 1;
    /// The sum of a leaf.
    fn leaf_sum(values: &[Self]) -> Self;
}

impl Summand for f32 {
    const MINUS_ZERO: f32 = -0.0;
    #[inline(always)]
    fn leaf_sum(values: &[f32]) -> f32 {
        leaf_of_reals(values)
    }
}

impl Summand for f64 {
    const MINUS_ZERO: f64 = -0.0;
    #[inline(always)]
    fn leaf_sum(values: &[f64]) -> f64 {
        leaf_of_reals(values)
    }
}

impl Summand for Complex32 {
    const MINUS_ZERO: Self = Complex { re: -0.0, im: -0.0 };
    const ELEMENTS: u64 = 2;
    #[inline(always)]
    fn leaf_sum(values: &[Self]) -> Self {
        leaf_of_pairs(values)
    }
}

impl Summand for Complex64 {
    const MINUS_ZERO: Self = Complex { re: -0.0, im: -0.0 };
    const ELEMENTS: u64 = 2;
    #[inline(always)]
    fn leaf_sum(values: &[Self]) -> Self {
        leaf_of_pairs(values)
    }
}

/// Where a node is cut in two; None if it is a leaf.
#[inline(always)]
pub fn cut<T: Summand>(node: &Range<u64>) -> Option<u64> {
    let len = (node.end - node.start) * T::ELEMENTS;
    let half = len / 2;
    (len > LEAF).then(|| node.start + (half - half % 8) / T::ELEMENTS)
}

#[inline(always)]
fn leaf_of_reals<T: Summand>(values: &[T]) -> T {
    let Some((sums, tail)) = columns::<T, 8>(values) else { return in_sequence(values) };
    let [a, b, c, d, e, f, g, h] = sums;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    tail.iter().fold(sum, |sum, &value| sum + value)
}

#[inline(always)]
fn leaf_of_pairs<T: Summand>(values: &[T]) -> T {
    let Some((sums, tail)) = columns::<T, 4>(values) else { return in_sequence(values) };
    let [a, b, c, d] = sums;
    tail.iter().fold((a + b) + (c + d), |sum, &value| sum + value)
}

#[inline(always)]
fn in_sequence<T: Summand>(values: &[T]) -> T {
    values.iter().fold(T::MINUS_ZERO, |sum, &value| sum + value)
}

/// The sums of every N-th value, and the values left over; None if there are fewer than N.
#[inline(always)]
fn columns<T: Summand, const N: usize>(values: &[T]) -> Option<([T; N], &[T])> {
    let (first, rest) = values.split_first_chunk::<N>()?;
    let (rows, tail) = rest.as_chunks::<N>();
    let mut sums = *first;
    for row in rows {
        for (sum, &value) in sums.iter_mut().zip(row) {
            *sum = *sum + value;
        }
    }
    Some((sums, tail))
}

/// The sum of a node whose values are all at hand.
#[inline]
pub fn node_sum<T: Summand>(values: &[T]) -> T {
    match cut::<T>(&(0..values.len() as u64)) {
        Some(middle) => {
            let (left, right) = values.split_at(middle as usize);
            node_sum(left) + node_sum(right)
        }
        None => T::leaf_sum(values),
    }
}

/// The same of float16, which NumPy sums in float32.
pub(crate) fn half_node_sum(values: &[f16]) -> f32 {
    match cut::<f32>(&(0..values.len() as u64)) {
        Some(middle) => {
            let (left, right) = values.split_at(middle as usize);
            half_node_sum(left) + half_node_sum(right)
        }
        None => {
            let mut wide = [0.0; LEAF as usize];
            for (wide, value) in wide.iter_mut().zip(values) {
                *wide = value.to_f32();
            }
            f32::leaf_sum(&wide[..values.len()])
        }
    }
}

/// What a rank contributes to a sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A whole node: its sum.
    Node(Range<u64>),
    /// Part of a leaf: its values.
    Values(Range<u64>),
}

impl Part {
    /// The indices.
    pub fn range(&self) -> &Range<u64> {
        match self {
            Part::Node(range) | Part::Values(range) => range,
        }
    }

    /// How many.
    #[allow(clippy::len_without_is_empty)] // A part of nothing is none.
    pub fn len(&self) -> u64 {
        self.range().end - self.range().start
    }

    /// How many numbers are sent for it.
    pub fn count(&self) -> u64 {
        match self {
            Part::Node(_) => 1,
            Part::Values(_) => self.len(),
        }
    }

    /// The same, beginning elsewhere.
    pub fn at(&self, start: u64) -> Part {
        let range = start..start + self.len();
        match self {
            Part::Node(_) => Part::Node(range),
            Part::Values(_) => Part::Values(range),
        }
    }
}

/// The parts that make up a range of a tree of `total` elements: the largest nodes inside it, and
/// what it holds of the leaf at each end.
///
/// ```
/// use dappled_kernels::tree::{Part, cover};
/// assert_eq!(cover::<f64>(256, 100..256), [Part::Values(100..128), Part::Node(128..256)]);
/// ```
pub fn cover<T: Summand>(total: u64, range: Range<u64>) -> Vec<Part> {
    let mut parts = Vec::new();
    push_cover::<T>(0..total, &range, &mut parts);
    parts
}

fn push_cover<T: Summand>(node: Range<u64>, range: &Range<u64>, parts: &mut Vec<Part>) {
    let (start, end) = (node.start.max(range.start), node.end.min(range.end));
    if start >= end {
        return;
    }
    match cut::<T>(&node) {
        _ if start == node.start && end == node.end => parts.push(Part::Node(node)),
        None => parts.push(Part::Values(start..end)),
        Some(middle) => {
            push_cover::<T>(node.start..middle, range, parts);
            push_cover::<T>(middle..node.end, range, parts);
        }
    }
}

/// Joins the parts of all ranks, in order: each with its sum, or with its values. None if they do
/// not make up the tree.
pub fn join<T: Summand>(total: u64, parts: &[(Part, Vec<T>)]) -> Option<T> {
    let mut parts = parts.iter();
    let sum = if total == 0 { T::MINUS_ZERO } else { join_node(0..total, &mut parts)? };
    parts.next().is_none().then_some(T::default() + sum)
}

type Parts<'a, T> = std::slice::Iter<'a, (Part, Vec<T>)>;

fn join_node<T: Summand>(node: Range<u64>, parts: &mut Parts<'_, T>) -> Option<T> {
    let (part, values) = parts.as_slice().first()?;
    match cut::<T>(&node) {
        _ if *part == Part::Node(node.clone()) => {
            parts.next();
            values.first().copied()
        }
        Some(middle) => {
            Some(join_node(node.start..middle, parts)? + join_node(middle..node.end, parts)?)
        }
        None => join_leaf(node, parts),
    }
}

fn join_leaf<T: Summand>(leaf: Range<u64>, parts: &mut Parts<'_, T>) -> Option<T> {
    let mut all = Vec::with_capacity(LEAF as usize);
    while (all.len() as u64) < leaf.end - leaf.start {
        let Some((Part::Values(range), values)) = parts.next() else { return None };
        if range.start != leaf.start + all.len() as u64 {
            return None;
        }
        all.extend_from_slice(values);
    }
    Some(T::leaf_sum(&all))
}
