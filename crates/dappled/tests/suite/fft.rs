//! Fourier transforms of distributed arrays, compared with their definition.

use std::f64::consts::TAU;

use dappled::protocol::Distribution;
use dappled::{Array, FftKind, FftStep, Limits, Session};
use dappled_fabric::Threads;
use dappled_fft::Direction;
use dappled_kernels::DType;
use num_complex::Complex64;

use crate::reference::choices::Choices;

const RANKS: [u64; 5] = [1, 2, 3, 7, 64];

/// Transforms along an axis by the definition, truncating or zero-padding the input.
fn reference(
    values: &[Complex64],
    shape: &[usize],
    step: &FftStep,
) -> (Vec<Complex64>, Vec<usize>) {
    let (given, inner) = (shape[step.axis], shape[step.axis + 1..].iter().product::<usize>());
    let groups: usize = shape[..step.axis].iter().product();
    let n = step.length;
    let sign = if step.direction == Direction::Forward { -TAU } else { TAU };
    let mut out_shape = shape.to_vec();
    out_shape[step.axis] = step.output_length();
    let mut out = vec![Complex64::default(); groups * step.output_length() * inner];
    for line in 0..groups * inner {
        let (group, at) = (line / inner, line % inner);
        let read = |k: usize| match k < given {
            true => values[(group * given + k) * inner + at],
            false => Complex64::default(),
        };
        let input: Vec<Complex64> = (0..n)
            .map(|k| match step.kind {
                FftKind::HalfToReal if k > n / 2 => read(n - k).conj(),
                FftKind::HalfToReal if k == 0 || 2 * k == n => read(k).re.into(),
                _ => read(k),
            })
            .collect();
        for k in 0..step.output_length() {
            let term = |(j, &value): (usize, &Complex64)| {
                value * Complex64::cis(sign * ((j * k) % n) as f64 / n as f64)
            };
            let sum: Complex64 = input.iter().enumerate().map(term).sum();
            let sum = if step.kind == FftKind::HalfToReal { sum.re.into() } else { sum };
            out[(group * step.output_length() + k) * inner + at] = sum * step.scale;
        }
    }
    (out, out_shape)
}

/// Distributions of a shape: blocks of each axis, cyclic, block-cyclic, uneven, on one rank.
pub(crate) fn distributions(shape: &[usize], ranks: u64) -> Vec<Distribution> {
    let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let spec = || Distribution::spec(&lengths).nprocs(ranks);
    let mut all = vec![spec().build(), spec().dist(&"c".repeat(shape.len())).build()];
    all.push(spec().dist(&"c".repeat(shape.len())).block_size(2).build());
    for axis in 0..shape.len() {
        let kind = |other| if other == axis { 'b' } else { 'n' };
        all.push(spec().dist(&(0..shape.len()).map(kind).collect::<String>()).build());
    }
    let mut uneven = spec().dist(&format!("b{}", "n".repeat(shape.len() - 1)));
    let mut bounds = vec![lengths[0]; ranks as usize + 1];
    bounds[0] = 0;
    bounds[1] = lengths[0] / 3;
    if ranks > 1 {
        uneven.axes[0].bounds = Some(bounds);
        all.push(uneven.build());
    }
    all.into_iter().map(|distribution| distribution.unwrap()).collect()
}

fn step(axis: usize, length: usize, kind: FftKind, direction: Direction) -> FftStep {
    FftStep { axis, length, kind, direction, scale: 0.5 }
}

/// Transforms by the core on so many ranks, as complex128 on every rank.
fn transformed(
    values: &[Complex64],
    shape: &[usize],
    dtype: DType,
    steps: &[FftStep],
    ranks: u64,
    index: usize,
) -> Vec<(Vec<usize>, DType, Vec<Complex64>)> {
    Threads::run(ranks, |fabric| {
        let limits = Limits { replicate_below: 0, ..Limits::default() };
        let session = Session::with_limits(Box::new(fabric), limits);
        let array = Array::from_slice(&session, shape, values).cast(dtype).unwrap();
        let array = match distributions(shape, ranks).get(index) {
            Some(distribution) => array.redistribute(distribution).unwrap(),
            None => array,
        };
        let result = array.fft(steps, None, false).unwrap();
        let wide = result.cast(DType::Complex128).unwrap();
        (result.shape().to_vec(), result.dtype(), wide.to_vec::<Complex64>().unwrap())
    })
}

