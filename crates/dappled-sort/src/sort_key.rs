//! Sort keys: order-preserving, invertible 64-bit encodings of values.

use half::f16;

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

/// Implements the keys of floats: ascending bits in the upper bits of a word.
///
/// NaNs with the sign bit set would have the smallest keys. Subtracting their number makes them
/// wrap around behind all others.
macro_rules! float_sort_keys {
    ($($float:ty: $bits:ty, $signed:ty, $mantissa_bits:literal;)*) => {$(
        impl SortKey for $float {
            #[inline(always)]
            fn to_sort_key(self) -> u64 {
                let bits = self.to_bits();
                let sign = (1 as $bits).rotate_right(1);
                let flip = (bits as $signed >> (<$bits>::BITS - 1)) as $bits | sign;
                let key = (bits ^ flip).wrapping_sub((1 << $mantissa_bits) - 1);
                (key as u64) << (u64::BITS - <$bits>::BITS)
            }

            #[inline(always)]
            fn from_sort_key(exact: u64) -> Self {
                let key = (exact >> (u64::BITS - <$bits>::BITS)) as $bits;
                let flipped = key.wrapping_add((1 << $mantissa_bits) - 1);
                let sign = (1 as $bits).rotate_right(1);
                let flip = (!flipped as $signed >> (<$bits>::BITS - 1)) as $bits | sign;
                Self::from_bits(flipped ^ flip)
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
        }
    )*};
}

float_sort_keys! {
    f64: u64, i64, 52;
    f32: u32, i32, 23;
    f16: u16, i16, 10;
}

/// Implements the keys of integers: the key of the order, in the upper bits of a word.
macro_rules! integer_sort_keys {
    ($($integer:ty: $flip:expr;)*) => {$(
        impl SortKey for $integer {
            #[inline(always)]
            fn to_sort_key(self) -> u64 {
                self.key() << (u64::BITS - <$integer>::BITS)
            }

            #[inline(always)]
            fn from_sort_key(exact: u64) -> Self {
                (exact >> (u64::BITS - <$integer>::BITS)) as $integer ^ $flip
            }
        }
    )*};
}

integer_sort_keys! {
    i8: i8::MIN;
    i16: i16::MIN;
    i32: i32::MIN;
    i64: i64::MIN;
    u8: 0;
    u16: 0;
    u32: 0;
    u64: 0;
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

    #[test]
    fn keys_of_narrow_types_are_in_order() {
        let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        for &value in &all {
            assert_eq!(f16::from_sort_key(value.to_sort_key()).to_bits(), value.to_bits());
        }
        let mut sorted = all.clone();
        sorted.sort_unstable_by_key(|value| value.to_sort_key());
        assert!(sorted.is_sorted_by_key(|value| value.key()));
        for bits in [0, 1, 1 << 31, 0x7fc0_0000, 0xffc0_0001, 0x3f80_0000, u32::MAX] {
            let value = f32::from_bits(bits);
            assert_eq!(f32::from_sort_key(value.to_sort_key()).to_bits(), bits);
            assert_eq!(i32::from_sort_key((bits as i32).to_sort_key()), bits as i32);
        }
        for value in i8::MIN..=i8::MAX {
            assert_eq!(i8::from_sort_key(value.to_sort_key()), value);
        }
        assert!((i16::MIN..=i16::MAX).is_sorted_by_key(|value| value.to_sort_key()));
    }
}
