//! Order statistics of distributed arrays, compared with a sort.

use dappled::{Array, Limits, Session};
use dappled_fabric::Threads;
use dappled_kernels::{DType, DTypeKind, Element};

use crate::fft::distributions;
use crate::reference::choices::Choices;

const RANKS: [u64; 5] = [1, 2, 3, 7, 64];

/// Calls `act` on every rank with the array in each distribution, and returns the results.
fn on_ranks<T: Element, R: Send>(
    values: &[T],
    shape: &[usize],
    ranks: u64,
    act: impl Fn(&Array) -> R + Sync,
) -> Vec<R> {
    let limits = Limits { replicate_below: 0, ..Limits::default() };
    let results = Threads::run(ranks, |fabric| {
        let session = Session::with_limits(Box::new(fabric), limits);
        let replicated = Array::from_slice(&session, shape, values);
        let mut results = vec![act(&replicated)];
        for distribution in distributions(shape, ranks) {
            results.push(act(&replicated.redistribute(&distribution).unwrap()));
        }
        results
    });
    results.into_iter().flatten().collect()
}

/// The float64 values in an order that has -0.0 before 0.0, and NaN last.
fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(b)));
    sorted
}

fn check(values: &[f64], shape: &[usize], dtype: DType, positions: &[usize], ranks: u64) {
    let expected = sorted(values);
    let select = |array: &Array| {
        let selected = array.cast(dtype).unwrap().order_statistics(positions).unwrap().unwrap();
        assert_eq!((selected.dtype(), selected.shape()), (dtype, &[positions.len()][..]));
        selected.cast(DType::Float64).unwrap().to_vec::<f64>().unwrap()
    };
    for found in on_ranks(values, shape, ranks, select) {
        for (&position, value) in positions.iter().zip(found) {
            let expected = expected[position];
            let is_equal = value.to_bits() == expected.to_bits()
                || (value.is_nan() && expected.is_nan())
                || (dtype.kind() != DTypeKind::Float && value == expected);
            assert!(is_equal, "{value} instead of {expected} at {position} of {ranks} ranks");
        }
    }
}

fn positions(count: usize) -> Vec<usize> {
    vec![count / 2, count / 2 - 1, 0, count - 1, count / 4, count / 2]
}

#[test]
fn values_of_every_distribution() {
    let mut choices = Choices(5);
    for ranks in RANKS {
        let count = if ranks > 7 { 20_000 } else { 60_000 };
        let values: Vec<f64> = (0..count).map(|_| choices.below(1 << 30) as f64 - 1e8).collect();
        check(&values, &[count], DType::Float64, &positions(count), ranks);
        check(&values, &[count / 100, 100], DType::Int64, &positions(count), ranks);
        let small: Vec<f64> = values.iter().map(|value| (value % 100.0).abs()).collect();
        check(&small, &[count], DType::UInt8, &positions(count), ranks);
        check(&small, &[count], DType::Float32, &positions(count), ranks);
    }
}

#[test]
fn ties_zeros_and_nans() {
    let mut choices = Choices(6);
    for ranks in [1, 2, 3, 7] {
        let count = 40_000;
        let zeros: Vec<f64> = (0..count)
            .map(|at| match choices.below(5) {
                0 => -0.0,
                1 => at as f64,
                2 => -(at as f64),
                _ => 0.0,
            })
            .collect();
        let middle: Vec<usize> = (15_000..25_000).step_by(100).collect();
        check(&zeros, &[count], DType::Float64, &middle, ranks);
        for nan_share in [1, 2, 3] {
            let nans: Vec<f64> = (0..count)
                .map(|at| if choices.below(4) < nan_share { f64::NAN } else { at as f64 })
                .collect();
            check(&nans, &[count], DType::Float64, &positions(count), ranks);
        }
        let mut rare = vec![f64::NAN; count];
        rare[17] = 5.0;
        rare[30_001] = f64::NEG_INFINITY;
        check(&rare, &[count], DType::Float64, &[0, 1, 2, count - 1], ranks);
    }
}

/// Values that repeat with the step of the sample, and all values on one rank sorted.
#[test]
fn unlucky_samples() {
    for ranks in [1, 2, 3, 7] {
        let count = 1 << 17;
        let periodic: Vec<f64> =
            (0..count).map(|at| if at % 8 == 3 { 1e9 } else { at as f64 }).collect();
        check(&periodic, &[count], DType::Float64, &positions(count), ranks);
        let two: Vec<f64> = (0..count).map(|at| (at % 2) as f64 - 0.5).collect();
        check(&two, &[count], DType::Float64, &positions(count), ranks);
        let three: Vec<f64> = (0..count).map(|at| (at % 3) as f64 - 1.0).collect();
        check(&three, &[count], DType::Float64, &positions(count), ranks);
        let ascending: Vec<f64> = (0..count).map(|at| at as f64).collect();
        let all: Vec<usize> = (0..count).step_by(1000).collect();
        check(&ascending, &[count], DType::Int32, &all, ranks);
    }
}

#[test]
fn few_values_and_complex_numbers() {
    for ranks in RANKS {
        check(&[2.0], &[1], DType::Float64, &[0], ranks);
        check(&[2.0, f64::NAN, 1.0], &[3], DType::Float32, &[2, 0, 1], ranks);
        check(&[2.0, 3.0, 1.0], &[3], DType::Float16, &[2, 0, 1], ranks);
        check(&[1.0, 0.0], &[2], DType::Bool, &[1, 0], ranks);
        let none = |array: &Array| {
            let complex = array.cast(DType::Complex128).unwrap();
            complex.order_statistics(&[0]).unwrap().is_none()
        };
        assert!(on_ranks(&[1.0], &[1], ranks, none).into_iter().all(|is_none| is_none));
    }
}
