//! Redistribution within a budget of memory, between every two kinds of distribution.

mod numpy;

use dappled::graph::{Array, Limits, Session};
use dappled::plan::{Along, Budget, Estimate, Operand, Through, plan, round_steps};
use dappled::protocol::Distribution;
use dappled_fabric::Threads;
use numpy::dice::Dice;
use proptest::prelude::*;

const SHAPE: [usize; 2] = [24, 18];
const LENGTHS: [u64; 2] = [24, 18];

/// What the ranks use beside the arrays in the heaviest round.
fn heaviest(from: &Distribution, to: &Distribution, steps: &[u64]) -> u64 {
    let starts = (0..steps[0]).flat_map(|first| (0..steps[1]).map(move |second| [first, second]));
    let part = |base: &Distribution, starts: [u64; 2]| {
        let along = |axis: usize| Along {
            length: (LENGTHS[axis] - starts[axis]).div_ceil(steps[axis]),
            base: Some((axis, steps[axis] as i64)),
        };
        Operand::new(base, Through { starts: starts.to_vec(), axes: vec![along(0), along(1)] })
    };
    let cost = |starts: [u64; 2], rank: u64| {
        let (target, operand) = (part(to, starts).unwrap(), part(from, starts).unwrap());
        Estimate::new(&plan(&target, &[operand], rank).unwrap(), &[8], 8).memory()
    };
    let all = starts.flat_map(|starts| (0..to.nprocs()).map(move |rank| (starts, rank)));
    all.map(|(starts, rank)| cost(starts, rank)).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_budget_changes_the_rounds_and_no_value(seed: u64, ranks in numpy::twins::ranks()) {
        let dice = &mut Dice(seed);
        let (from, to) = (dice.distribution(&SHAPE, ranks), dice.distribution(&SHAPE, ranks));
        let numbers: Vec<f64> = (0..SHAPE[0] * SHAPE[1]).map(|number| number as f64).collect();
        let results = Threads::run(ranks, |fabric| {
            let limits = Limits { whole_below: 0, at_once: 0 };
            let session = Session::with_limits(Box::new(fabric), limits);
            let array = Array::from_slice(&session, &SHAPE, &numbers);
            let array = array.redistributed(&from).unwrap();
            let turned = array.transposed(&[1, 0]).transposed(&[1, 0]);
            let moved = [1 << 20, 4096, 512, 64].map(|bytes| {
                session.set_budget(bytes);
                let rounds = array.redistribution_rounds(&to).unwrap();
                (rounds, turned.redistributed(&to).unwrap().to_vec::<f64>().unwrap())
            });
            let rounds = moved.each_ref().map(|(rounds, _)| *rounds);
            (rounds, moved.map(|(_, values)| values).iter().all(|values| *values == numbers))
        });
        for (rounds, same) in results {
            prop_assert!(same);
            prop_assert_eq!(rounds[0], 1);
            prop_assert!(rounds.is_sorted(), "{:?}", rounds);
            prop_assert!(array_is_whole(&from) || rounds[3] > 1, "{:?}", rounds);
        }
    }

    #[test]
    fn no_round_needs_more_than_the_budget(seed: u64, ranks in numpy::twins::ranks()) {
        let dice = &mut Dice(seed);
        let (from, to) = (dice.distribution(&SHAPE, ranks), dice.distribution(&SHAPE, ranks));
        for bytes in [1 << 20, 4096, 1024] {
            let steps = round_steps(&from, &to, Budget { itemsize: 8, bytes });
            let used = heaviest(&from, &to, &steps);
            // A round takes every so many-th element, of which there may be one more here than there.
            prop_assert!(used <= 2 * bytes, "{} bytes of {} in rounds of {:?}", used, bytes, steps);
        }
    }
}

fn array_is_whole(distribution: &Distribution) -> bool {
    distribution.held() == dappled::protocol::Held::All || distribution.nprocs() == 1
}
