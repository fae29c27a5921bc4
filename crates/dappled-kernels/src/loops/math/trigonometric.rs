//! `sin`, `cos` and `tan`: reduction by multiples of pi / 2, and two polynomials.

use super::{nearest, polynomial};

/// pi / 2 as a sum of three floats.
const QUARTER: [f64; 3] =
    [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33];

/// -1/3!, 1/5!, …, for |r| <= pi / 4.
const SINE: [f64; 8] = [
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5040.0,
    1.0 / 362880.0,
    -1.0 / 39916800.0,
    1.0 / 6227020800.0,
    -1.0 / 1307674368000.0,
    1.0 / 355687428096000.0,
];

/// 1/4!, -1/6!, …, for |r| <= pi / 4.
const COSINE: [f64; 7] = [
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40320.0,
    -1.0 / 3628800.0,
    1.0 / 479001600.0,
    -1.0 / 87178291200.0,
    1.0 / 20922789888000.0,
];

/// True for angles too large for the three-part reduction, which the C library computes.
#[inline(always)]
pub(crate) fn is_large_angle(a: f64) -> bool {
    a.abs() > 1073741824.0
}

/// The number of quarter turns, the remainder, and its rounding error.
#[inline(always)]
fn reduce_angle(a: f64) -> (u64, f64, f64) {
    let (n, quarters) = nearest(a * std::f64::consts::FRAC_2_PI);
    // Exact: both are multiples of the last digit of a or of the first part, and nearly equal.
    let r = n.mul_add(-QUARTER[0], a);
    let product = n * QUARTER[1];
    let lost = n.mul_add(QUARTER[1], -product);
    let rest = r - product;
    let took = r - rest;
    // The rounding error of the subtraction.
    let error = (took - product) + (r - (rest + took));
    (quarters, rest, error - lost - n * QUARTER[2])
}

/// Sine and cosine of r + low.
#[inline(always)]
fn sin_cos(r: f64, low: f64) -> (f64, f64) {
    let z = r * r;
    let sine = r + (r * z).mul_add(polynomial(z, SINE), low);
    let half = 0.5 * z;
    let near_one = 1.0 - half;
    let rest = (1.0 - near_one) - half;
    let cosine = near_one + (rest + (z * z).mul_add(polynomial(z, COSINE), -r * low));
    (sine, cosine)
}

/// Quadrant, sine and cosine for float32, in float64.
#[inline(always)]
fn sin_cos_single(a: f64) -> (u64, f64, f64) {
    let (n, quarters) = nearest(a * std::f64::consts::FRAC_2_PI);
    let r = n.mul_add(-QUARTER[1], n.mul_add(-QUARTER[0], a));
    let z = r * r;
    let sine = (r * z).mul_add(polynomial(z, [SINE[0], SINE[1], SINE[2], SINE[3], SINE[4]]), r);
    let few = [-0.5, COSINE[0], COSINE[1], COSINE[2], COSINE[3]];
    (quarters, sine, z.mul_add(polynomial(z, few), 1.0))
}

/// The sine after this many quarter turns.
#[inline(always)]
fn rotate_quadrant(quarters: u64, sine: f64, cosine: f64) -> f64 {
    let value = if quarters & 1 == 0 { sine } else { cosine };
    f64::from_bits(value.to_bits() ^ (quarters & 2) << 62)
}

#[inline(always)]
pub(crate) fn sin(a: f64) -> f64 {
    let (quarters, r, low) = reduce_angle(a);
    let (sine, cosine) = sin_cos(r, low);
    // Preserves the sign of a zero, and digits that the square has lost.
    if a.abs() < 1e-8 { a } else { rotate_quadrant(quarters, sine, cosine) }
}

#[inline(always)]
pub(crate) fn cos(a: f64) -> f64 {
    let (quarters, r, low) = reduce_angle(a);
    let (sine, cosine) = sin_cos(r, low);
    rotate_quadrant(quarters.wrapping_add(1), sine, cosine)
}

#[inline(always)]
pub(crate) fn tan(a: f64) -> f64 {
    let (quarters, r, low) = reduce_angle(a);
    let (sine, cosine) = sin_cos(r, low);
    let even = quarters & 1 == 0;
    let (above, below) = if even { (sine, cosine) } else { (-cosine, sine) };
    if a.abs() < 1e-8 { a } else { above / below }
}

#[inline(always)]
pub(crate) fn sin_single(a: f32) -> f32 {
    let (quarters, sine, cosine) = sin_cos_single(f64::from(a));
    if a.abs() < 1e-5 { a } else { rotate_quadrant(quarters, sine, cosine) as f32 }
}

#[inline(always)]
pub(crate) fn cos_single(a: f32) -> f32 {
    let (quarters, sine, cosine) = sin_cos_single(f64::from(a));
    rotate_quadrant(quarters.wrapping_add(1), sine, cosine) as f32
}

#[inline(always)]
pub(crate) fn tan_single(a: f32) -> f32 {
    let (quarters, sine, cosine) = sin_cos_single(f64::from(a));
    let even = quarters & 1 == 0;
    let (above, below) = if even { (sine, cosine) } else { (-cosine, sine) };
    if a.abs() < 1e-5 { a } else { (above / below) as f32 }
}
