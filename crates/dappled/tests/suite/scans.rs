//! Scans, argmin and argmax of random arrays: the bits do not depend on the number of ranks.

use crate::reference::Value;
use crate::reference::choices::Choices;
use crate::reference::pairs::{
    ArrayPair, Command, SHAPES, TestState, command, limits, ranks, values,
};
use dappled::{GraphError, Session};
use dappled_fabric::Threads;
use dappled_kernels::{ArgReduceOp, DType, ReduceOp};
use proptest::collection::vec;
use proptest::prelude::*;

/// Longer than a tile, with rows of several lengths; and with accumulators for several messages.
const LARGE: [&[usize]; 4] = [&[3000], &[40, 50], &[7, 11, 13], &[12, 20_000]];

fn bits(values: &[Value]) -> Vec<u64> {
    values.iter().map(|value| value.bits()).collect()
}

/// A random scan or search.
fn scan_or_search(pair: &ArrayPair, choices: &mut Choices) -> Result<Vec<u64>, GraphError> {
    let axis = choices.below(pair.plain.shape.len());
    let result = match choices.below(4) {
        0 => {
            pair.array.arg_reduce(choices.of(&[ArgReduceOp::ArgMin, ArgReduceOp::ArgMax]), None)?
        }
        1 => pair
            .array
            .arg_reduce(choices.of(&[ArgReduceOp::ArgMin, ArgReduceOp::ArgMax]), Some(axis))?,
        _ => {
            let fold = choices.of(&[ReduceOp::Add, ReduceOp::Multiply, ReduceOp::Maximum]);
            let dtype = match pair.plain.dtype {
                DType::Bool => DType::Int64,
                dtype => dtype,
            };
            pair.array.scan(fold, axis, dtype, false)?
        }
    };
    Ok(bits(&values(&result)?))
}

fn check(
    shapes: &[&[usize]],
    commands: &[Command],
    seeds: &[u64],
    ranks: u64,
    limits: dappled::Limits,
) -> Result<(), TestCaseError> {
    let on = |ranks| {
        Threads::run(ranks, |fabric| {
            let session = Session::with_limits(Box::new(fabric), limits);
            let mut state = TestState::new(session, shapes);
            let message = |error: GraphError| error.to_string();
            commands.iter().try_for_each(|&command| state.run(command)).map_err(message)?;
            let mut results = Vec::new();
            for &seed in seeds {
                let choices = &mut Choices(seed);
                let pair = state.any(choices);
                if !pair.plain.shape.is_empty() && !pair.plain.shape.contains(&0) {
                    results.push(scan_or_search(&pair, choices).map_err(message)?);
                }
            }
            Ok::<Vec<Vec<u64>>, String>(results)
        })
    };
    let expected = on(1).remove(0);
    for (rank, found) in on(ranks).into_iter().enumerate() {
        prop_assert_eq!(&found, &expected, "rank {}", rank);
        prop_assert!(found.is_ok(), "{:?}", found);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scans_of_small_arrays(commands in vec(command(), 0..12), seeds in vec(any::<u64>(), 1..5), ranks in ranks(), limits in limits()) {
        check(&SHAPES, &commands, &seeds, ranks, limits)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scans_of_large_arrays(commands in vec(command(), 0..6), seeds in vec(any::<u64>(), 1..6), ranks in ranks(), limits in limits()) {
        check(&LARGE, &commands, &seeds, ranks, limits)?;
    }
}
