//! `log`: a number as 2**k times one near 1, and a series for that.

use super::ROUNDER;
use super::exponential::LN_2;

const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE: u64 = 0x3ff0_0000_0000_0000;

/// 2/3, 2/5, …: of log(m) = 2s + 2/3 s**3 + 2/5 s**5 + …, s = (m - 1) / (m + 1).
pub(super) const ODD: [f64; 10] = [
    2.0 / 3.0,
    2.0 / 5.0,
    2.0 / 7.0,
    2.0 / 9.0,
    2.0 / 11.0,
    2.0 / 13.0,
    2.0 / 15.0,
    2.0 / 17.0,
    2.0 / 19.0,
    2.0 / 21.0,
];

/// Not a positive number with all its digits: left to the C library.
#[inline(always)]
pub(crate) fn is_rare_log(a: f64) -> bool {
    !(f64::MIN_POSITIVE..f64::INFINITY).contains(&a)
}

/// k and m of a number a = 2**k m that is not rare, with m between the roots of 1/2 and 2.
#[inline(always)]
pub(super) fn split(a: f64) -> (f64, f64) {
    let bits = a.to_bits().wrapping_add(ONE - SQRT_HALF);
    let exponent = f64::from_bits((bits >> 52).wrapping_add(ROUNDER.to_bits()));
    let m = f64::from_bits((bits & ((1 << 52) - 1)).wrapping_add(SQRT_HALF));
    (exponent - (ROUNDER + 1023.0), m)
}

#[inline(always)]
pub(crate) fn log(a: f64) -> f64 {
    let (k, m) = split(a);
    let f = m - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    let tail = z * super::series(z, ODD);
    // 2s = f - s f, and f - f**2 / 2 is the larger part of it: small terms are added first.
    let half_square = 0.5 * f * f;
    let small = k.mul_add(LN_2[1], s * (half_square + tail));
    let high = k * LN_2_HIGH;
    let small = k.mul_add(LN_2_REST, small);
    high - ((half_square - small) - f)
}

/// ln 2 so short that k times it is exact, and what is missing from [`LN_2`]'s first part.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_REST: f64 = LN_2[0] - LN_2_HIGH;

/// As many as float32 needs.
const FEW: [f64; 5] = [ODD[0], ODD[1], ODD[2], ODD[3], ODD[4]];

/// For float32, in float64.
#[inline(always)]
pub(super) fn log_short<const N: usize>(a: f64, coefficients: [f64; N]) -> f64 {
    let (k, m) = split(a);
    let f = m - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    k.mul_add(LN_2[0], s * z.mul_add(super::series(z, coefficients), 2.0))
}

#[inline(always)]
pub(crate) fn log_single(a: f32) -> f32 {
    log_short(f64::from(a), FEW) as f32
}

/// Powers of two are exact.
#[inline(always)]
pub(crate) fn log2_single(a: f32) -> f32 {
    let (k, m) = split(f64::from(a));
    log_short(m, FEW).mul_add(std::f64::consts::LOG2_E, k) as f32
}

#[inline(always)]
pub(crate) fn log10_single(a: f32) -> f32 {
    (log_short(f64::from(a), FEW) * std::f64::consts::LOG10_E) as f32
}
