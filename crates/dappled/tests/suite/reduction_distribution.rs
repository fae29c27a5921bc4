//! Distributions to which arrays are redistributed before a reduction.

use crate::assignment::check;
use crate::assignment::common::distribution;
use dappled::plan::{PlanOperand, reduction_distribution};
use dappled::protocol::{Distribution, Held};
use proptest::prelude::*;
use proptest::sample::subsequence;

fn reduction() -> impl Strategy<Value = (Distribution, Vec<usize>)> {
    distribution().prop_flat_map(|base| {
        let axes: Vec<usize> = (0..base.axes().len()).collect();
        let count = axes.len();
        (Just(base), subsequence(axes, 0..=count))
    })
}

proptest! {
    #[test]
    fn reduced_axes_are_undistributed_and_ordered((base, reduced) in reduction()) {
        let made = reduction_distribution(&base, &reduced);
        prop_assert_eq!((made.shape(), made.nprocs()), (base.shape(), base.nprocs()));
        let all = reduced.len() == base.axes().len();
        for (axis, map) in made.axes().iter().enumerate() {
            let in_order = |rank: u64| map.owned_ranges(rank).flatten().is_sorted();
            if all || reduced.contains(&axis) {
                prop_assert!((0..map.grid()).all(in_order));
            }
            if reduced.contains(&axis) && !(all && axis == 0) {
                prop_assert_eq!(map.grid(), 1);
            }
            if all && made.held() == Held::Grid {
                let ends: Vec<i64> = (0..map.grid())
                    .flat_map(|rank| map.owned_ranges(rank).flatten())
                    .collect();
                prop_assert!(ends.is_sorted(), "parts in the order of the ranks");
            }
        }
        check(&PlanOperand::full_view(&made).unwrap(), &[PlanOperand::full_view(&base).unwrap()]);
    }
}

/// Axes that are not reduced are distributed over all ranks, as evenly as blocks can be.
#[test]
fn other_axes_are_distributed_evenly() {
    let table: [(&[u64], &[usize], &[u64]); 5] = [
        (&[12, 12, 12], &[1], &[3, 1, 2]),
        (&[12, 12, 12], &[0, 2], &[1, 6, 1]),
        (&[4, 100], &[0], &[1, 6]),
        (&[4, 100], &[0, 1], &[6, 1]),
        (&[100], &[0], &[6]),
    ];
    for (shape, reduced, grid) in table {
        let dealt = "c".repeat(shape.len());
        let base = Distribution::spec(shape).dist(&dealt).nprocs(6).build().unwrap();
        let made = reduction_distribution(&base, reduced);
        assert_eq!(made.grid_shape(), grid, "{shape:?} over {reduced:?}");
    }
}
