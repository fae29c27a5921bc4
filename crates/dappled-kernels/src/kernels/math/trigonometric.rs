//! `sin`, `cos` and `tan`: the angle less a multiple of a quarter turn, and two series.

use super::{nearest, series};

/// pi / 2 in three parts.
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

/// 1/4!, -1/6!, …
const COSINE: [f64; 7] = [
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40320.0,
    -1.0 / 3628800.0,
    1.0 / 479001600.0,
    -1.0 / 87178291200.0,
    1.0 / 20922789888000.0,
];

/// Too large an angle for the three parts: the C library does those.
#[inline(always)]
pub(crate) fn is_far(a: f64) -> bool {
    a.abs() > 1073741824.0
}

/// Quarter turns, and the rest with what it lacks.
#[inline(always)]
fn reduce(a: f64) -> (u64, f64, f64) {
    let (n, quarters) = nearest(a * std::f64::consts::FRAC_2_PI);
    // Exact: both are multiples of a's last digit or of the first part's, and nearly equal.
    let r = n.mul_add(-QUARTER[0], a);
    let product = n * QUARTER[1];
    let lost = n.mul_add(QUARTER[1], -product);
    let rest = r - product;
    let took = r - rest;
    // What the subtraction rounded off.
    let error = (took - product) + (r - (rest + took));
    (quarters, rest, error - lost - n * QUARTER[2])
}

/// Sine and cosine of r + low.
#[inline(always)]
fn both(r: f64, low: f64) -> (f64, f64) {
    let z = r * r;
    let sine = r + (r * z).mul_add(series(z, SINE), low);
    let half = 0.5 * z;
    let near_one = 1.0 - half;
    let rest = (1.0 - near_one) - half;
    let cosine = near_one + (rest + (z * z).mul_add(series(z, COSINE), -r * low));
    (sine, cosine)
}

/// The same for float32, in float64.
#[inline(always)]
fn both_short(a: f64) -> (u64, f64, f64) {
    let (n, quarters) = nearest(a * std::f64::consts::FRAC_2_PI);
    let r = n.mul_add(-QUARTER[1], n.mul_add(-QUARTER[0], a));
    let z = r * r;
    let sine = (r * z).mul_add(series(z, [SINE[0], SINE[1], SINE[2], SINE[3], SINE[4]]), r);
    let few = [-0.5, COSINE[0], COSINE[1], COSINE[2], COSINE[3]];
    (quarters, sine, z.mul_add(series(z, few), 1.0))
}

/// The sine after so many quarter turns.
#[inline(always)]
fn turned(quarters: u64, sine: f64, cosine: f64) -> f64 {
    let value = if quarters & 1 == 0 { sine } else { cosine };
    f64::from_bits(value.to_bits() ^ (quarters & 2) << 62)
}

#[inline(always)]
pub(crate) fn sin(a: f64) -> f64 {
    let (quarters, r, low) = reduce(a);
    let (sine, cosine) = both(r, low);
    // The sign of a zero, and digits that the square has lost.
    if a.abs() < 1e-8 { a } else { turned(quarters, sine, cosine) }
}

#[inline(always)]
pub(crate) fn cos(a: f64) -> f64 {
    let (quarters, r, low) = reduce(a);
    let (sine, cosine) = both(r, low);
    turned(quarters.wrapping_add(1), sine, cosine)
}

#[inline(always)]
pub(crate) fn tan(a: f64) -> f64 {
    let (quarters, r, low) = reduce(a);
    let (sine, cosine) = both(r, low);
    let even = quarters & 1 == 0;
    let (above, below) = if even { (sine, cosine) } else { (-cosine, sine) };
    if a.abs() < 1e-8 { a } else { above / below }
}

#[inline(always)]
pub(crate) fn sin_single(a: f32) -> f32 {
    let (quarters, sine, cosine) = both_short(f64::from(a));
    if a.abs() < 1e-5 { a } else { turned(quarters, sine, cosine) as f32 }
}

#[inline(always)]
pub(crate) fn cos_single(a: f32) -> f32 {
    let (quarters, sine, cosine) = both_short(f64::from(a));
    turned(quarters.wrapping_add(1), sine, cosine) as f32
}

#[inline(always)]
pub(crate) fn tan_single(a: f32) -> f32 {
    let (quarters, sine, cosine) = both_short(f64::from(a));
    let even = quarters & 1 == 0;
    let (above, below) = if even { (sine, cosine) } else { (-cosine, sine) };
    if a.abs() < 1e-5 { a } else { (above / below) as f32 }
}
