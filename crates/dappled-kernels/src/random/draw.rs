//! What can be drawn.

use super::Again;

/// A distribution of random numbers, and for floats what becomes of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Draw {
    /// Floats from 0 up to, and without, 1.
    Uniform(Line),
    /// The same in float32.
    UniformFloat32,
    /// The normal distribution of mean 0 and variance 1.
    Normal(Line),
    /// The exponential distribution of mean 1.
    Exponential(Line),
    /// Integers from `low` on, `span` of them; all 2^64 of them if that is 0.
    Integers {
        /// The least.
        low: i64,
        /// How many there are.
        span: u64,
    },
}

/// A straight line: what each draw becomes while it is at hand.
///
/// ```
/// assert_eq!(dappled_kernels::Line::new(1.0, 2.0).at(3.0), 7.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    // As bits, for ranks compare what they draw.
    offset: u64,
    slope: u64,
}

impl Line {
    /// The line that leaves draws as they are.
    pub const ITSELF: Self = Self { offset: 0, slope: 1.0_f64.to_bits() };

    /// The line of this slope through `offset` at 0.
    pub fn new(offset: f64, slope: f64) -> Self {
        Self { offset: offset.to_bits(), slope: slope.to_bits() }
    }

    /// Where the line is at `x`.
    #[inline(always)]
    pub fn at(self, x: f64) -> f64 {
        f64::from_bits(self.offset) + f64::from_bits(self.slope) * x
    }
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
