//! float16: computed in float32 and rounded after each operation, as NumPy does.

use half::f16;

use super::arithmetic::Arithmetic;
use crate::loops::fp::exceptions;
use crate::types::fp_flags::FpFlags;

macro_rules! through_single {
    ($($op:ident),*) => {$(
        #[inline(always)]
        fn $op(self, other: Self) -> Self {
            f16::from_f32(Arithmetic::$op(self.to_f32(), other.to_f32()))
        }
    )*};
}

macro_rules! through_single_alone {
    ($($op:ident),*) => {$(
        #[inline(always)]
        fn $op(self) -> Self {
            f16::from_f32(Arithmetic::$op(self.to_f32()))
        }
    )*};
}

impl Arithmetic for f16 {
    type Real = f16;

    through_single!(add, subtract, multiply, divide, floor_divide, remainder, fmod);
    through_single_alone!(reciprocal, floor, ceil, trunc, rint, sqrt, sign);

    // Of equal values the first is taken: NumPy has no vector instruction for float16.
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        select(self, other, self.is_nan() | self.less_equal(other))
    }
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        select(self, other, self.is_nan() | other.less_equal(self))
    }

    #[inline(always)]
    fn absolute(self) -> Self {
        f16::from_bits(self.to_bits() & 0x7fff)
    }
    #[inline(always)]
    fn negative(self) -> Self {
        f16::from_bits(self.to_bits() ^ 0x8000)
    }
    #[inline(always)]
    fn fmin(self, other: Self) -> Self {
        select(self, other, other.is_nan() | self.less_equal(other))
    }
    #[inline(always)]
    fn fmax(self, other: Self) -> Self {
        select(self, other, other.is_nan() | other.less_equal(self))
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.to_bits() & 0x7fff > 0x7c00
    }
    #[inline(always)]
    fn is_infinite(self) -> bool {
        self.to_bits() & 0x7fff == 0x7c00
    }
    #[inline(always)]
    fn is_true(self) -> bool {
        self.to_bits() & 0x7fff != 0
    }
    #[inline(always)]
    fn floor_divide_flags(self, other: Self, out: Self) -> FpFlags {
        exceptions::floor_divide_flags(self.to_f64(), other.to_f64(), out.to_f64())
    }
    #[inline(always)]
    fn remainder_flags(self, other: Self, out: Self) -> FpFlags {
        FpFlags::INVALID.when(out.is_nan() & !self.is_nan() & !other.is_nan())
    }
    #[inline(always)]
    fn equal(self, other: Self) -> bool {
        neither_is_nan(self, other) & (sort_key(self) == sort_key(other))
    }
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        neither_is_nan(self, other) & (sort_key(self) < sort_key(other))
    }
    #[inline(always)]
    fn less_equal(self, other: Self) -> bool {
        neither_is_nan(self, other) & (sort_key(self) <= sort_key(other))
    }
}

/// An integer that orders float16 values, with both zeros at 0, which avoids conversions to
/// float32.
#[inline(always)]
fn sort_key(half: f16) -> i16 {
    let size = (half.to_bits() & 0x7fff) as i16;
    if half.to_bits() > 0x7fff { size.wrapping_neg() } else { size }
}

#[inline(always)]
fn neither_is_nan(a: f16, b: f16) -> bool {
    !Arithmetic::is_nan(a) & !Arithmetic::is_nan(b)
}

/// The first value if `first`, else the second, as bits, which vectorises.
#[inline(always)]
fn select(a: f16, b: f16, first: bool) -> f16 {
    f16::from_bits(if first { a.to_bits() } else { b.to_bits() })
}

/// Rounds once, to nearest, ties to even.
///
/// Going via float32 would round twice; the crate `half` does so, or drops the low bits, depending
/// on the CPU.
pub(crate) fn float16_from_float64(value: f64) -> f16 {
    let single = value as f32;
    let bits = single.to_bits();
    // Rounding to odd preserves for the second rounding that digits were cut off.
    let exact = f64::from(single) == value || value.is_nan() || single.is_infinite();
    let toward_zero = if f64::from(single).abs() > value.abs() { bits - 1 } else { bits };
    f16::from_f32(f32::from_bits(if exact { bits } else { toward_zero | 1 }))
}
