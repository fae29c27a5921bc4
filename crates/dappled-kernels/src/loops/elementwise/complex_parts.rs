//! Operations that only complex numbers have: parts, and unfused products.

use num_complex::Complex;

use super::ops::{BinaryOp, UnaryOp, op};
use super::transcendental::Transcendental;
use super::{Binary, ElementwiseKernel, Unary, elementwise_kernel, libm_kernel};
use crate::loops::fp::exceptions::hypot_flags;
use crate::loops::reduce::product::Factor;
use crate::loops::variant::CpuVariant;
use crate::types::dtype::DType;
use crate::types::fp_flags::FpFlags;
use crate::types::op::table::Op;

/// Access to the parts of a complex number.
pub(crate) trait ComplexParts: Factor {
    type Part: Transcendental;
    fn parts(self) -> [Self::Part; 2];

    /// The product with each intermediate result rounded.
    #[inline(always)]
    fn unfused_multiply(self, by: Self) -> Self {
        Self::narrow(Self::times(self.widen(), by))
    }
    #[inline(always)]
    fn magnitude(self) -> Self::Part {
        self.parts()[0].hypot(self.parts()[1])
    }
    #[inline(always)]
    fn magnitude_flags(self, out: Self::Part) -> FpFlags {
        hypot_flags(self.parts()[0], self.parts()[1], out)
    }
}

impl<T: Transcendental> ComplexParts for Complex<T>
where
    Self: Factor,
{
    type Part = T;
    #[inline(always)]
    fn parts(self) -> [T; 2] {
        [self.re, self.im]
    }
}

op!(UnaryOp Real: ComplexParts(a) -> T::Part, a.parts()[0]);
op!(UnaryOp Imag: ComplexParts(a) -> T::Part, a.parts()[1]);

op!(BinaryOp UnfusedMultiply: ComplexParts(a, b) -> T, a.unfused_multiply(b));
op!(UnaryOp UnfusedSquare: ComplexParts(a) -> T, a.unfused_multiply(a));
op!(UnaryOp UnfusedAbsolute: ComplexParts(a) -> T::Part, a.magnitude(), T::magnitude_flags);

/// The kernel of an operation that only complex dtypes have.
pub(crate) fn kernel(op: Op, dtype: DType, variant: CpuVariant) -> Option<ElementwiseKernel> {
    match dtype {
        DType::Complex64 => of::<Complex<f32>>(op, variant),
        DType::Complex128 => of::<Complex<f64>>(op, variant),
        _ => None,
    }
}

fn of<T: ComplexParts>(op: Op, variant: CpuVariant) -> Option<ElementwiseKernel> {
    Some(match op {
        Op::Real => elementwise_kernel::<Unary<Real, T>>(variant),
        Op::Imag => elementwise_kernel::<Unary<Imag, T>>(variant),
        Op::UnfusedMultiply => elementwise_kernel::<Binary<UnfusedMultiply, T>>(variant),
        Op::UnfusedSquare => elementwise_kernel::<Unary<UnfusedSquare, T>>(variant),
        Op::UnfusedAbsolute => libm_kernel::<Unary<UnfusedAbsolute, T>>(variant),
        _ => return None,
    })
}
