//! Floating-point flags of reductions of distributed arrays.

use dappled::{Array, Limits, ReduceRequest, Session};
use dappled_fabric::Threads;
use dappled_kernels::{DType, FpFlags, ReduceOp};

const RANKS: [u64; 5] = [1, 2, 3, 4, 7];
/// All arrays are distributed, and no operation is eager.
const LAZY: Limits = Limits { replicate_below: 0, eager_max: 0 };

fn sum(axes: &[usize], reports: bool) -> ReduceRequest {
    let request = ReduceRequest::new(ReduceOp::Add, axes.to_vec(), DType::Float64);
    ReduceRequest { reports_flags: reports, ..request }
}

/// The flags that each rank records for a reduction, as (operation, flags).
fn flags_of(
    ranks: u64,
    shape: &[usize],
    values: &[f64],
    folding: &ReduceRequest,
) -> Vec<Vec<(&'static str, FpFlags)>> {
    Threads::run(ranks, |fabric| {
        let session = Session::with_limits(Box::new(fabric), LAZY);
        let blocks = session.block_distribution(shape);
        let array = Array::from_slice(&session, shape, values).redistribute(&blocks).unwrap();
        array.reduce(folding).unwrap();
        session.take_fp_warnings().iter().map(|notice| (notice.operation, notice.flags)).collect()
    })
}

/// Overflow within a rank, overflow between ranks, and opposite infinities.
#[test]
fn sums_raise_the_flags_of_their_additions() {
    let mut tables: Vec<(Vec<f64>, FpFlags)> = Vec::new();
    for size in [6, 700] {
        let with = |cells: &[(usize, f64)]| {
            let mut values = vec![1.0; size];
            cells.iter().for_each(|&(at, value)| values[at] = value);
            values
        };
        let (large, infinite) = (f64::MAX, f64::INFINITY);
        tables.push((with(&[]), FpFlags::NONE));
        tables.push((with(&[(0, large), (1, large)]), FpFlags::OVERFLOW));
        tables.push((with(&[(0, large), (size - 1, large)]), FpFlags::OVERFLOW));
        tables.push((with(&[(0, infinite), (size - 1, -infinite)]), FpFlags::INVALID));
    }
    for (values, expected) in tables {
        for ranks in RANKS {
            for axes in [&[0, 1][..], &[0]] {
                let shape = [values.len() / 2, 2];
                let shape = if axes.len() == 2 { shape } else { [values.len(), 1] };
                check(ranks, &shape, &values, axes, expected);
            }
        }
    }
}

fn check(ranks: u64, shape: &[usize], values: &[f64], axes: &[usize], expected: FpFlags) {
    let reported = flags_of(ranks, shape, values, &sum(axes, false)).concat();
    let flags = reported.iter().fold(FpFlags::NONE, |flags, (_, more)| flags | *more);
    assert_eq!(flags, expected, "{shape:?} on {ranks}");
    assert!(reported.iter().all(|(name, _)| *name == "reduce"));
    for reported in flags_of(ranks, shape, values, &sum(axes, true)) {
        let expected = if expected.is_empty() { vec![] } else { vec![("reduce", expected)] };
        assert_eq!(reported, expected, "{shape:?} on {ranks}");
    }
}

/// A flag that all ranks see is reported by one of them.
#[test]
fn flags_of_combining_are_reported_once() {
    for ranks in RANKS {
        let values = vec![1e308; 2 * ranks as usize];
        let reported = flags_of(ranks, &[values.len()], &values, &sum(&[0], false)).concat();
        assert_eq!(reported.len(), 1, "on {ranks}: {reported:?}");
    }
}
