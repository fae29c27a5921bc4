//! Overlap tests for strided views of one buffer.
//!
//! A byte of view `a` has the address `offset_a + sum(stride * index) + byte`, and likewise for
//! `b`. Two views share a byte where a sum of bounded terms, one per axis and itemsize of both
//! views, equals the distance between their lowest bytes: a bounded linear Diophantine equation.
//! The search goes from the largest stride down and prunes what the smaller strides cannot reach;
//! for the views that slicing produces, one or two candidates per axis remain. NumPy's
//! `solve_may_share_memory` uses the same method.

use super::view::View;
use crate::config::MAX_OVERLAP_SEARCH_STEPS;

/// A term `stride * index` of the equation, with a positive stride and `0 <= index <= max_index`.
#[derive(Clone, Copy, Debug)]
struct StrideTerm {
    stride: i128,
    max_index: i128,
}

/// Returns true if two views of the same buffer may share a byte.
///
/// A `false` is certain. A `true` is exact for all strides that slicing produces.
///
/// ```
/// use dappled_kernels::{DType, View, may_overlap};
/// let line = View::c_order(DType::Float64, &[10]);
/// assert!(!may_overlap(&line.slice_axis(0, 0, 2, 5), &line.slice_axis(0, 1, 2, 5)));
/// assert!(may_overlap(&line.slice_axis(0, 0, 1, 9), &line.slice_axis(0, 1, 1, 9)));
/// ```
pub fn may_overlap(a: &View, b: &View) -> bool {
    let (bounds_a, bounds_b) = (a.byte_bounds(), b.byte_bounds());
    if a.is_empty()
        || b.is_empty()
        || bounds_a.end <= bounds_b.start
        || bounds_b.end <= bounds_a.start
    {
        return false;
    }
    // With the indices of `b` counted from its far end, all terms have the same sign.
    let target = bounds_b.end - 1 - bounds_a.start;
    let mut terms: Vec<StrideTerm> = Vec::new();
    for view in [a, b] {
        push_axis(&mut terms, 1, view.dtype.itemsize());
        let axes = view.strides.iter().zip(&view.shape);
        axes.for_each(|(&stride, &size)| push_axis(&mut terms, stride.unsigned_abs(), size));
    }
    terms.sort_by_key(|term| std::cmp::Reverse(term.stride));
    let mut budget = MAX_OVERLAP_SEARCH_STEPS;
    has_solution(&terms, target, &mut budget)
}

/// Adds a term for an axis; terms of equal stride are merged.
fn push_axis(terms: &mut Vec<StrideTerm>, step: usize, size: usize) {
    let (stride, max_index) = (step as i128, size as i128 - 1);
    match terms.iter_mut().find(|term| term.stride == stride) {
        _ if stride == 0 || max_index == 0 => {}
        Some(term) => term.max_index += max_index,
        None => terms.push(StrideTerm { stride, max_index }),
    }
}

/// True if the target is a sum of the terms, or if the budget is exhausted.
fn has_solution(terms: &[StrideTerm], target: i128, budget: &mut u32) -> bool {
    let Some((first, rest)) = terms.split_first() else { return target == 0 };
    if *budget == 0 {
        return true;
    }
    *budget -= 1;
    let rest_reach: i128 = rest.iter().map(|term| term.stride * term.max_index).sum();
    // The other terms reach 0..=rest_reach, so the first term must bring the target into that
    // range.
    let lowest = (target - rest_reach + first.stride - 1).div_euclid(first.stride).max(0);
    let highest = target.div_euclid(first.stride).min(first.max_index);
    (lowest..=highest).any(|index| has_solution(rest, target - index * first.stride, budget))
}

/// True if no two indices of a view share a byte.
///
/// The test requires that each axis steps over all that the axes of smaller strides span. It
/// rejects some injective views, none of which slicing produces.
pub fn is_injective(view: &View) -> bool {
    if view.is_contiguous() {
        return true;
    }
    let axes = view.strides.iter().zip(&view.shape);
    let mut axes: Vec<(usize, usize)> = axes
        .filter(|&(_, &size)| size > 1)
        .map(|(&stride, &size)| (stride.unsigned_abs(), size))
        .collect();
    axes.sort_unstable();
    let mut reach = view.dtype.itemsize();
    axes.into_iter().all(|(stride, size)| {
        let steps_over = stride >= reach;
        reach += stride * (size - 1);
        steps_over
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::dtype::DType;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn bytes(view: &View) -> Vec<isize> {
        let mut offsets = vec![view.offset as isize];
        for (&size, &stride) in view.shape.iter().zip(&view.strides) {
            let moved = |offset: &isize| {
                (0..size as isize).map(|i| offset + i * stride).collect::<Vec<_>>()
            };
            offsets = offsets.iter().flat_map(moved).collect();
        }
        let item = view.dtype.itemsize() as isize;
        offsets.iter().flat_map(|&offset| (0..item).map(move |byte| offset + byte)).collect()
    }

    prop_compose! {
        fn view()(dtype in prop::sample::select(vec![DType::Int8, DType::Int16, DType::Float64]),
                  offset in 200usize..260,
                  axes in prop::collection::vec((0usize..4, -30isize..30), 0..4)) -> View {
            let (shape, strides) = axes.into_iter().unzip();
            View { dtype, offset, shape, strides }
        }
    }

    proptest! {
        #[test]
        fn may_overlap_agrees_with_brute_force(a in view(), b in view()) {
            let of_a: HashSet<isize> = bytes(&a).into_iter().collect();
            let shared = bytes(&b).iter().any(|byte| of_a.contains(byte));
            prop_assert_eq!(may_overlap(&a, &b), shared);
        }

        #[test]
        fn injective_views_repeat_no_byte(view in view()) {
            let all = bytes(&view);
            let different: HashSet<isize> = all.iter().copied().collect();
            prop_assert!(!is_injective(&view) || all.len() == different.len());
        }
    }

    #[test]
    fn disjoint_slices_of_a_matrix_do_not_overlap() {
        let matrix = View::c_order(DType::Float64, &[1000, 1000]);
        let (left, right) = (matrix.slice_axis(1, 0, 1, 500), matrix.slice_axis(1, 500, 1, 500));
        assert!(!may_overlap(&left, &right) && may_overlap(&left, &matrix.transposed()));
        assert!(is_injective(&left) && is_injective(&matrix.transposed()));
    }
}
