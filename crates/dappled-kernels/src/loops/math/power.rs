//! `power`: exp(exponent log(base)), with the logarithm in double-double precision.

use super::exponential::{exp_for_single, exp_of_sum};
use super::logarithm::{ODD, is_special_log, log_for_single, split_exponent};
use super::polynomial;

/// 2/3 as a sum of two floats.
const TWO_THIRDS: [f64; 2] = [2.0 / 3.0, 3.700743415417188e-17];

/// ln 2 as a sum of two floats, the first truncated so that its multiples are exact.
const LN_2_SHORT: [f64; 2] = [f64::from_bits(0x3fe6_2e42_fefa_3800), 5.497923018708371e-14];

/// True for zeros, infinities, negative bases and huge exponents, which the C library computes.
#[inline(always)]
pub(crate) fn is_special_power(base: f64, exponent: f64) -> bool {
    is_special_log(base) | !(-1e19..1e19).contains(&exponent)
}

/// a + b and its rounding error, for |a| >= |b|.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// a b and its rounding error.
#[inline(always)]
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// log(a) as a sum of two floats.
#[inline(always)]
fn log_double_double(a: f64) -> (f64, f64) {
    let (k, m) = split_exponent(a);
    let (f, g) = (m - 1.0, m + 1.0);
    let g_low = m - (g - 1.0);
    let s = f / g;
    let s_low = (s.mul_add(-g, f) - s * g_low) / g;
    let (z, z_low) = two_product(s, s);
    let z_low = (2.0 * s).mul_add(s_low, z_low);
    // s z (2/3 + z (2/5 + …)): the first product in double-double, the others are small.
    let rest =
        z * polynomial(z, [ODD[1], ODD[2], ODD[3], ODD[4], ODD[5], ODD[6], ODD[7], ODD[8], ODD[9]]);
    let (c, c_low) = two_sum(TWO_THIRDS[0], rest);
    let c_low = c_low + TWO_THIRDS[1];
    let (w, w_low) = two_product(z, c);
    let w_low = z.mul_add(c_low, z_low.mul_add(c, w_low));
    let (t, t_low) = two_product(s, w);
    let t_low = s.mul_add(w_low, s_low.mul_add(w, t_low));
    let (high, low) = two_sum(2.0 * s, t);
    let low = low + 2.0f64.mul_add(s_low, t_low);
    let (high, low) = two_sum(high, low);
    let (sum, sum_low) = two_sum_unordered(k * LN_2_SHORT[0], high);
    (sum, sum_low + k.mul_add(LN_2_SHORT[1], low))
}

/// a + b and its rounding error, for any order of magnitude.
#[inline(always)]
fn two_sum_unordered(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let took = sum - a;
    (sum, (a - (sum - took)) + (b - took))
}

#[inline(always)]
pub(crate) fn power(base: f64, exponent: f64) -> f64 {
    let (log, log_low) = log_double_double(base);
    let (log, log_low) = two_sum(log, log_low);
    let (product, low) = two_product(exponent, log);
    let low = exponent.mul_add(log_low, low);
    exp_of_sum(product, if product.abs() < 1e4 { low } else { 0.0 })
}

#[inline(always)]
pub(crate) fn power_single(base: f32, exponent: f32) -> f32 {
    let some = [ODD[0], ODD[1], ODD[2], ODD[3], ODD[4], ODD[5], ODD[6]];
    exp_for_single(f64::from(exponent) * log_for_single(f64::from(base), some)) as f32
}
