//! Where arrays are moved to before they are reduced.

mod world;

use dappled::plan::{Operand, for_reduction};
use dappled::protocol::{Distribution, Held};
use proptest::prelude::*;
use proptest::sample::subsequence;
use world::check;
use world::common::distribution;

fn reduction() -> impl Strategy<Value = (Distribution, Vec<usize>)> {
    distribution().prop_flat_map(|base| {
        let axes: Vec<usize> = (0..base.axes().len()).collect();
        let count = axes.len();
        (Just(base), subsequence(axes, 0..=count))
    })
}

proptest! {
    #[test]
    fn what_is_reduced_is_whole_and_in_order((base, reduced) in reduction()) {
        let made = for_reduction(&base, &reduced);
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
        check(&Operand::whole(&made).unwrap(), &[Operand::whole(&base).unwrap()]);
    }
}

/// What is not reduced is shared as evenly as blocks can be, over all ranks.
#[test]
fn the_rest_is_shared() {
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
        let made = for_reduction(&base, reduced);
        assert_eq!(made.grid_shape(), grid, "{shape:?} over {reduced:?}");
    }
}
