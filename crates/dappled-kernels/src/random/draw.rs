//! The distributions of random numbers.

use super::ExtraWords;

/// A distribution, and for floats an affine map of its draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Draw {
    /// Uniform float64 in the interval [0, 1).
    Uniform(AffineMap),
    /// Uniform float32 in the interval [0, 1).
    UniformFloat32,
    /// The standard normal distribution.
    Normal(AffineMap),
    /// The exponential distribution of mean 1.
    Exponential(AffineMap),
    /// Uniform integers from `low` on, of which there are `span`, or 2^64 if `span` is 0.
    Integers {
        /// The smallest integer.
        low: i64,
        /// The number of integers.
        span: u64,
    },
}

/// An affine map replaces each draw `x` by `offset + slope * x`.
///
/// ```
/// assert_eq!(dappled_kernels::AffineMap::new(1.0, 2.0).apply(3.0), 7.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AffineMap {
    // Stored as bits, since ranks compare their draws for equality.
    offset: u64,
    slope: u64,
}

impl AffineMap {
    /// The identity map.
    pub const IDENTITY: Self = Self { offset: 0, slope: 1.0_f64.to_bits() };

    /// The map `offset + slope * x`.
    pub fn new(offset: f64, slope: f64) -> Self {
        Self { offset: offset.to_bits(), slope: slope.to_bits() }
    }

    /// The value of the map at `x`.
    #[inline(always)]
    pub fn apply(self, x: f64) -> f64 {
        f64::from_bits(self.offset) + f64::from_bits(self.slope) * x
    }
}

/// The 53 upper bits of a word as a fraction.
#[inline(always)]
pub(crate) fn uniform(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[inline(always)]
pub(crate) fn uniform_f32(word: u64) -> f32 {
    (word >> 40) as f32 * (1.0 / (1u64 << 24) as f32)
}

/// Lemire's method: the upper half of a product, with rejection of the few overrepresented words.
#[inline(always)]
pub(crate) fn integers(low: i64, span: u64) -> impl Fn(u64, ExtraWords) -> i64 {
    let rejected_below = if span == 0 { 0 } else { span.wrapping_neg() % span };
    move |mut word, mut extra| {
        if span == 0 {
            return word as i64;
        }
        loop {
            let product = u128::from(word) * u128::from(span);
            if product as u64 >= rejected_below {
                return low.wrapping_add((product >> 64) as i64);
            }
            word = extra.word();
        }
    }
}
