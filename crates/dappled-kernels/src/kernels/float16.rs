//! float16: computed in float32 and rounded after each operation, as NumPy does.

use half::f16;

use super::arithmetic::Arithmetic;
use super::signals;
use crate::Flags;

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

    // Of two equal ones the first: NumPy has no vector instruction here, unlike for float32.
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        one_of(self, other, self.is_nan() | self.less_equal(other))
    }
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        one_of(self, other, self.is_nan() | other.less_equal(self))
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
        one_of(self, other, other.is_nan() | self.less_equal(other))
    }
    #[inline(always)]
    fn fmax(self, other: Self) -> Self {
        one_of(self, other, other.is_nan() | other.less_equal(self))
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
    fn floor_divide_raises(self, other: Self, out: Self) -> Flags {
        signals::floor_divide(self.to_f64(), other.to_f64(), out.to_f64())
    }
    #[inline(always)]
    fn remainder_raises(self, other: Self, out: Self) -> Flags {
        Flags::INVALID.when(out.is_nan() & !self.is_nan() & !other.is_nan())
    }
    #[inline(always)]
    fn equal(self, other: Self) -> bool {
        are_numbers(self, other) & (place(self) == place(other))
    }
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        are_numbers(self, other) & (place(self) < place(other))
    }
    #[inline(always)]
    fn less_equal(self, other: Self) -> bool {
        are_numbers(self, other) & (place(self) <= place(other))
    }
}

/// Its place among all halves, both zeros at 0: compared so, none has to be made a float32 first.
#[inline(always)]
fn place(half: f16) -> i16 {
    let size = (half.to_bits() & 0x7fff) as i16;
    if half.to_bits() > 0x7fff { size.wrapping_neg() } else { size }
}

#[inline(always)]
fn are_numbers(a: f16, b: f16) -> bool {
    !Arithmetic::is_nan(a) & !Arithmetic::is_nan(b)
}

/// The first if it is so, else the second: as bits, which are a vector's.
#[inline(always)]
fn one_of(a: f16, b: f16, first: bool) -> f16 {
    f16::from_bits(if first { a.to_bits() } else { b.to_bits() })
}

/// Rounds once, to the nearest, ties to even: through float32 it would be rounded twice, and the
/// crate `half` does that, or drops the low bits, as its CPU allows.
pub(super) fn half_of_double(value: f64) -> f16 {
    let single = value as f32;
    let bits = single.to_bits();
    // Rounding to odd keeps what the second rounding has to know: that something was cut off.
    let exact = f64::from(single) == value || value.is_nan() || single.is_infinite();
    let toward_zero = if f64::from(single).abs() > value.abs() { bits - 1 } else { bits };
    f16::from_f32(f32::from_bits(if exact { bits } else { toward_zero | 1 }))
}
