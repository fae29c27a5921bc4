//! Values as numbers from which they can be made again.

use crate::order::Key;

/// A value as a number that tells all its bits, in the order of values: NaN last, -0.0 before 0.0.
pub trait Exact: Key {
    /// The number.
    fn exact(self) -> u64;

    /// The value whose number it is.
    fn from_exact(exact: u64) -> Self;

    /// About where it is on a line, in the same order; a NaN is nowhere.
    #[inline(always)]
    fn along(self) -> f64 {
        along_bits(self)
    }
}

/// The same by the number: of floats, about the logarithm.
#[inline(always)]
pub(crate) fn along_bits<T: Exact>(value: T) -> f64 {
    (value.exact() ^ SIGN) as i64 as f64
}

const SIGN: u64 = 1 << 63;
/// How many NaNs have a sign: without it the others begin at 0, and these are counted on after the last.
const SIGNED_NANS: u64 = (1 << 52) - 1;

impl Exact for f64 {
    #[inline(always)]
    fn exact(self) -> u64 {
        let bits = self.to_bits();
        (bits ^ ((bits as i64 >> 63) as u64 | SIGN)).wrapping_sub(SIGNED_NANS)
    }

    #[inline(always)]
    fn from_exact(exact: u64) -> Self {
        let flipped = exact.wrapping_add(SIGNED_NANS);
        Self::from_bits(flipped ^ ((!flipped as i64 >> 63) as u64 | SIGN))
    }

    #[inline(always)]
    fn along(self) -> f64 {
        self
    }
}

impl Exact for i64 {
    #[inline(always)]
    fn exact(self) -> u64 {
        self as u64 ^ SIGN
    }

    #[inline(always)]
    fn from_exact(exact: u64) -> Self {
        (exact ^ SIGN) as i64
    }
}

impl Exact for u64 {
    #[inline(always)]
    fn exact(self) -> u64 {
        self
    }

    #[inline(always)]
    fn from_exact(exact: u64) -> Self {
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
        let nans = [nan, nan | 1, nan | SIGN, u64::MAX].map(f64::from_bits);
        let numbers: Vec<u64> = floats.iter().chain(&nans).map(|value| value.exact()).collect();
        assert!(numbers[..floats.len()].is_sorted_by(|one, next| one < next));
        assert!(numbers[floats.len()..].iter().all(|&number| number > f64::INFINITY.exact()));
        for value in floats.iter().chain(&nans) {
            assert_eq!(f64::from_exact(value.exact()).to_bits(), value.to_bits());
        }
        for bits in [0, 1, SIGN, u64::MAX] {
            assert_eq!(u64::from_exact(bits.exact()), bits);
            assert_eq!(i64::from_exact((bits as i64).exact()), bits as i64);
        }
    }
}
