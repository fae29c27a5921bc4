//! NumPy's pairwise tree of additions over a flat index, so that a sum has NumPy's bits
//! whatever threads or ranks do its parts.
//!
//! A node of more than 128 elements is halved, the left part rounded down to a multiple of 8.
//! A leaf is summed with 8 accumulators. The source is `@TYPE@_pairwise_sum` in NumPy's
//! `loops_utils.h.src`. A node's tree depends on its length alone, not on where it begins.

use std::ops::{Add, Range};

use crate::Element;

/// The most elements of a leaf.
pub const LEAF: u64 = 128;

/// A float that is summed by the tree.
pub trait Summand: Element + Add<Output = Self> {
    /// What is added to nothing: with it, a sum of minus zeros is minus zero.
    const MINUS_ZERO: Self;
}

impl Summand for f32 {
    const MINUS_ZERO: f32 = -0.0;
}

impl Summand for f64 {
    const MINUS_ZERO: f64 = -0.0;
}

/// Where a node is cut in two; None if it is a leaf.
pub fn cut(node: &Range<u64>) -> Option<u64> {
    let half = (node.end - node.start) / 2;
    (node.end - node.start > LEAF).then(|| node.start + half - half % 8)
}

/// The sum of a leaf.
pub fn leaf_sum<T: Summand>(values: &[T]) -> T {
    let Some((first, rest)) = values.split_first_chunk::<8>() else {
        return values.iter().fold(T::MINUS_ZERO, |sum, &value| sum + value);
    };
    let (rows, tail) = rest.as_chunks::<8>();
    let mut sums = *first;
    for row in rows {
        for (sum, &value) in sums.iter_mut().zip(row) {
            *sum = *sum + value;
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
    tail.iter().fold(sum, |sum, &value| sum + value)
}

/// The sum of a node whose values are all at hand.
pub fn node_sum<T: Summand>(values: &[T]) -> T {
    match cut(&(0..values.len() as u64)) {
        Some(middle) => {
            let (left, right) = values.split_at(middle as usize);
            node_sum(left) + node_sum(right)
        }
        None => leaf_sum(values),
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

/// The parts that make up a range of a tree of `total` elements: the largest nodes inside it, and
/// what it holds of the leaf at each end.
///
/// ```
/// use dappled_kernels::tree::{Part, cover};
/// assert_eq!(cover(256, 100..256), [Part::Values(100..128), Part::Node(128..256)]);
/// ```
pub fn cover(total: u64, range: Range<u64>) -> Vec<Part> {
    let mut parts = Vec::new();
    push_cover(0..total, &range, &mut parts);
    parts
}

fn push_cover(node: Range<u64>, range: &Range<u64>, parts: &mut Vec<Part>) {
    let (start, end) = (node.start.max(range.start), node.end.min(range.end));
    if start >= end {
        return;
    }
    match cut(&node) {
        _ if start == node.start && end == node.end => parts.push(Part::Node(node)),
        None => parts.push(Part::Values(start..end)),
        Some(middle) => {
            push_cover(node.start..middle, range, parts);
            push_cover(middle..node.end, range, parts);
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
    match cut(&node) {
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
    Some(leaf_sum(&all))
}
