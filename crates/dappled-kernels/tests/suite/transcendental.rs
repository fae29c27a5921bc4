//! The functions of this crate against the C library's, for many more numbers than the tables have.

use std::slice::from_ref;

use crate::common::run;
use dappled_kernels::element::{Element, bytes_of, typed};
use dappled_kernels::{Buffer, Op};

/// Numbers of all magnitudes, with more of them where functions vary.
fn numbers(len: u64, seed: u64) -> Vec<f64> {
    let bits = |i: u64| (i ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ i.wrapping_mul(i + seed);
    let unit = |i: u64| (bits(i) >> 11) as f64 / 2f64.powi(52) - 1.0;
    let each = |i: u64| match i % 6 {
        0 => f64::from_bits(bits(i)),
        1 => unit(i) * 750.0,
        2 => unit(i),
        3 => 1.0 + unit(i) / 64.0,
        4 => (unit(i) * 1000.0).round() * std::f64::consts::FRAC_PI_4,
        _ => 2f64.powf(unit(i) * 40.0),
    };
    (0..len).map(each).collect()
}

fn computed<T: Element>(op: Op, args: &[Vec<T>]) -> Vec<T> {
    let args: Vec<&[u8]> = args.iter().map(|arg| bytes_of(arg)).collect();
    let out = Buffer::from_slice(&run(op, T::DTYPE, &args));
    typed::<T>(&out.read().unwrap()).to_vec()
}

/// The number of floats between two; zero for two NaNs.
fn ulps_between(a: f64, b: f64, width: u32) -> u64 {
    let place = |value: f64| {
        let bits = if width == 32 { (value as f32).to_bits().into() } else { value.to_bits() };
        let size = (bits & !(1 << (width - 1))) as i64;
        if size as u64 == bits { size } else { -size }
    };
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0,
        (false, false) => place(a).abs_diff(place(b)),
        _ => u64::MAX,
    }
}

type OfDouble = fn(f64) -> f64;
type OfSingle = fn(f32) -> f32;

const FUNCTIONS: [(Op, OfDouble, OfSingle); 10] = [
    (Op::Exp, f64::exp, f32::exp),
    (Op::Exp2, f64::exp2, f32::exp2),
    (Op::Expm1, f64::exp_m1, f32::exp_m1),
    (Op::Log, f64::ln, f32::ln),
    (Op::Log2, f64::log2, f32::log2),
    (Op::Log10, f64::log10, f32::log10),
    (Op::Sin, f64::sin, f32::sin),
    (Op::Cos, f64::cos, f32::cos),
    (Op::Tan, f64::tan, f32::tan),
    (Op::Tanh, f64::tanh, f32::tanh),
];

#[test]
fn functions_are_close_to_the_library() {
    let doubles = numbers(60_000, 1);
    let singles: Vec<f32> = doubles.iter().map(|&a| a as f32).collect();
    for (op, double, single) in FUNCTIONS {
        for (&a, found) in doubles.iter().zip(computed(op, from_ref(&doubles))) {
            let far = ulps_between(found, double(a), 64);
            assert!(far <= 2, "{op}({a:e}) = {found:e}, not {:e}: {far}", double(a));
        }
        for (&a, found) in singles.iter().zip(computed(op, from_ref(&singles))) {
            let far = ulps_between(found.into(), single(a).into(), 32);
            assert!(far <= 2, "{op}({a:e}) = {found:e}, not {:e}: {far}", single(a));
        }
    }
}

#[test]
fn powers_are_close_to_the_library() {
    for seed in 2..6 {
        let (bases, exponents) = (numbers(30_000, seed), numbers(30_000, 7 * seed));
        let found = computed(Op::Power, &[bases.clone(), exponents.clone()]);
        for ((&a, &b), found) in bases.iter().zip(&exponents).zip(found) {
            let far = ulps_between(found, a.powf(b), 64);
            assert!(far <= 1, "{a:e} ** {b:e} = {found:e}, not {:e}: {far}", a.powf(b));
        }
        let [bases, exponents] =
            [bases, exponents].map(|all| all.iter().map(|&a| a as f32).collect::<Vec<f32>>());
        let found = computed(Op::Power, &[bases.clone(), exponents.clone()]);
        for ((&a, &b), found) in bases.iter().zip(&exponents).zip(found) {
            let far = ulps_between(found.into(), a.powf(b).into(), 32);
            assert!(far <= 1, "{a:e} ** {b:e} = {found:e}, not {:e}: {far}", a.powf(b));
        }
    }
}

/// The result for a number depends neither on its position nor on its neighbours.
#[test]
fn results_do_not_depend_on_neighbours() {
    let all = numbers(700, 9);
    for (op, ..) in FUNCTIONS {
        let together = computed(op, from_ref(&all));
        for (&a, found) in all.iter().zip(together) {
            assert_eq!(ulps_between(computed(op, &[vec![a]])[0], found, 64), 0, "{op}({a:e})");
        }
    }
}
