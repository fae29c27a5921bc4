//! float32 and float64. Each operation rounds, as in NumPy: no contraction.
//!
//! Floor division and remainder follow `npy_divmod`, which follows Python's `float.__divmod__`.

use super::arithmetic::Arithmetic;
use crate::loops::fp::exceptions;
use crate::types::fp_flags::FpFlags;

macro_rules! floats {
    ($($T:ty),*) => {$(
        impl Arithmetic for $T {
            type Real = $T;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn floor_divide(self, other: Self) -> Self {
                let rest = self % other;
                // Division by zero: the result of the division itself.
                if other == 0.0 {
                    return self / other;
                }
                let wrong_side = (rest != 0.0) & ((other < 0.0) != (rest < 0.0));
                let quotient = (self - rest) / other - if wrong_side { 1.0 } else { 0.0 };
                if quotient == 0.0 {
                    return Self::copysign(0.0, self / other);
                }
                // The quotient is integral up to rounding: takes the nearest integer.
                let floor = quotient.floor();
                if quotient - floor > 0.5 { floor + 1.0 } else { floor }
            }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                let rest = self % other;
                if rest.is_nan() {
                    return rest;
                }
                match rest == 0.0 {
                    true => Self::copysign(rest, other),
                    false if (other < 0.0) != (rest < 0.0) => rest + other,
                    false => rest,
                }
            }
            #[inline(always)]
            fn fmod(self, other: Self) -> Self {
                self % other
            }
            #[inline(always)]
            fn floor_divide_flags(self, other: Self, out: Self) -> FpFlags {
                let (a, b, quotient) = (f64::from(self), f64::from(other), f64::from(out));
                // Intermediate results of NumPy's formula: infinity - infinity, and the sign of 0.
                let minus_itself = out.is_infinite() & (b != 0.0) & a.is_finite();
                let ratio = self / other;
                let tiny = (out == 0.0) & (ratio.abs() < <$T>::MIN_POSITIVE) & (ratio * other != self);
                exceptions::floor_divide_flags(a, b, quotient)
                    | FpFlags::INVALID.when(minus_itself)
                    | FpFlags::UNDERFLOW.when(tiny & b.is_finite())
            }
            #[inline(always)]
            fn is_flagless_quotient(self) -> bool {
                (self.abs() <= <$T>::MAX) & (self != 0.0)
            }
            #[inline(always)]
            fn is_flagless_remainder(self) -> bool {
                !self.is_nan()
            }
            #[inline(always)]
            fn remainder_flags(self, other: Self, out: Self) -> FpFlags {
                FpFlags::INVALID.when(out.is_nan() & !self.is_nan() & !other.is_nan())
            }
            // NaN wins, the first before the second. Of equal values the second is taken, so that
            // the sign of a zero is that of NumPy's vector instruction.
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                if self.is_nan() | (self < other) { self } else { other }
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                if self.is_nan() | (self > other) { self } else { other }
            }
            // The other value wins over NaN; of equal values the second is taken.
            #[inline(always)]
            fn fmin(self, other: Self) -> Self {
                if other.is_nan() | (self < other) { self } else { other }
            }
            #[inline(always)]
            fn fmax(self, other: Self) -> Self {
                if other.is_nan() | (self > other) { self } else { other }
            }
            #[inline(always)]
            fn sign(self) -> Self {
                let sign = (self > 0.0) as i8 - (self < 0.0) as i8;
                if self.is_nan() { self } else { sign as $T }
            }
            #[inline(always)]
            fn reciprocal(self) -> Self {
                1.0 / self
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
            #[inline(always)]
            fn is_infinite(self) -> bool {
                self.abs() == <$T>::INFINITY
            }
            #[inline(always)]
            fn is_true(self) -> bool {
                self != 0.0
            }
            #[inline(always)]
            fn floor(self) -> Self {
                self.floor()
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                self.ceil()
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                self.trunc()
            }
            #[inline(always)]
            fn rint(self) -> Self {
                self.round_ties_even()
            }
            #[inline(always)]
            fn absolute(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn negative(self) -> Self {
                -self
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
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
        }
    )*};
}
floats!(f32, f64);
