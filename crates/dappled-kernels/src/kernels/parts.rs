//! The operations that only complex numbers have: their parts.

use num_complex::Complex;

use super::Variant;
use super::loops::{Kernel, Unary, operation};
use super::ops::{UnaryOp, op};
use crate::element::Element;
use crate::{DType, Flags, Op};

/// A complex number's parts.
pub(crate) trait Parts: Element {
    type Part: Element;
    fn parts(self) -> [Self::Part; 2];
}

impl<T> Parts for Complex<T>
where
    Self: Element,
    T: Element,
{
    type Part = T;
    #[inline(always)]
    fn parts(self) -> [T; 2] {
        [self.re, self.im]
    }
}

op!(UnaryOp Real: Parts(a) -> T::Part, a.parts()[0]);
op!(UnaryOp Imag: Parts(a) -> T::Part, a.parts()[1]);

/// The loop of an operation that only complex numbers have.
pub(crate) fn kernel(op: Op, dtype: DType, variant: Variant) -> Option<Kernel<Flags>> {
    match (op, dtype) {
        (Op::Real, DType::Complex64) => Some(operation::<Unary<Real, Complex<f32>>>(variant)),
        (Op::Imag, DType::Complex64) => Some(operation::<Unary<Imag, Complex<f32>>>(variant)),
        (Op::Real, DType::Complex128) => Some(operation::<Unary<Real, Complex<f64>>>(variant)),
        (Op::Imag, DType::Complex128) => Some(operation::<Unary<Imag, Complex<f64>>>(variant)),
        _ => None,
    }
}
