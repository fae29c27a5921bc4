//! May two views of one buffer touch the same byte?
//!
//! A byte of `a` is `offset_a + sum(stride * index) + byte`, one of `b` likewise. They meet where
//! a sum of bounded terms, all of the axes and bytes of both, equals the distance of the two
//! lowest bytes: a bounded linear Diophantine equation. It is searched from the largest stride
//! down, dropping whatever the smaller strides cannot reach; for the views that slicing makes,
//! that leaves one or two choices for each axis. NumPy's `solve_may_share_memory` does the same.

use crate::View;

/// Partial sums that are tried before the answer is "maybe".
const BUDGET: u32 = 4096;

/// `step * index`, the index from 0 to `most`; steps are positive.
#[derive(Clone, Copy, Debug)]
struct Term {
    step: i128,
    most: i128,
}

/// May two views of the same buffer touch the same byte? A `false` is certain; a `true` is exact
/// unless the strides are of a kind that slicing does not make.
///
/// ```
/// use dappled_kernels::{DType, View, may_overlap};
/// let line = View::c_order(DType::Float64, &[10]);
/// assert!(!may_overlap(&line.region(0, 0, 2, 5), &line.region(0, 1, 2, 5)));
/// assert!(may_overlap(&line.region(0, 0, 1, 9), &line.region(0, 1, 1, 9)));
/// ```
pub fn may_overlap(a: &View, b: &View) -> bool {
    let (reach_a, reach_b) = (a.reach(), b.reach());
    if a.is_empty() || b.is_empty() || reach_a.end <= reach_b.start || reach_b.end <= reach_a.start
    {
        return false;
    }
    // With every index of `b` counted from its far end, all terms have the same sign.
    let target = reach_b.end - 1 - reach_a.start;
    let mut terms: Vec<Term> = Vec::new();
    for view in [a, b] {
        push(&mut terms, 1, view.dtype.itemsize());
        let axes = view.strides.iter().zip(&view.shape);
        axes.for_each(|(&stride, &size)| push(&mut terms, stride.unsigned_abs(), size));
    }
    terms.sort_by_key(|term| std::cmp::Reverse(term.step));
    let mut budget = BUDGET;
    can_reach(&terms, target, &mut budget)
}

/// Adds an axis; axes of the same step are one axis as long as both together.
fn push(terms: &mut Vec<Term>, step: usize, size: usize) {
    let (step, most) = (step as i128, size as i128 - 1);
    match terms.iter_mut().find(|term| term.step == step) {
        _ if step == 0 || most == 0 => {}
        Some(term) => term.most += most,
        None => terms.push(Term { step, most }),
    }
}

/// Is the target a sum of the terms? True as well when the budget is spent.
fn can_reach(terms: &[Term], target: i128, budget: &mut u32) -> bool {
    let Some((first, rest)) = terms.split_first() else { return target == 0 };
    if *budget == 0 {
        return true;
    }
    *budget -= 1;
    let rest_reach: i128 = rest.iter().map(|term| term.step * term.most).sum();
    // The rest reaches 0..=rest_reach, so the first must bring the target in there.
    let lowest = (target - rest_reach + first.step - 1).div_euclid(first.step).max(0);
    let highest = target.div_euclid(first.step).min(first.most);
    (lowest..=highest).any(|index| can_reach(rest, target - index * first.step, budget))
}

/// Is it certain that no two indices of a view share a byte?
///
/// It is where each axis steps over all that the axes of smaller steps reach; other views that
/// share nothing exist, but slicing an array does not make them.
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
    use crate::DType;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn bytes(view: &View) -> Vec<isize> {
        let mut places = vec![view.offset as isize];
        for (&size, &stride) in view.shape.iter().zip(&view.strides) {
            let moved =
                |place: &isize| (0..size as isize).map(|i| place + i * stride).collect::<Vec<_>>();
            places = places.iter().flat_map(moved).collect();
        }
        let item = view.dtype.itemsize() as isize;
        places.iter().flat_map(|&place| (0..item).map(move |byte| place + byte)).collect()
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
        fn overlap_is_that_of_the_bytes(a in view(), b in view()) {
            let of_a: HashSet<isize> = bytes(&a).into_iter().collect();
            let shared = bytes(&b).iter().any(|byte| of_a.contains(byte));
            prop_assert_eq!(may_overlap(&a, &b), shared);
        }

        #[test]
        fn an_injective_view_repeats_no_byte(view in view()) {
            let all = bytes(&view);
            let different: HashSet<isize> = all.iter().copied().collect();
            prop_assert!(!is_injective(&view) || all.len() == different.len());
        }
    }

    #[test]
    fn slices_of_a_matrix_are_told_apart() {
        let matrix = View::c_order(DType::Float64, &[1000, 1000]);
        let (left, right) = (matrix.region(1, 0, 1, 500), matrix.region(1, 500, 1, 500));
        assert!(!may_overlap(&left, &right) && may_overlap(&left, &matrix.transposed()));
        assert!(is_injective(&left) && is_injective(&matrix.transposed()));
    }
}
