//! Scans of, and searches in, anything that programs make: the bits that one rank gives, whatever the
//! number of ranks and the distribution.

mod numpy;

use dappled::graph::{GraphError, Session};
use dappled_fabric::Threads;
use dappled_kernels::{DType, Extreme, Fold};
use numpy::Value;
use numpy::dice::Dice;
use numpy::twins::{Command, SHAPES, Twin, World, command, limits, ranks, values};
use proptest::collection::vec;
use proptest::prelude::*;

/// Longer than a tile, with rows of all sorts; and more than one message's accumulators.
const LARGE: [&[usize]; 4] = [&[3000], &[40, 50], &[7, 11, 13], &[12, 20_000]];

fn bits(values: &[Value]) -> Vec<u64> {
    values.iter().map(|value| value.bits()).collect()
}

/// One scan or search, as chance has it.
fn done(twin: &Twin, dice: &mut Dice) -> Result<Vec<u64>, GraphError> {
    let axis = dice.below(twin.plain.shape.len());
    let result = match dice.below(4) {
        0 => twin.array.arg_fold(dice.of(&[Extreme::Least, Extreme::Greatest]), None)?,
        1 => twin.array.arg_fold(dice.of(&[Extreme::Least, Extreme::Greatest]), Some(axis))?,
        _ => {
            let fold = dice.of(&[Fold::Add, Fold::Multiply, Fold::Maximum]);
            let dtype = match twin.plain.dtype {
                DType::Bool => DType::Int64,
                dtype => dtype,
            };
            twin.array.scan(fold, axis, dtype, false)?
        }
    };
    Ok(bits(&values(&result)?))
}

fn check(
    shapes: &[&[usize]],
    commands: &[Command],
    seeds: &[u64],
    ranks: u64,
    limits: dappled::graph::Limits,
) -> Result<(), TestCaseError> {
    let on = |ranks| {
        Threads::run(ranks, |fabric| {
            let session = Session::with_limits(Box::new(fabric), limits);
            let mut world = World::new(session, shapes);
            let told = |error: GraphError| error.to_string();
            commands.iter().try_for_each(|&command| world.run(command)).map_err(told)?;
            let mut results = Vec::new();
            for &seed in seeds {
                let dice = &mut Dice(seed);
                let twin = world.any(dice);
                if !twin.plain.shape.is_empty() && !twin.plain.shape.contains(&0) {
                    results.push(done(&twin, dice).map_err(told)?);
                }
            }
            Ok::<Vec<Vec<u64>>, String>(results)
        })
    };
    let wanted = on(1).remove(0);
    for (rank, found) in on(ranks).into_iter().enumerate() {
        prop_assert_eq!(&found, &wanted, "rank {}", rank);
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
    fn scans_of_larger_arrays(commands in vec(command(), 0..6), seeds in vec(any::<u64>(), 1..6), ranks in ranks(), limits in limits()) {
        check(&LARGE, &commands, &seeds, ranks, limits)?;
    }
}
