//! Arithmetic that looks at its own results: what its instructions would signal, alone.
//!
//! For complex division. Compilers put the two parts of a float32 pair into vectors of four, and
//! what the other two lanes divide raises flags as well.

use std::ops::{Add, Div, Mul};

use crate::Flags;

/// Collects what a formula signals.
#[derive(Default)]
pub(crate) struct Watch(pub Flags);

impl Watch {
    #[inline(always)]
    pub fn sum<T: Part>(&mut self, a: T, b: T) -> T {
        self.note(a, b, a + b, false)
    }

    #[inline(always)]
    pub fn product<T: Part>(&mut self, a: T, b: T) -> T {
        self.note(a, b, a * b, a.is_ordinary() & b.is_ordinary() & (a * b / b != a))
    }

    #[inline(always)]
    pub fn quotient<T: Part>(&mut self, a: T, b: T) -> T {
        if b == T::default() {
            self.0 |= Flags::DIVIDE.when(a.is_ordinary()) | Flags::INVALID.when(a == T::default());
            return a / b;
        }
        self.note(a, b, a / b, a.is_ordinary() & b.is_ordinary() & (a / b * b != a))
    }

    #[inline(always)]
    fn note<T: Part>(&mut self, a: T, b: T, out: T, may_lose: bool) -> T {
        let [x, y, z] = [a, b, out].map(Part::wide);
        self.0 |= Flags::INVALID.when(z.is_nan() & !x.is_nan() & !y.is_nan())
            | Flags::OVERFLOW.when(z.is_infinite() & x.is_finite() & y.is_finite())
            | Flags::UNDERFLOW.when((z.abs() < T::TINY) & may_lose);
        out
    }
}

/// A part of a complex number.
pub(crate) trait Part:
    Copy + Default + PartialEq + Add<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// The smallest number with all its digits.
    const TINY: f64;
    fn wide(self) -> f64;

    /// Neither zero, nor infinite, nor none.
    #[inline(always)]
    fn is_ordinary(self) -> bool {
        (self != Self::default()) & self.wide().is_finite()
    }
}

impl Part for f32 {
    const TINY: f64 = f32::MIN_POSITIVE as f64;
    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }
}

impl Part for f64 {
    const TINY: f64 = f64::MIN_POSITIVE;
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}
