//! Vectorisable `exp`, `log`, `sin`, `cos`, `tan`, `tanh`, `power` and related functions.
//!
//! They are branch-free, so that the compiler vectorises loops over them. Every element goes
//! through the same operations, so its bits do not depend on its neighbours. Products and sums are
//! fused where written (`mul_add`): results are the same on every CPU, but slow on those without
//! the instruction. float32 is computed in float64 with shorter polynomials. Floating-point flags
//! are derived from values; those raised on the way are ignored.

mod exponential;
mod logarithm;
mod power;
mod trigonometric;

pub(crate) use logarithm::is_special_log;
pub(crate) use power::is_special_power;
pub(crate) use trigonometric::is_large_angle;

/// The functions of float64.
pub(crate) mod double {
    pub(crate) use super::exponential::{exp, exp2, tanh};
    pub(crate) use super::logarithm::log;
    pub(crate) use super::power::power;
    pub(crate) use super::trigonometric::{cos, sin, tan};

    // The standard library's functions, which are as fast for float64.
    #[inline(always)]
    pub(crate) fn expm1(a: f64) -> f64 {
        a.exp_m1()
    }
    #[inline(always)]
    pub(crate) fn log2(a: f64) -> f64 {
        a.log2()
    }
    #[inline(always)]
    pub(crate) fn log10(a: f64) -> f64 {
        a.log10()
    }
}

/// The functions of float32.
pub(crate) mod single {
    pub(crate) use super::exponential::{
        exp_single as exp, exp2_single as exp2, expm1_single as expm1, tanh_single as tanh,
    };
    pub(crate) use super::logarithm::{
        log_single as log, log2_single as log2, log10_single as log10,
    };
    pub(crate) use super::power::power_single as power;
    pub(crate) use super::trigonometric::{
        cos_single as cos, sin_single as sin, tan_single as tan,
    };
}

/// Added to a number below 2**51, leaves the nearest integer in the low bits.
const ROUNDING_SHIFT: f64 = 6755399441055744.0;

/// The nearest integer, as a float and as the low bits of an integer.
#[inline(always)]
fn nearest(a: f64) -> (f64, u64) {
    let shifted = a + ROUNDING_SHIFT;
    (shifted - ROUNDING_SHIFT, shifted.to_bits().wrapping_sub(ROUNDING_SHIFT.to_bits()))
}

/// 2**n, for integers n between -1022 and 1023.
#[inline(always)]
fn power_of_two(n: u64) -> f64 {
    f64::from_bits(n.wrapping_add(1023) << 52)
}

/// `c0 + c1 a + c2 a**2 + …`, evaluated in four independent chains to hide latency.
#[inline(always)]
fn polynomial<const N: usize>(a: f64, coefficients: [f64; N]) -> f64 {
    let square = a * a;
    let fourth = square * square;
    let chain = |first: usize| {
        let mut at = first + (N - 1 - first) / 4 * 4;
        let mut sum = coefficients[at];
        while at > first {
            at -= 4;
            sum = sum.mul_add(fourth, coefficients[at]);
        }
        sum
    };
    let (low, high) = (chain(1).mul_add(a, chain(0)), chain(3).mul_add(a, chain(2)));
    high.mul_add(square, low)
}