fn check(shape: &[usize], dtype: DType, steps: &[FftStep], ranks: u64) {
    let mut choices = Choices(17);
    // Integers, so that values are the same in every dtype.
    let mut number = || choices.below(201) as f64 - 100.0;
    let is_complex = matches!(dtype, DType::Complex64 | DType::Complex128);
    let count: usize = shape.iter().product();
    let values: Vec<Complex64> = (0..count)
        .map(|_| Complex64::new(number(), if is_complex { number() } else { 0.0 }))
        .collect();
    let (mut expected, mut expected_shape) = (values.clone(), shape.to_vec());
    for step in steps {
        (expected, expected_shape) = reference(&expected, &expected_shape, step);
    }
    let is_single = matches!(dtype, DType::Float32 | DType::Complex64);
    let epsilon = if is_single { f32::EPSILON as f64 } else { f64::EPSILON };
    let largest = expected.iter().map(|value| value.norm()).fold(1.0, f64::max);
    // Many ranks take long to start.
    let stride = if ranks > 7 { 3 } else { 1 };
    for index in (0..=distributions(shape, ranks).len()).step_by(stride) {
        for (rank, (found_shape, _, found)) in
            transformed(&values, shape, dtype, steps, ranks, index).into_iter().enumerate()
        {
            assert_eq!(found_shape, expected_shape);
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert!(
                    (found - expected).norm() <= 40.0 * epsilon * largest,
                    "{dtype:?} {shape:?} {steps:?}: {found} instead of {expected} at {at}, \
                     rank {rank} of {ranks}, distribution {index}"
                );
            }
        }
    }
}

const DTYPES: [DType; 5] =
    [DType::Float64, DType::Complex128, DType::Float32, DType::Complex64, DType::Int64];

#[test]
fn transforms_of_one_axis() {
    use Direction::{Forward, Inverse};
    use FftKind::{Complex, HalfToReal, RealToHalf};
    for ranks in RANKS {
        for dtype in DTYPES {
            for length in [1, 36, 64] {
                check(&[36], dtype, &[step(0, length, Complex, Forward)], ranks);
            }
            check(&[61], dtype, &[step(0, 61, Complex, Inverse)], ranks);
            check(&[5, 8], dtype, &[step(1, 8, Complex, Forward)], ranks);
            check(&[40], dtype, &[step(0, 77, HalfToReal, Inverse)], ranks);
            check(&[37], dtype, &[step(0, 72, HalfToReal, Inverse)], ranks);
        }
        for dtype in [DType::Float64, DType::Float32] {
            check(&[72], dtype, &[step(0, 72, RealToHalf, Forward)], ranks);
            check(&[75], dtype, &[step(0, 75, RealToHalf, Forward)], ranks);
            check(&[70], dtype, &[step(0, 96, RealToHalf, Forward)], ranks);
        }
    }
}

#[test]
fn transforms_of_several_axes() {
    use Direction::{Forward, Inverse};
    use FftKind::{Complex, HalfToReal, RealToHalf};
    for ranks in RANKS {
        for dtype in [DType::Float64, DType::Complex64] {
            let both = [step(1, 9, Complex, Forward), step(0, 8, Complex, Forward)];
            check(&[8, 9], dtype, &both, ranks);
            let cube: Vec<FftStep> = [4, 6, 5]
                .into_iter()
                .enumerate()
                .map(|(a, n)| step(a, n, Complex, Inverse))
                .collect();
            check(&[4, 6, 5], dtype, &cube, ranks);
            let repeated = [step(0, 8, Complex, Forward), step(0, 7, Complex, Inverse)];
            check(&[8, 3], dtype, &repeated, ranks);
        }
        let half = [step(1, 10, RealToHalf, Forward), step(0, 7, Complex, Forward)];
        check(&[7, 10], DType::Float64, &half, ranks);
        let real = [step(0, 7, Complex, Inverse), step(1, 10, HalfToReal, Inverse)];
        check(&[7, 6], DType::Complex128, &real, ranks);
    }
}

/// Prime lengths without a matrix, which need Bluestein's algorithm on several ranks.
#[test]
fn transforms_of_prime_lengths() {
    for ranks in [1, 2, 3, 7] {
        for dtype in [DType::Float64, DType::Complex64] {
            let forward = step(0, 211, FftKind::Complex, Direction::Forward);
            check(&[211], dtype, &[forward], ranks);
        }
        let half = step(0, 211, FftKind::RealToHalf, Direction::Forward);
        check(&[211], DType::Float64, &[half], ranks);
    }
}

/// Few lines that are longer than ranks can hold whole.
#[test]
fn transforms_of_few_long_lines() {
    for ranks in [2, 3, 7] {
        let forward = step(1, 144, FftKind::Complex, Direction::Forward);
        check(&[2, 144], DType::Complex128, &[forward], ranks.max(3));
        let first = step(0, 96, FftKind::Complex, Direction::Inverse);
        check(&[96, 2], DType::Float64, &[first], ranks);
    }
}
