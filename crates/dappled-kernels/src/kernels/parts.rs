//! The operations that only complex numbers have: their parts.

use num_complex::Complex;

use super::Variant;
use super::elementwise::{Binary, Operation, Unary, library, operation};
use super::function::Function;
use super::ops::{BinaryOp, UnaryOp, op};
use super::product::Factor;
use super::signals::lengths;
use crate::{DType, Flags, Op};

/// A complex number's parts.
pub(crate) trait Parts: Factor {
    type Part: Function;
    fn parts(self) -> [Self::Part; 2];

    /// A product of which each step is rounded.
    #[inline(always)]
    fn unfused(self, by: Self) -> Self {
        Self::narrow(Self::times(self.widen(), by))
    }
    #[inline(always)]
    fn length(self) -> Self::Part {
        self.parts()[0].hypot(self.parts()[1])
    }
    #[inline(always)]
    fn length_raises(self, out: Self::Part) -> Flags {
        lengths(self.parts()[0], self.parts()[1], out)
    }
}

impl<T: Function> Parts for Complex<T>
where
    Self: Factor,
{
    type Part = T;
    #[inline(always)]
    fn parts(self) -> [T; 2] {
        [self.re, self.im]
    }
}

op!(UnaryOp Real: Parts(a) -> T::Part, a.parts()[0]);
op!(UnaryOp Imag: Parts(a) -> T::Part, a.parts()[1]);

op!(BinaryOp UnfusedMultiply: Parts(a, b) -> T, a.unfused(b));
op!(UnaryOp UnfusedSquare: Parts(a) -> T, a.unfused(a));
op!(UnaryOp UnfusedAbsolute: Parts(a) -> T::Part, a.length(), T::length_raises);

/// The loop of an operation that only complex numbers have.
pub(crate) fn kernel(op: Op, dtype: DType, variant: Variant) -> Option<Operation> {
    match dtype {
        DType::Complex64 => of::<Complex<f32>>(op, variant),
        DType::Complex128 => of::<Complex<f64>>(op, variant),
        _ => None,
    }
}

fn of<T: Parts>(op: Op, variant: Variant) -> Option<Operation> {
    Some(match op {
        Op::Real => operation::<Unary<Real, T>>(variant),
        Op::Imag => operation::<Unary<Imag, T>>(variant),
        Op::UnfusedMultiply => operation::<Binary<UnfusedMultiply, T>>(variant),
        Op::UnfusedSquare => operation::<Unary<UnfusedSquare, T>>(variant),
        Op::UnfusedAbsolute => library::<Unary<UnfusedAbsolute, T>>(variant),
        _ => return None,
    })
}
