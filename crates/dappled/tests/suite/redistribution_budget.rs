//! Redistribution within a memory budget, between random distributions.

use crate::reference::choices::Choices;
use dappled::plan::{
    AxisMapping, MappedAxis, MemoryBudget, PlanEstimate, PlanOperand, plan, round_steps,
};
use dappled::protocol::Distribution;
use dappled::{Array, Limits, Session};
use dappled_fabric::Threads;
use proptest::prelude::*;

const SHAPE: [usize; 2] = [24, 18];
const LENGTHS: [u64; 2] = [24, 18];

/// Maximum bytes of temporary memory of a rank in any round.
fn max_temporary_bytes(from: &Distribution, to: &Distribution, steps: &[u64]) -> u64 {
    let starts = (0..steps[0]).flat_map(|first| (0..steps[1]).map(move |second| [first, second]));
    let part = |base: &Distribution, starts: [u64; 2]| {
        let along = |axis: usize| MappedAxis {
            length: (LENGTHS[axis] - starts[axis]).div_ceil(steps[axis]),
            base_axis: Some((axis, steps[axis] as i64)),
        };
        PlanOperand::new(
            base,
            AxisMapping { starts: starts.to_vec(), axes: vec![along(0), along(1)] },
        )
    };
    let cost = |starts: [u64; 2], rank: u64| {
        let (target, operand) = (part(to, starts).unwrap(), part(from, starts).unwrap());
        PlanEstimate::new(&plan(&target, &[operand], rank).unwrap(), &[8], 8).temporary_bytes()
    };
    let all = starts.flat_map(|starts| (0..to.nprocs()).map(move |rank| (starts, rank)));
    all.map(|(starts, rank)| cost(starts, rank)).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn budget_changes_rounds_only(seed: u64, ranks in crate::reference::pairs::ranks()) {
        let choices = &mut Choices(seed);
        let (from, to) = (choices.distribution(&SHAPE, ranks), choices.distribution(&SHAPE, ranks));
        let numbers: Vec<f64> = (0..SHAPE[0] * SHAPE[1]).map(|number| number as f64).collect();
        let results = Threads::run(ranks, |fabric| {
            let limits = Limits { replicate_below: 0, eager_max: 0 };
            let session = Session::with_limits(Box::new(fabric), limits);
            let array = Array::from_slice(&session, &SHAPE, &numbers);
            let array = array.redistribute(&from).unwrap();
            let turned = array.transposed(&[1, 0]).transposed(&[1, 0]);
            let moved = [1 << 20, 4096, 512, 64].map(|bytes| {
                session.set_budget(bytes);
                let rounds = array.redistribution_rounds(&to).unwrap();
                (rounds, turned.redistribute(&to).unwrap().to_vec::<f64>().unwrap())
            });
            let rounds = moved.each_ref().map(|(rounds, _)| *rounds);
            (rounds, moved.map(|(_, values)| values).iter().all(|values| *values == numbers))
        });
        for (rounds, same) in results {
            prop_assert!(same);
            prop_assert_eq!(rounds[0], 1);
            prop_assert!(rounds.is_sorted(), "{:?}", rounds);
            prop_assert!(is_replicated_everywhere(&from) || rounds[3] > 1, "{:?}", rounds);
        }
    }

    #[test]
    fn rounds_stay_within_the_budget(seed: u64, ranks in crate::reference::pairs::ranks()) {
        let choices = &mut Choices(seed);
        let (from, to) = (choices.distribution(&SHAPE, ranks), choices.distribution(&SHAPE, ranks));
        for bytes in [1 << 20, 4096, 1024] {
            let steps = round_steps(&from, &to, MemoryBudget { itemsize: 8, bytes });
            let used = max_temporary_bytes(&from, &to, &steps);
            // Rounds are strided, and may contain one element more than their average along an
            // axis.
            prop_assert!(used <= 2 * bytes, "{} bytes of {} in rounds of {:?}", used, bytes, steps);
        }
    }
}

fn is_replicated_everywhere(distribution: &Distribution) -> bool {
    distribution.held() == dappled::protocol::Held::All || distribution.nprocs() == 1
}
