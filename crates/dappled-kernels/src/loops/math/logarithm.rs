//! `log`: splits off the exponent and evaluates a series near 1.

use super::ROUNDING_SHIFT;
use super::exponential::LN_2;

const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE: u64 = 0x3ff0_0000_0000_0000;

/// 2/3, 2/5, …: log(m) = 2s + 2/3 s**3 + 2/5 s**5 + … with s = (m - 1) / (m + 1).
pub(crate) const ODD: [f64; 10] = [
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

/// True for arguments other than positive normal numbers, which the C library computes.
#[inline(always)]
pub(crate) fn is_special_log(a: f64) -> bool {
    !(f64::MIN_POSITIVE..f64::INFINITY).contains(&a)
}

/// k and m with a = 2**k m and m between sqrt(1/2) and sqrt(2), for arguments that are not special.
#[inline(always)]
pub(crate) fn split_exponent(a: f64) -> (f64, f64) {
    let bits = a.to_bits().wrapping_add(ONE - SQRT_HALF);
    let exponent = f64::from_bits((bits >> 52).wrapping_add(ROUNDING_SHIFT.to_bits()));
    let m = f64::from_bits((bits & ((1 << 52) - 1)).wrapping_add(SQRT_HALF));
    (exponent - (ROUNDING_SHIFT + 1023.0), m)
}

#[inline(always)]
pub(crate) fn log(a: f64) -> f64 {
    let (k, m) = split_exponent(a);
    let f = m - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    let tail = z * super::polynomial(z, ODD);
    // 2s = f - s f, of which f - f**2 / 2 is the larger part: small terms are added first.
    let half_square = 0.5 * f * f;
    let small = k.mul_add(LN_2[1], s * (half_square + tail));
    let high = k * LN_2_HIGH;
    let small = k.mul_add(LN_2_REST, small);
    high - ((half_square - small) - f)
}

/// ln 2 truncated so that multiples by k are exact, and its difference to the first part of
/// [`LN_2`].
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_REST: f64 = LN_2[0] - LN_2_HIGH;

/// The coefficients that float32 needs.
const SINGLE_COEFFICIENTS: [f64; 5] = [ODD[0], ODD[1], ODD[2], ODD[3], ODD[4]];

/// log for float32, in float64.
#[inline(always)]
pub(crate) fn log_for_single<const N: usize>(a: f64, coefficients: [f64; N]) -> f64 {
    let (k, m) = split_exponent(a);
    let f = m - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    k.mul_add(LN_2[0], s * z.mul_add(super::polynomial(z, coefficients), 2.0))
}

#[inline(always)]
pub(crate) fn log_single(a: f32) -> f32 {
    log_for_single(f64::from(a), SINGLE_COEFFICIENTS) as f32
}

/// log2 for float32, exact for powers of two.
#[inline(always)]
pub(crate) fn log2_single(a: f32) -> f32 {
    let (k, m) = split_exponent(f64::from(a));
    log_for_single(m, SINGLE_COEFFICIENTS).mul_add(std::f64::consts::LOG2_E, k) as f32
}

#[inline(always)]
pub(crate) fn log10_single(a: f32) -> f32 {
    (log_for_single(f64::from(a), SINGLE_COEFFICIENTS) * std::f64::consts::LOG10_E) as f32
}
