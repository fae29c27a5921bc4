//! NumPy's sort order: integer keys, and comparison of complex numbers.

use std::cmp::Ordering;

use half::f16;
use num_complex::Complex;

/// A value with a key in NumPy's sort order: NaN last, -0.0 equal to 0.0. `PartialOrd` agrees with
/// the keys of numbers.
pub trait NumpyOrder: Copy + PartialOrd + Send + Sync {
    /// Returns the key in 64 bits; the key of a narrow type uses the lowest bits.
    fn key(self) -> u64;

    /// Returns whether the value is NaN.
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
}

/// A value that a merge can compare.
pub trait MergeOrder: Copy + Send + Sync {
    /// Compares two values in NumPy's sort order.
    fn compare(self, other: Self) -> Ordering;

    /// Returns whether the value is before another; neither [is last](Self::is_last).
    #[inline(always)]
    fn is_less(self, other: Self) -> bool {
        self.compare(other) == Ordering::Less
    }

    /// Returns whether the value is equal to all others that are last, and after the rest.
    #[inline(always)]
    fn is_last(self) -> bool {
        false
    }
}

impl<T: NumpyOrder> MergeOrder for T {
    #[inline(always)]
    fn compare(self, other: Self) -> Ordering {
        self.key().cmp(&other.key())
    }

    #[inline(always)]
    fn is_less(self, other: Self) -> bool {
        self < other
    }

    #[inline(always)]
    fn is_last(self) -> bool {
        self.is_nan()
    }
}

/// Complex numbers are in lexicographic order.
///
/// Those with a NaN imaginary part follow the others, those with a NaN real part follow both.
impl<T: NumpyOrder> MergeOrder for Complex<T> {
    #[inline(always)]
    fn compare(self, other: Self) -> Ordering {
        let key =
            |value: Self| (value.re.is_nan(), value.im.is_nan(), value.re.key(), value.im.key());
        key(self).cmp(&key(other))
    }
}

/// A value with an index, in the order of the value.
#[derive(Clone, Copy, Debug)]
pub struct Indexed<T> {
    /// The value.
    pub value: T,
    /// The index.
    pub index: i64,
}

impl<T: MergeOrder> MergeOrder for Indexed<T> {
    #[inline(always)]
    fn compare(self, other: Self) -> Ordering {
        self.value.compare(other.value)
    }

    #[inline(always)]
    fn is_less(self, other: Self) -> bool {
        self.value.is_less(other.value)
    }

    #[inline(always)]
    fn is_last(self) -> bool {
        self.value.is_last()
    }
}

/// Converts the bits of a float to an ascending key; NaN is the largest.
#[inline(always)]
fn ascending_bits(bits: i64, is_nan: bool, is_zero: bool) -> u64 {
    let flipped = (bits ^ (((bits >> 63) as u64) >> 1) as i64) as u64 ^ (1 << 63);
    if is_nan {
        u64::MAX
    } else if is_zero {
        1 << 63
    } else {
        flipped
    }
}

impl NumpyOrder for f64 {
    #[inline(always)]
    fn key(self) -> u64 {
        ascending_bits(self.to_bits() as i64, self.is_nan(), self == 0.0)
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f64::is_nan(self)
    }
}

impl NumpyOrder for f32 {
    #[inline(always)]
    fn key(self) -> u64 {
        ascending_bits((self.to_bits() as i64) << 32, self.is_nan(), self == 0.0) >> 32
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f32::is_nan(self)
    }
}

impl NumpyOrder for f16 {
    #[inline(always)]
    fn key(self) -> u64 {
        let is_zero = self == f16::ZERO;
        ascending_bits((self.to_bits() as i64) << 48, self.is_nan(), is_zero) >> 48
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        f16::is_nan(self)
    }
}

impl NumpyOrder for i64 {
    #[inline(always)]
    fn key(self) -> u64 {
        self as u64 ^ (1 << 63)
    }
}

impl NumpyOrder for u64 {
    #[inline(always)]
    fn key(self) -> u64 {
        self
    }
}

impl NumpyOrder for i32 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self as u32 ^ (1 << 31))
    }
}

impl NumpyOrder for u32 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self)
    }
}

impl NumpyOrder for i16 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self as u16 ^ (1 << 15))
    }
}

impl NumpyOrder for u16 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self)
    }
}

impl NumpyOrder for i8 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self as u8 ^ (1 << 7))
    }
}

impl NumpyOrder for u8 {
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complex_numbers_with_nan_are_last() {
        let nan = f64::NAN;
        let parts = [(1.0, 2.0), (1.0, 3.0), (2.0, -1.0), (1.0, nan), (2.0, nan), (nan, 0.0)];
        let ordered: Vec<_> =
            parts.into_iter().chain([(nan, nan)]).map(|(re, im)| Complex { re, im }).collect();
        for (at, &one) in ordered.iter().enumerate() {
            for (other_at, &other) in ordered.iter().enumerate() {
                assert_eq!(one.compare(other), at.cmp(&other_at), "{one} {other}");
            }
        }
        assert_eq!(Complex::new(0.0, nan).compare(Complex::new(-0.0, -nan)), Ordering::Equal);
    }
}
