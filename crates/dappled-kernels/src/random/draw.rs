//! What can be drawn.

use super::Again;

/// A distribution of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Draw {
    /// Floats from 0 up to, and without, 1.
    Uniform,
    /// The same in float32.
    UniformFloat32,
    /// The normal distribution of mean 0 and variance 1.
    Normal,
    /// The exponential distribution of mean 1.
    Exponential,
    /// Integers from `low` on, `span` of them; all 2^64 of them if that is 0.
    Integers {
        /// The least.
        low: i64,
        /// How many there are.
        span: u64,
    },
}

/// The 53 upper bits, as a fraction.
#[inline(always)]
pub(super) fn uniform(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[inline(always)]
pub(super) fn uniform_f32(word: u64) -> f32 {
    (word >> 40) as f32 * (1.0 / (1u64 << 24) as f32)
}

/// Lemire's method: the upper half of a product, the few that come too often drawn again.
#[inline(always)]
pub(super) fn integers(low: i64, span: u64) -> impl Fn(u64, Again) -> i64 {
    let unfair = if span == 0 { 0 } else { span.wrapping_neg() % span };
    move |mut word, mut again| {
        if span == 0 {
            return word as i64;
        }
        loop {
            let product = u128::from(word) * u128::from(span);
            if product as u64 >= unfair {
                return low.wrapping_add((product >> 64) as i64);
            }
            word = again.word();
        }
    }
}
