//! What reductions of arrays in pieces signal, and what ranks compute together when they are told to.

use dappled::graph::{Array, Folding, Limits, Session};
use dappled_fabric::Threads;
use dappled_kernels::{DType, Flags, Fold};

const RANKS: [u64; 5] = [1, 2, 3, 4, 7];
/// Everything in pieces, nothing at once.
const LAZY: Limits = Limits { whole_below: 0, at_once: 0 };

fn sum(axes: &[usize], reports: bool) -> Folding {
    let (fold, dtype) = (Fold::Add, DType::Float64);
    Folding { fold, axes: axes.to_vec(), dtype, initial: fold.identity(dtype), reports }
}

/// What each rank notices of a reduction of these values, as (operation, flags).
fn noticed(
    ranks: u64,
    shape: &[usize],
    values: &[f64],
    folding: &Folding,
) -> Vec<Vec<(&'static str, Flags)>> {
    Threads::run(ranks, |fabric| {
        let session = Session::with_limits(Box::new(fabric), LAZY);
        let blocks = session.blocks(shape);
        let array = Array::from_slice(&session, shape, values).redistributed(&blocks).unwrap();
        array.fold(folding).unwrap();
        session.take_notices().iter().map(|notice| (notice.operation, notice.flags)).collect()
    })
}

/// Overflow inside a rank's part, between two parts, and where infinities meet.
#[test]
fn sums_signal_what_their_additions_do() {
    let mut tables: Vec<(Vec<f64>, Flags)> = Vec::new();
    for size in [6, 700] {
        let with = |cells: &[(usize, f64)]| {
            let mut values = vec![1.0; size];
            cells.iter().for_each(|&(at, value)| values[at] = value);
            values
        };
        let (large, infinite) = (f64::MAX, f64::INFINITY);
        tables.push((with(&[]), Flags::NONE));
        tables.push((with(&[(0, large), (1, large)]), Flags::OVERFLOW));
        tables.push((with(&[(0, large), (size - 1, large)]), Flags::OVERFLOW));
        tables.push((with(&[(0, infinite), (size - 1, -infinite)]), Flags::INVALID));
    }
    for (values, wanted) in tables {
        for ranks in RANKS {
            for axes in [&[0, 1][..], &[0]] {
                let shape = [values.len() / 2, 2];
                let shape = if axes.len() == 2 { shape } else { [values.len(), 1] };
                check(ranks, &shape, &values, axes, wanted);
            }
        }
    }
}

fn check(ranks: u64, shape: &[usize], values: &[f64], axes: &[usize], wanted: Flags) {
    let told = noticed(ranks, shape, values, &sum(axes, false)).concat();
    let flags = told.iter().fold(Flags::NONE, |flags, (_, more)| flags | *more);
    assert_eq!(flags, wanted, "{shape:?} on {ranks}");
    assert!(told.iter().all(|(name, _)| *name == "reduce"));
    for told in noticed(ranks, shape, values, &sum(axes, true)) {
        let expected = if wanted.is_empty() { vec![] } else { vec![("reduce", wanted)] };
        assert_eq!(told, expected, "{shape:?} on {ranks}");
    }
}

/// What all see, one says.
#[test]
fn what_only_joining_signals_is_said_once() {
    for ranks in RANKS {
        let values = vec![1e308; 2 * ranks as usize];
        let told = noticed(ranks, &[values.len()], &values, &sum(&[0], false)).concat();
        assert_eq!(told.len(), 1, "on {ranks}: {told:?}");
    }
}

/// Ranks hold different arrays, as if garbage were collected at different times: what all hold is
/// computed, the rest stays as it is, and nobody waits for ever.
#[test]
fn a_sync_computes_what_all_ranks_hold() {
    for ranks in RANKS {
        let found = Threads::run(ranks, |fabric| {
            let rank = dappled_fabric::Fabric::rank(&fabric);
            let session = Session::with_limits(Box::new(fabric), LAZY);
            let a = Array::from_slice(&session, &[30], &[2.0; 30]);
            let spread = a.redistributed(&session.blocks(&[30])).unwrap();
            let mut held: Vec<(u64, Array)> =
                (0..100).map(|number| (number, spread.multiply(number as f64).unwrap())).collect();
            held.retain(|(number, _)| number % 5 != rank || number.is_multiple_of(3));
            session.sync().unwrap();
            let state = |array: &Array| array.explain().unwrap().contains("stored");
            let stored: Vec<u64> =
                held.iter().filter(|(_, array)| state(array)).map(|(number, _)| *number).collect();
            let values: Vec<f64> = held
                .iter()
                .filter(|(number, _)| number.is_multiple_of(3))
                .map(|(_, array)| array.to_vec::<f64>().unwrap()[7])
                .collect();
            session.sync().unwrap();
            (stored, values)
        });
        let everywhere = |number: &u64| number.is_multiple_of(3) || number % 5 >= ranks;
        let wanted: Vec<u64> = (0..100).filter(everywhere).collect();
        let values: Vec<f64> = (0..100).step_by(3).map(|number| 2.0 * number as f64).collect();
        for found in found {
            assert_eq!(found, (wanted.clone(), values.clone()), "on {ranks}");
        }
    }
}
