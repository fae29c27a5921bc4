//! Reductions of anything that programs make: exact ones as in one memory, and all with the bits
//! that one rank gives, whatever the number of ranks and the distribution.

mod numpy;

use dappled::graph::{Array, Folding, GraphError, Limits, Session};
use dappled_fabric::Threads;
use dappled_kernels::{DType, Fold, Op};
use num_complex::Complex64;
use numpy::dice::Dice;
use numpy::twins::{Command, SHAPES, Twin, World, command, limits, ranks, values};
use numpy::value::apply;
use numpy::{Plain, Value};
use proptest::collection::vec;
use proptest::prelude::*;

/// Large enough for trees, for NumPy's buffer, and for rows that are longer than half of it.
const LARGE: [&[usize]; 5] = [&[40, 50], &[7, 11, 13], &[3000], &[1100, 9], &[3, 6000]];

fn folding(twin: &Twin, dice: &mut Dice) -> Folding {
    let ndim = twin.plain.shape.len();
    let axes = if dice.one_in(3) { (0..ndim).collect() } else { dice.some(ndim) };
    let float = |narrow: DType| [narrow, DType::Float64];
    let (fold, dtype) = match twin.plain.dtype {
        DType::Bool => dice.of(&[
            (Fold::All, DType::Bool),
            (Fold::Any, DType::Bool),
            (Fold::Add, DType::Int64),
            (Fold::Add, DType::Float64),
        ]),
        DType::Int64 => dice.of(&[
            (Fold::Add, DType::Int64),
            (Fold::Maximum, DType::Int64),
            (Fold::BitXor, DType::Int64),
            (Fold::Add, DType::Float64),
        ]),
        narrow => {
            let fold =
                dice.of(&[Fold::Add, Fold::Add, Fold::Multiply, Fold::Minimum, Fold::Maximum]);
            (fold, dice.of(&float(narrow)))
        }
    };
    Folding { fold, axes, dtype, initial: fold.identity(dtype), reports: false }
}

/// What an exact reduction gives; None for one that rounds.
fn exact(plain: &Plain, folding: &Folding) -> Option<Plain> {
    let op = match folding.fold {
        Fold::Add if folding.dtype == DType::Int64 => Op::Add,
        Fold::Minimum => Op::Minimum,
        Fold::Maximum => Op::Maximum,
        Fold::All => Op::Multiply,
        Fold::Any => Op::Add,
        _ => return None,
    };
    let plain = plain.cast(folding.dtype);
    Some(numpy::fold(&plain, &folding.axes, |a, b| apply(op, folding.dtype, &[a, b])))
}

fn bits(values: &[Value]) -> Vec<u64> {
    values.iter().map(|value| value.bits()).collect()
}

/// The bits of some reductions after some commands, those that are exact compared with one memory.
fn folded(world: &mut World, commands: &[Command], folds: &[u64]) -> Result<Vec<Vec<u64>>, String> {
    let told = |error: GraphError| error.to_string();
    commands.iter().try_for_each(|&command| world.run(command)).map_err(told)?;
    let mut results = Vec::new();
    for &seed in folds {
        let dice = &mut Dice(seed);
        let twin = world.any(dice);
        if twin.plain.shape.contains(&0) {
            continue;
        }
        let folding = folding(&twin, dice);
        let result = twin.array.fold(&folding).map_err(told)?;
        let found = bits(&values(&result).map_err(told)?);
        if let Some(wanted) = exact(&twin.plain, &folding)
            && (bits(&wanted.values()), &wanted.shape[..]) != (found.clone(), result.shape())
        {
            return Err(format!("{folding:?} of {:?}: {found:?}", twin.plain.shape));
        }
        results.push(found);
    }
    Ok(results)
}

fn check(
    shapes: &[&[usize]],
    commands: &[Command],
    folds: &[u64],
    ranks: u64,
    limits: Limits,
) -> Result<(), TestCaseError> {
    let on = |ranks| {
        Threads::run(ranks, |fabric| {
            let mut world = World::new(Session::with_limits(Box::new(fabric), limits), shapes);
            folded(&mut world, commands, folds)
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
    fn folds_of_small_arrays(commands in vec(command(), 0..12), folds in vec(any::<u64>(), 1..5), ranks in ranks(), limits in limits()) {
        check(&SHAPES, &commands, &folds, ranks, limits)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn folds_of_larger_arrays(commands in vec(command(), 0..8), folds in vec(any::<u64>(), 1..8), ranks in ranks(), limits in limits()) {
        check(&LARGE, &commands, &folds, ranks, limits)?;
    }
}

/// A value that is the same everywhere lies nowhere.
#[test]
fn folds_of_one_value() {
    let limits = Limits { whole_below: 0, at_once: 0 };
    for ranks in [1, 3] {
        let found = Threads::run(ranks, |fabric| {
            let session = Session::with_limits(Box::new(fabric), limits);
            let tenths = Array::full(&session, &[30, 7], 0.1);
            let sum = |axes: Vec<usize>| {
                let (fold, dtype) = (Fold::Add, DType::Float64);
                let folding =
                    Folding { fold, axes, dtype, initial: fold.identity(dtype), reports: false };
                tenths.fold(&folding).unwrap().to_vec::<f64>().unwrap()
            };
            [sum(vec![0]), sum(vec![1]), sum(vec![0, 1])]
        });
        // What NumPy gives for numpy.full((30, 7), 0.1).sum(axis).
        let one = |value: f64, count| vec![value; count];
        for found in found {
            assert_eq!(found, [one(3.0000000000000013, 7), one(0.7, 30), one(21.0, 1)]);
        }
    }
}

/// Of several NaNs NumPy gives the first, and their other parts tell them apart.
#[test]
fn the_first_of_complex_nans_stays() {
    let mut numbers: Vec<Complex64> = (0..40).map(|at| Complex64::new(at as f64, 0.0)).collect();
    [37, 9, 14, 26].iter().for_each(|&at| numbers[at] = Complex64::new(f64::NAN, at as f64));
    let (dtype, axes) = (DType::Complex128, vec![0, 1]);
    for seed in 0..60 {
        let fold = [Fold::Minimum, Fold::Maximum][seed as usize % 2];
        let distribution = Dice(seed).distribution(&[8, 5], 4);
        let found = Threads::run(4, |fabric| {
            let limits = Limits { whole_below: 0, at_once: 0 };
            let session = Session::with_limits(Box::new(fabric), limits);
            let array = Array::from_slice(&session, &[8, 5], &numbers);
            let array = array.redistributed(&distribution).unwrap();
            let folding = Folding { fold, axes: axes.clone(), dtype, initial: None };
            array.fold(&folding).unwrap().to_vec::<Complex64>().unwrap()[0].im
        });
        assert_eq!(found, [9.0; 4], "{fold:?} in {distribution:?}");
    }
}
