//! `exp` and `tanh`: a power of two times a polynomial.

use super::{nearest, polynomial, power_of_two};

/// ln 2 as a sum of two floats.
pub(crate) const LN_2: [f64; 2] = [std::f64::consts::LN_2, 2.3190468138462996e-17];

/// 1/2!, 1/3!, …, 1/13!: enough for full precision with |r| <= ln(2) / 2.
const FACTORIALS: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362880.0,
    1.0 / 3628800.0,
    1.0 / 39916800.0,
    1.0 / 479001600.0,
    1.0 / 6227020800.0,
];

/// The coefficients that float32 needs.
const SINGLE_COEFFICIENTS: [f64; 7] = {
    let f = FACTORIALS;
    [f[0], f[1], f[2], f[3], f[4], f[5], f[6]]
};

/// exp(a + more), where `more` is about the size of a's last digit.
#[inline(always)]
pub(crate) fn exp_of_sum(a: f64, more: f64) -> f64 {
    // Beyond these bounds the result is infinite or zero; NaN passes through.
    let a = if a > 710.0 { 710.0 } else { a };
    let a = if a < -746.0 { -746.0 } else { a };
    let (k, _) = nearest(a * std::f64::consts::LOG2_E);
    let r = k.mul_add(-LN_2[0], a);
    let low = k.mul_add(-LN_2[1], more);
    scaled(k, r + low, 0.0)
}

/// 2**k exp(r + low).
#[inline(always)]
fn scaled(k: f64, r: f64, low: f64) -> f64 {
    let sum = 1.0 + (r + (r * r).mul_add(polynomial(r, FACTORIALS), low));
    // In two steps, since 2**k may be out of range; only the second one rounds.
    let (half, first) = nearest(k * 0.5);
    let (_, second) = nearest(k - half);
    sum * power_of_two(first) * power_of_two(second)
}

#[inline(always)]
pub(crate) fn exp(a: f64) -> f64 {
    exp_of_sum(a, 0.0)
}

#[inline(always)]
pub(crate) fn exp2(a: f64) -> f64 {
    let a = if a > 1025.0 { 1025.0 } else { a };
    let a = if a < -1080.0 { -1080.0 } else { a };
    let (k, _) = nearest(a);
    let r = (a - k) * LN_2[0];
    let lost = (a - k).mul_add(LN_2[0], -r);
    scaled(k, r, (a - k).mul_add(LN_2[1], lost))
}

#[inline(always)]
pub(crate) fn exp2_single(a: f32) -> f32 {
    let a = f64::from(a);
    let a = if a > 130.0 { 130.0 } else { a };
    let a = if a < -160.0 { -160.0 } else { a };
    let (k, n) = nearest(a);
    let r = (a - k) * LN_2[0];
    ((r * r).mul_add(polynomial(r, SINGLE_COEFFICIENTS), r + 1.0) * power_of_two(n)) as f32
}

#[inline(always)]
pub(crate) fn expm1_single(a: f32) -> f32 {
    let wide = f64::from(a);
    let wide = if wide > 90.0 { 90.0 } else { wide };
    let wide = if wide < -30.0 { -30.0 } else { wide };
    let (k, n) = nearest(wide * std::f64::consts::LOG2_E);
    let r = k.mul_add(-LN_2[0], wide);
    let (small, scale) = ((r * r).mul_add(polynomial(r, SINGLE_COEFFICIENTS), r), power_of_two(n));
    (small.mul_add(scale, scale - 1.0) as f32).copysign(a)
}

/// exp for float32, in float64, whose intermediate results stay in range.
#[inline(always)]
pub(crate) fn exp_for_single(a: f64) -> f64 {
    let a = if a > 90.0 { 90.0 } else { a };
    let a = if a < -110.0 { -110.0 } else { a };
    let (k, n) = nearest(a * std::f64::consts::LOG2_E);
    let r = k.mul_add(-LN_2[0], a);
    (r * r).mul_add(polynomial(r, SINGLE_COEFFICIENTS), r + 1.0) * power_of_two(n)
}

#[inline(always)]
pub(crate) fn exp_single(a: f32) -> f32 {
    exp_for_single(f64::from(a)) as f32
}

/// Lambert's continued fraction a / (1 + a**2 / (3 + a**2 / (5 + …))) to its eighth term, as a - a
/// z P(z) / Q(z) with z = a**2, for small a, where exp(2a) - 1 would lose digits.
const SMALL_ABOVE: [f64; 4] = [675675.0, 45045.0, 594.0, 1.0];
const SMALL_BELOW: [f64; 5] = [2027025.0, 945945.0, 51975.0, 630.0, 1.0];

/// tanh: from 0.6 on as t / (t + 2) with t = exp(2|a|) - 1. Both cases share one division.
#[inline(always)]
fn tanh_with<const N: usize>(a: f64, coefficients: [f64; N]) -> f64 {
    let size = a.abs();
    let z = size * size;
    let twice = if size > 22.0 { 44.0 } else { 2.0 * size };
    let (k, n) = nearest(twice * std::f64::consts::LOG2_E);
    let r = k.mul_add(-LN_2[1], k.mul_add(-LN_2[0], twice));
    let small = (r * r).mul_add(polynomial(r, coefficients), r);
    let scale = power_of_two(n);
    let t = small.mul_add(scale, scale - 1.0);
    let is_small = size < 0.6;
    let above = if is_small { size * z * polynomial(z, SMALL_ABOVE) } else { t };
    let below = if is_small { polynomial(z, SMALL_BELOW) } else { t + 2.0 };
    let ratio = above / below;
    (if is_small { size - ratio } else { ratio }).copysign(a)
}

#[inline(always)]
pub(crate) fn tanh(a: f64) -> f64 {
    tanh_with(a, FACTORIALS)
}

#[inline(always)]
pub(crate) fn tanh_single(a: f32) -> f32 {
    tanh_with(f64::from(a), SINGLE_COEFFICIENTS) as f32
}
