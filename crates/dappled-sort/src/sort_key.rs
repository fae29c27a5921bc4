//! Sort keys: order-preserving, invertible 64-bit encodings of values.

use crate::numpy_order::NumpyOrder;

/// A value with an invertible 64-bit key in sort order: NaN last, -0.0 before 0.0.
pub trait SortKey: NumpyOrder {
    /// Returns the key.
    fn to_sort_key(self) -> u64;

    /// Returns the value of a key.
    fn from_sort_key(exact: u64) -> Self;

    /// Maps the value monotonically to a float; NaN stays NaN.
    #[inline(always)]
    fn to_f64(self) -> f64 {
        key_to_f64(self)
    }
}

/// Maps the key monotonically to a float; for floats roughly the logarithm.
#[inline(always)]
pub(crate) fn key_to_f64<T: SortKey>(value: T) -> f64 {
    (value.to_sort_key() ^ SIGN_BIT) as i64 as f64
}

const SIGN_BIT: u64 = 1 << 63;
/// Number of NaNs with the sign bit set. Without this offset they would be the smallest keys; with
/// it they wrap around behind all others.
const NEGATIVE_NANS: u64 = (1 << 52) - 1;

impl SortKey for f64 {
    #[inline(always)]
    fn to_sort_key(self) -> u64 {
        let bits = self.to_bits();
        (bits ^ ((bits as i64 >> 63) as u64 | SIGN_BIT)).wrapping_sub(NEGATIVE_NANS)
    }

    #[inline(always)]
    fn from_sort_key(exact: u64) -> Self {
        let flipped = exact.wrapping_add(NEGATIVE_NANS);
        Self::from_bits(flipped ^ ((!flipped as i64 >> 63) as u64 | SIGN_BIT))
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

impl SortKey for i64 {
    #[inline(always)]
    fn to_sort_key(self) -> u64 {
        self as u64 ^ SIGN_BIT
    }

    #[inline(always)]
    fn from_sort_key(exact: u64) -> Self {
        (exact ^ SIGN_BIT) as i64
    }
}

impl SortKey for u64 {
    #[inline(always)]
    fn to_sort_key(self) -> u64 {
        self
    }

    #[inline(always)]
    fn from_sort_key(exact: u64) -> Self {
        exact
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_is_kept_and_nan_is_last() {
        let nan = f64::NAN.to_bits();
        let floats = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 5e-324, 1.5, f64::INFINITY];
        let nans = [nan, nan | 1, nan | SIGN_BIT, u64::MAX].map(f64::from_bits);
        let numbers: Vec<u64> =
            floats.iter().chain(&nans).map(|value| value.to_sort_key()).collect();
        assert!(numbers[..floats.len()].is_sorted_by(|one, next| one < next));
        assert!(numbers[floats.len()..].iter().all(|&number| number > f64::INFINITY.to_sort_key()));
        for value in floats.iter().chain(&nans) {
            assert_eq!(f64::from_sort_key(value.to_sort_key()).to_bits(), value.to_bits());
        }
        for bits in [0, 1, SIGN_BIT, u64::MAX] {
            assert_eq!(u64::from_sort_key(bits.to_sort_key()), bits);
            assert_eq!(i64::from_sort_key((bits as i64).to_sort_key()), bits as i64);
        }
    }
}
