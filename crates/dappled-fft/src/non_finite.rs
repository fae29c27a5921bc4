//! Values that are not finite, from which floating-point flags of a transform are derived.

use rayon::prelude::*;

use crate::config::UNPACK_CHUNK_ELEMENTS;
use crate::plan_cache::Float;

/// The kinds of values that are not finite in a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NonFinite {
    /// Whether a value is NaN.
    pub nan: bool,
    /// Whether a value is infinite.
    pub infinite: bool,
}

impl NonFinite {
    /// Finds the kinds of values that are not finite, on all threads.
    ///
    /// ```
    /// use dappled_fft::NonFinite;
    /// assert_eq!(NonFinite::find(&[1.0, 2.0]), NonFinite::default());
    /// assert_eq!(NonFinite::find(&[1.0, f64::INFINITY]), NonFinite { nan: false, infinite: true });
    /// ```
    pub fn find<T: Float>(values: &[T]) -> Self {
        let chunks = values.par_chunks(UNPACK_CHUNK_ELEMENTS);
        chunks.map(Self::find_in_chunk).reduce(Self::default, Self::union)
    }

    // `x - x` is zero for finite values only, and NaN is the only value that differs from itself.
    #[allow(clippy::eq_op)]
    fn find_in_chunk<T: Float>(values: &[T]) -> Self {
        // The sum has no branch, so the loop is vectorised.
        let sum = values.iter().fold(T::zero(), |sum, &value| sum + (value - value));
        if sum == T::zero() {
            return Self::default();
        }
        let is_nan = |value: T| value != value;
        let is_infinite = |value: T| !is_nan(value) && is_nan(value - value);
        Self {
            nan: values.iter().any(|&value| is_nan(value)),
            infinite: values.iter().any(|&value| is_infinite(value)),
        }
    }

    /// The kinds that occur in either of two slices.
    pub fn union(self, other: Self) -> Self {
        Self { nan: self.nan || other.nan, infinite: self.infinite || other.infinite }
    }
}
