//! Bools and integers. Integers wrap; division by zero gives 0, as in NumPy.

use super::arithmetic::Arithmetic;
use super::cast::CastTo;
use super::constant_divisor::ConstantDivisor;
use super::integer_division::IntegerDivision;
use crate::types::element::Bool;
use crate::types::fp_flags::FpFlags;

impl Arithmetic for Bool {
    type Real = Bool;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.or(other)
    }
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        self.and(other)
    }
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        self.and(other)
    }
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        self.or(other)
    }
    #[inline(always)]
    fn absolute(self) -> Self {
        self
    }
    #[inline(always)]
    fn is_true(self) -> bool {
        self.0 != 0
    }
    #[inline(always)]
    fn equal(self, other: Self) -> bool {
        self.is_true() == other.is_true()
    }
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        !self.is_true() & other.is_true()
    }
    #[inline(always)]
    fn less_equal(self, other: Self) -> bool {
        !self.is_true() | other.is_true()
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        (self.is_true() & other.is_true()).into()
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        (self.is_true() | other.is_true()).into()
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        (self.is_true() ^ other.is_true()).into()
    }
    #[inline(always)]
    fn not(self) -> Self {
        (!self.is_true()).into()
    }
}

macro_rules! integers {
    ($($T:ty: $absolute:expr, $is_below_zero:expr;)*) => {$(
        impl Arithmetic for $T {
            type Real = $T;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn floor_divide(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.floor_quotient(other) }
            }
            #[inline(always)]
            fn floor_divide_all(values: &[Self], by: Self, out: &mut [Self]) -> bool {
                // uint64 exceeds the range of int64; smaller integers are divided as vectors of
                // floats.
                let fits = <$T>::MIN != 0 && size_of::<$T>() == 8;
                let Some(divisor) = ConstantDivisor::new(by as i64).filter(|_| fits) else { return false };
                let quotient = |value: $T| divisor.floor(value as i64) as $T;
                out.iter_mut().zip(values).for_each(|(out, &value)| *out = quotient(value));
                true
            }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_sub(self.floor_quotient(other).wrapping_mul(other)) }
            }
            #[inline(always)]
            fn fmod(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_sub(self.trunc_quotient(other).wrapping_mul(other)) }
            }
            #[inline(always)]
            fn floor_divide_flags(self, other: Self, _: Self) -> FpFlags {
                // The one overflowing quotient, MIN / -1, of signed integers only.
                let too_large = (<$T>::MIN != 0) & (self == <$T>::MIN) & (other == !0);
                FpFlags::DIVIDE.when(other == 0) | FpFlags::OVERFLOW.when(too_large)
            }
            #[inline(always)]
            fn remainder_flags(self, other: Self, _: Self) -> FpFlags {
                FpFlags::DIVIDE.when(other == 0)
            }
            #[inline(always)]
            fn sign(self) -> Self {
                // The compiler does not vectorise `signum`.
                ((self > 0) as $T).wrapping_sub($is_below_zero(self) as $T)
            }
            /// NumPy divides as floats and casts back.
            #[inline(always)]
            fn reciprocal(self) -> Self {
                (1.0 / self as f64).cast()
            }
            #[inline(always)]
            fn reciprocal_flags(self, _: Self) -> FpFlags {
                (FpFlags::DIVIDE | FpFlags::INVALID).when(self == 0)
            }
            #[inline(always)]
            fn is_true(self) -> bool {
                self != 0
            }
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                self.min(other)
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                self.max(other)
            }
            #[inline(always)]
            fn absolute(self) -> Self {
                $absolute(self)
            }
            #[inline(always)]
            fn negative(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn less_equal(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
        }
    )*};
}

// Columns: the absolute value; the test for negative values.
integers! {
    i8: i8::wrapping_abs, i8::is_negative;
    i16: i16::wrapping_abs, i16::is_negative;
    i32: i32::wrapping_abs, i32::is_negative;
    i64: i64::wrapping_abs, i64::is_negative;
    u8: std::convert::identity, |_| false;
    u16: std::convert::identity, |_| false;
    u32: std::convert::identity, |_| false;
    u64: std::convert::identity, |_| false;
}
