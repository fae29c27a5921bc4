//! Arithmetic that derives its own floating-point flags.
//!
//! For complex division: compilers put the two parts of a complex64 in vectors of four, and the
//! divisions of the other two lanes raise CPU flags as well.

use std::ops::{Add, Div, Mul};

use crate::types::fp_flags::FpFlags;

/// Accumulates the flags of a formula.
#[derive(Default)]
pub(crate) struct FlagRecorder(pub FpFlags);

impl FlagRecorder {
    #[inline(always)]
    pub fn sum<T: RealPart>(&mut self, a: T, b: T) -> T {
        self.record(a, b, a + b, false)
    }

    #[inline(always)]
    pub fn product<T: RealPart>(&mut self, a: T, b: T) -> T {
        self.record(a, b, a * b, a.is_finite_nonzero() & b.is_finite_nonzero() & (a * b / b != a))
    }

    #[inline(always)]
    pub fn quotient<T: RealPart>(&mut self, a: T, b: T) -> T {
        if b == T::default() {
            self.0 |= FpFlags::DIVIDE.when(a.is_finite_nonzero())
                | FpFlags::INVALID.when(a == T::default());
            return a / b;
        }
        self.record(a, b, a / b, a.is_finite_nonzero() & b.is_finite_nonzero() & (a / b * b != a))
    }

    #[inline(always)]
    fn record<T: RealPart>(&mut self, a: T, b: T, out: T, may_lose: bool) -> T {
        let [x, y, z] = [a, b, out].map(RealPart::wide);
        self.0 |= FpFlags::INVALID.when(z.is_nan() & !x.is_nan() & !y.is_nan())
            | FpFlags::OVERFLOW.when(z.is_infinite() & x.is_finite() & y.is_finite())
            | FpFlags::UNDERFLOW.when((z.abs() < T::TINY) & may_lose);
        out
    }
}

/// A real or imaginary part.
pub(crate) trait RealPart:
    Copy + Default + PartialEq + Add<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// The smallest normal number.
    const TINY: f64;
    fn wide(self) -> f64;

    /// True unless the value is zero, infinite or NaN.
    #[inline(always)]
    fn is_finite_nonzero(self) -> bool {
        (self != Self::default()) & self.wide().is_finite()
    }
}

impl RealPart for f32 {
    const TINY: f64 = f32::MIN_POSITIVE as f64;
    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }
}

impl RealPart for f64 {
    const TINY: f64 = f64::MIN_POSITIVE;
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}
