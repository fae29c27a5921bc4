//! `power`: exp(exponent log(base)), the logarithm with twice the digits.

use super::exponential::{exp_of_sum, exp_short};
use super::logarithm::{ODD, is_rare_log, log_short, split};
use super::series;

/// 2/3 in two parts.
const TWO_THIRDS: [f64; 2] = [2.0 / 3.0, 3.700743415417188e-17];

/// ln 2 in two parts, the first so short that a multiple of it is exact.
const LN_2_SHORT: [f64; 2] = [f64::from_bits(0x3fe6_2e42_fefa_3800), 5.497923018708371e-14];

/// Zeros, infinities, negative bases and exponents that no number near 1 needs: left to the C
/// library.
#[inline(always)]
pub(crate) fn is_rare_power(base: f64, exponent: f64) -> bool {
    is_rare_log(base) | !(-1e19..1e19).contains(&exponent)
}

/// a + b and what that rounds off, for |a| >= |b|.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// a b and what that rounds off.
#[inline(always)]
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// log(a) in two parts.
#[inline(always)]
fn long_log(a: f64) -> (f64, f64) {
    let (k, m) = split(a);
    let (f, g) = (m - 1.0, m + 1.0);
    let g_low = m - (g - 1.0);
    let s = f / g;
    let s_low = (s.mul_add(-g, f) - s * g_low) / g;
    let (z, z_low) = two_product(s, s);
    let z_low = (2.0 * s).mul_add(s_low, z_low);
    // s z (2/3 + z (2/5 + …)): the first product in two parts, the others are small.
    let rest =
        z * series(z, [ODD[1], ODD[2], ODD[3], ODD[4], ODD[5], ODD[6], ODD[7], ODD[8], ODD[9]]);
    let (c, c_low) = two_sum(TWO_THIRDS[0], rest);
    let c_low = c_low + TWO_THIRDS[1];
    let (w, w_low) = two_product(z, c);
    let w_low = z.mul_add(c_low, z_low.mul_add(c, w_low));
    let (t, t_low) = two_product(s, w);
    let t_low = s.mul_add(w_low, s_low.mul_add(w, t_low));
    let (high, low) = two_sum(2.0 * s, t);
    let low = low + 2.0f64.mul_add(s_low, t_low);
    let (high, low) = two_sum(high, low);
    let (sum, sum_low) = wide_sum(k * LN_2_SHORT[0], high);
    (sum, sum_low + k.mul_add(LN_2_SHORT[1], low))
}

/// As `two_sum`, of numbers in no order.
#[inline(always)]
fn wide_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let took = sum - a;
    (sum, (a - (sum - took)) + (b - took))
}

#[inline(always)]
pub(crate) fn power(base: f64, exponent: f64) -> f64 {
    let (log, log_low) = long_log(base);
    let (log, log_low) = two_sum(log, log_low);
    let (product, low) = two_product(exponent, log);
    let low = exponent.mul_add(log_low, low);
    exp_of_sum(product, if product.abs() < 1e4 { low } else { 0.0 })
}

#[inline(always)]
pub(crate) fn power_single(base: f32, exponent: f32) -> f32 {
    let some = [ODD[0], ODD[1], ODD[2], ODD[3], ODD[4], ODD[5], ODD[6]];
    exp_short(f64::from(exponent) * log_short(f64::from(base), some)) as f32
}
