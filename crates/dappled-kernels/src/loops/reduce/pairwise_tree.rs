//! NumPy's pairwise summation tree over a flat index.
//!
//! A sum along the tree has NumPy's bits, whatever threads or ranks compute its parts. A node of
//! more than 128 elements is halved, the left part rounded down to a multiple of 8. A leaf is
//! summed with 8 accumulators. A complex number counts as two elements. The source is
//! `@TYPE@_pairwise_sum` in NumPy's `loops_utils.h.src`. The tree of a node depends on its length
//! alone, not on its position.

use std::ops::{Add, Range};

use half::f16;
use num_complex::{Complex, Complex32, Complex64};

use crate::types::element::Element;

/// The maximal number of elements of a leaf; half as many for complex numbers.
pub const LEAF: u64 = 128;

/// A number type that the tree sums.
pub trait Summand: Element + Add<Output = Self> {
    /// The neutral element: with it, a sum of minus zeros is minus zero.
    const MINUS_ZERO: Self;
    /// The number of tree elements per value.
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

/// The index at which a node is split; `None` for a leaf.
#[inline(always)]
pub fn split_point<T: Summand>(node: &Range<u64>) -> Option<u64> {
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

/// The sums of every N-th value, and the remaining values; `None` if there are fewer than N.
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

/// The sum of a node.
#[inline]
pub fn node_sum<T: Summand>(values: &[T]) -> T {
    match split_point::<T>(&(0..values.len() as u64)) {
        Some(middle) => {
            let (left, right) = values.split_at(middle as usize);
            node_sum(left) + node_sum(right)
        }
        None => T::leaf_sum(values),
    }
}

/// The sum of a node of float16 values, which NumPy sums in float32.
pub(crate) fn half_node_sum(values: &[f16]) -> f32 {
    match split_point::<f32>(&(0..values.len() as u64)) {
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

/// The contribution of a rank to a sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreePart {
    /// A whole node, contributed as its sum.
    Node(Range<u64>),
    /// A part of a leaf, contributed as its values.
    Values(Range<u64>),
}

impl TreePart {
    /// The indices of the part.
    pub fn range(&self) -> &Range<u64> {
        match self {
            TreePart::Node(range) | TreePart::Values(range) => range,
        }
    }

    /// The number of indices.
    #[allow(clippy::len_without_is_empty)] // A part of nothing is none.
    pub fn len(&self) -> u64 {
        self.range().end - self.range().start
    }

    /// The number of values sent for the part.
    pub fn count(&self) -> u64 {
        match self {
            TreePart::Node(_) => 1,
            TreePart::Values(_) => self.len(),
        }
    }

    /// The part shifted to another start.
    pub fn at(&self, start: u64) -> TreePart {
        let range = start..start + self.len();
        match self {
            TreePart::Node(_) => TreePart::Node(range),
            TreePart::Values(_) => TreePart::Values(range),
        }
    }
}

/// Covers an index range of a tree of `total` elements with parts.
///
/// These are the largest nodes inside the range, and its share of the leaf at each end.
///
/// ```
/// use dappled_kernels::tree::{TreePart, cover};
/// let parts = [TreePart::Values(100..128), TreePart::Node(128..256)];
/// assert_eq!(cover::<f64>(256, 100..256), parts);
/// ```
pub fn cover<T: Summand>(total: u64, range: Range<u64>) -> Vec<TreePart> {
    let mut parts = Vec::new();
    push_cover::<T>(0..total, &range, &mut parts);
    parts
}

fn push_cover<T: Summand>(node: Range<u64>, range: &Range<u64>, parts: &mut Vec<TreePart>) {
    let (start, end) = (node.start.max(range.start), node.end.min(range.end));
    if start >= end {
        return;
    }
    match split_point::<T>(&node) {
        _ if start == node.start && end == node.end => parts.push(TreePart::Node(node)),
        None => parts.push(TreePart::Values(start..end)),
        Some(middle) => {
            push_cover::<T>(node.start..middle, range, parts);
            push_cover::<T>(middle..node.end, range, parts);
        }
    }
}

/// Joins the parts of all ranks, in order, each with its sum or its values. `None` if they do not
/// cover the tree.
pub fn join<T: Summand>(total: u64, parts: &[(TreePart, Vec<T>)]) -> Option<T> {
    let mut parts = parts.iter();
    let sum = if total == 0 { T::MINUS_ZERO } else { join_node(0..total, &mut parts)? };
    parts.next().is_none().then_some(T::default() + sum)
}

type Parts<'a, T> = std::slice::Iter<'a, (TreePart, Vec<T>)>;

fn join_node<T: Summand>(node: Range<u64>, parts: &mut Parts<'_, T>) -> Option<T> {
    let (part, values) = parts.as_slice().first()?;
    match split_point::<T>(&node) {
        _ if *part == TreePart::Node(node.clone()) => {
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
        let Some((TreePart::Values(range), values)) = parts.next() else { return None };
        if range.start != leaf.start + all.len() as u64 {
            return None;
        }
        all.extend_from_slice(values);
    }
    Some(T::leaf_sum(&all))
}
