//! Reductions of random arrays: exact ones equal the reference, all have the bits of one rank.

use crate::reference::choices::Choices;
use crate::reference::pairs::{
    ArrayPair, Command, SHAPES, TestState, command, limits, ranks, values,
};
use crate::reference::value::apply;
use crate::reference::{ReferenceArray, Value};
use dappled::{Array, GraphError, Limits, ReduceRequest, Session};
use dappled_fabric::Threads;
use dappled_kernels::{DType, Op, ReduceOp};
use num_complex::Complex64;
use proptest::collection::vec;
use proptest::prelude::*;

/// Large enough for pairwise trees, NumPy's buffer, and rows longer than half of it.
const LARGE: [&[usize]; 5] = [&[40, 50], &[7, 11, 13], &[3000], &[1100, 9], &[3, 6000]];

fn folding(pair: &ArrayPair, choices: &mut Choices) -> ReduceRequest {
    let ndim = pair.plain.shape.len();
    let axes = if choices.one_in(3) { (0..ndim).collect() } else { choices.some(ndim) };
    let float = |narrow: DType| [narrow, DType::Float64];
    let (fold, dtype) = match pair.plain.dtype {
        DType::Bool => choices.of(&[
            (ReduceOp::All, DType::Bool),
            (ReduceOp::Any, DType::Bool),
            (ReduceOp::Add, DType::Int64),
            (ReduceOp::Add, DType::Float64),
        ]),
        DType::Int64 => choices.of(&[
            (ReduceOp::Add, DType::Int64),
            (ReduceOp::Maximum, DType::Int64),
            (ReduceOp::BitXor, DType::Int64),
            (ReduceOp::Add, DType::Float64),
        ]),
        narrow => {
            let fold = choices.of(&[
                ReduceOp::Add,
                ReduceOp::Add,
                ReduceOp::Multiply,
                ReduceOp::Minimum,
                ReduceOp::Maximum,
            ]);
            (fold, choices.of(&float(narrow)))
        }
    };
    ReduceRequest::new(fold, axes, dtype)
}

/// The result of an exact reduction; None if it rounds.
fn exact(plain: &ReferenceArray, folding: &ReduceRequest) -> Option<ReferenceArray> {
    let op = match folding.fold {
        ReduceOp::Add if folding.dtype == DType::Int64 => Op::Add,
        ReduceOp::Minimum => Op::Minimum,
        ReduceOp::Maximum => Op::Maximum,
        ReduceOp::All => Op::Multiply,
        ReduceOp::Any => Op::Add,
        _ => return None,
    };
    let plain = plain.cast(folding.dtype);
    Some(crate::reference::fold(&plain, &folding.axes, |a, b| apply(op, folding.dtype, &[a, b])))
}

fn bits(values: &[Value]) -> Vec<u64> {
    values.iter().map(|value| value.bits()).collect()
}

/// The bits of random reductions after some commands. Exact ones are compared with the reference.
fn reduced(
    state: &mut TestState,
    commands: &[Command],
    seeds: &[u64],
) -> Result<Vec<Vec<u64>>, String> {
    let message = |error: GraphError| error.to_string();
    commands.iter().try_for_each(|&command| state.run(command)).map_err(message)?;
    let mut results = Vec::new();
    for &seed in seeds {
        let choices = &mut Choices(seed);
        let pair = state.any(choices);
        if pair.plain.shape.contains(&0) {
            continue;
        }
        let folding = folding(&pair, choices);
        let result = pair.array.reduce(&folding).map_err(message)?;
        let found = bits(&values(&result).map_err(message)?);
        if let Some(expected) = exact(&pair.plain, &folding)
            && (bits(&expected.values()), &expected.shape[..]) != (found.clone(), result.shape())
        {
            return Err(format!("{folding:?} of {:?}: {found:?}", pair.plain.shape));
        }
        results.push(found);
    }
    Ok(results)
}

fn check(
    shapes: &[&[usize]],
    commands: &[Command],
    seeds: &[u64],
    ranks: u64,
    limits: Limits,
) -> Result<(), TestCaseError> {
    let on = |ranks| {
        Threads::run(ranks, |fabric| {
            let mut state = TestState::new(Session::with_limits(Box::new(fabric), limits), shapes);
            reduced(&mut state, commands, seeds)
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
    fn reductions_of_small_arrays(commands in vec(command(), 0..12), seeds in vec(any::<u64>(), 1..5), ranks in ranks(), limits in limits()) {
        check(&SHAPES, &commands, &seeds, ranks, limits)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reductions_of_large_arrays(commands in vec(command(), 0..8), seeds in vec(any::<u64>(), 1..8), ranks in ranks(), limits in limits()) {
        check(&LARGE, &commands, &seeds, ranks, limits)?;
    }
}

/// The fused program of a constant array has no inputs.
#[test]
fn reductions_of_constant_arrays() {
    let limits = Limits { replicate_below: 0, eager_max: 0 };
    for ranks in [1, 3] {
        let found = Threads::run(ranks, |fabric| {
            let session = Session::with_limits(Box::new(fabric), limits);
            let tenths = Array::full(&session, &[30, 7], 0.1);
            let sum = |axes: Vec<usize>| {
                let folding = ReduceRequest::new(ReduceOp::Add, axes, DType::Float64);
                tenths.reduce(&folding).unwrap().to_vec::<f64>().unwrap()
            };
            [sum(vec![0]), sum(vec![1]), sum(vec![0, 1])]
        });
        // NumPy's values of numpy.full((30, 7), 0.1).sum(axis).
        let one = |value: f64, count| vec![value; count];
        for found in found {
            assert_eq!(found, [one(3.0000000000000013, 7), one(0.7, 30), one(21.0, 1)]);
        }
    }
}

/// NumPy returns the first of several NaNs; their imaginary parts distinguish them.
#[test]
fn first_complex_nan_wins() {
    let mut numbers: Vec<Complex64> = (0..40).map(|at| Complex64::new(at as f64, 0.0)).collect();
    [37, 9, 14, 26].iter().for_each(|&at| numbers[at] = Complex64::new(f64::NAN, at as f64));
    let (dtype, axes) = (DType::Complex128, vec![0, 1]);
    for seed in 0..60 {
        let fold = [ReduceOp::Minimum, ReduceOp::Maximum][seed as usize % 2];
        let distribution = Choices(seed).distribution(&[8, 5], 4);
        let found = Threads::run(4, |fabric| {
            let limits = Limits { replicate_below: 0, eager_max: 0 };
            let session = Session::with_limits(Box::new(fabric), limits);
            let array = Array::from_slice(&session, &[8, 5], &numbers);
            let array = array.redistribute(&distribution).unwrap();
            let folding = ReduceRequest::new(fold, axes.clone(), dtype);
            array.reduce(&folding).unwrap().to_vec::<Complex64>().unwrap()[0].im
        });
        assert_eq!(found, [9.0; 4], "{fold:?} in {distribution:?}");
    }
}
