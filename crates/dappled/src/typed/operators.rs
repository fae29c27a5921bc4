//! Operators: arithmetic on arrays and scalars, on values and references.
//!
//! An operator panics if the shapes do not broadcast, as indexing out of bounds does; the panic
//! aborts all ranks. The `try_` methods return the error.

use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, DivAssign, Mul, MulAssign, Neg, Not, Rem, Shl, Shr,
    Sub, SubAssign,
};

use dappled_kernels::element::f16;
use dappled_kernels::{Bool, Op, Scalar};
use num_complex::{Complex32, Complex64};

use super::element::{ArrayElement, BitsElement, IntegerElement, NumberElement, RealElement};
use super::{Array, expect_valid};
use crate::array::Array as DynArray;
use crate::dispatch::{ufunc, ufunc_in_place};
use crate::error::{Error, Result};
use crate::graph::operand::UfuncOperand;
use crate::view::broadcast_shapes;

/// An operand of an operation on elements of type `T`: an array, a reference to one, or a scalar.
pub trait Operand<T: ArrayElement> {
    /// The operand of the dynamic operation.
    #[doc(hidden)]
    fn operand(&self) -> UfuncOperand<'_>;
}

impl<T: ArrayElement> Operand<T> for T {
    fn operand(&self) -> UfuncOperand<'_> {
        UfuncOperand::Strong(Scalar::new(*self))
    }
}

impl<T: ArrayElement> Operand<T> for Array<T> {
    fn operand(&self) -> UfuncOperand<'_> {
        UfuncOperand::Array(&self.dynamic)
    }
}

impl<T: ArrayElement> Operand<T> for &Array<T> {
    fn operand(&self) -> UfuncOperand<'_> {
        UfuncOperand::Array(&self.dynamic)
    }
}

impl<T: ArrayElement> Array<T> {
    /// The array as an operand of the dynamic operation.
    pub(super) fn as_operand(&self) -> UfuncOperand<'_> {
        UfuncOperand::Array(&self.dynamic)
    }
}

/// Requests a binary operation, of which at least one operand is an array.
pub(super) fn binary(op: Op, left: UfuncOperand<'_>, right: UfuncOperand<'_>) -> Result<DynArray> {
    let ((UfuncOperand::Array(array), _) | (_, UfuncOperand::Array(array))) = (left, right) else {
        unreachable!("an operand is an array")
    };
    ufunc(array.session(), op, &[left, right])
}

/// Requests `target op= operand`, which must not change the shape of the target.
fn update(op: Op, target: &DynArray, operand: UfuncOperand<'_>) -> Result<()> {
    if let UfuncOperand::Array(array) = operand {
        let shape = broadcast_shapes(&[target.shape(), array.shape()])?;
        if shape != target.shape() {
            return Err(Error::OutputShape { output: target.shape().to_vec(), broadcast: shape });
        }
    }
    ufunc_in_place(target, op, &[UfuncOperand::Array(target), operand])
}

/// Implements a binary operator for arrays and scalars on its right.
macro_rules! binary_operators {
    ($($Trait:ident, $method:ident, $try_method:ident, $Op:ident, $Bound:ident, $Output:ident;)*) => {$(
        impl<T: $Bound, R: Operand<T>> $Trait<R> for Array<T> {
            type Output = Array<binary_operators!(@output T $Output)>;

            #[track_caller]
            fn $method(self, right: R) -> Self::Output {
                expect_valid(self.$try_method(right))
            }
        }

        impl<T: $Bound, R: Operand<T>> $Trait<R> for &Array<T> {
            type Output = Array<binary_operators!(@output T $Output)>;

            #[track_caller]
            fn $method(self, right: R) -> Self::Output {
                expect_valid(self.$try_method(right))
            }
        }

        impl<T: $Bound> Array<T> {
            #[doc = concat!(
                "The operator [`", stringify!($Trait), "`]; fails if the shapes do not broadcast."
            )]
            pub fn $try_method(
                &self,
                right: impl Operand<T>,
            ) -> Result<Array<binary_operators!(@output T $Output)>> {
                binary(Op::$Op, self.as_operand(), right.operand()).map(Array::from_dynamic)
            }
        }
    )*};
    (@output $T:ident Same) => { $T };
    (@output $T:ident Quotient) => { $T::Quotient };
}

binary_operators! {
    Add, add, try_add, Add, ArrayElement, Same;
    Sub, sub, try_sub, Subtract, NumberElement, Same;
    Mul, mul, try_mul, Multiply, ArrayElement, Same;
    Div, div, try_div, Divide, ArrayElement, Quotient;
    Rem, rem, try_rem, Remainder, RealElement, Same;
    BitAnd, bitand, try_bitand, And, BitsElement, Same;
    BitOr, bitor, try_bitor, Or, BitsElement, Same;
    BitXor, bitxor, try_bitxor, Xor, BitsElement, Same;
    Shl, shl, try_shl, LeftShift, IntegerElement, Same;
    Shr, shr, try_shr, RightShift, IntegerElement, Same;
}

/// Implements operators with a scalar on their left.
macro_rules! scalar_on_the_left {
    ($($T:ty: $($Trait:ident $method:ident $Op:ident $Output:ident),*;)*) => {$($(
        impl $Trait<Array<$T>> for $T {
            type Output = Array<scalar_on_the_left!(@output $T, $Output)>;

            #[track_caller]
            fn $method(self, right: Array<$T>) -> Self::Output {
                $Trait::$method(self, &right)
            }
        }

        impl $Trait<&Array<$T>> for $T {
            type Output = Array<scalar_on_the_left!(@output $T, $Output)>;

            #[track_caller]
            fn $method(self, right: &Array<$T>) -> Self::Output {
                let result = binary(Op::$Op, Operand::<$T>::operand(&self), right.as_operand());
                expect_valid(result.map(Array::from_dynamic))
            }
        }
    )*)*};
    (@output $T:ty, Same) => { $T };
    (@output $T:ty, Quotient) => { <$T as ArrayElement>::Quotient };
}

macro_rules! scalars_on_the_left {
    (numbers: $($Number:ty)*; bits: $($Bits:ty)*) => {
        $(scalar_on_the_left! {
            $Number: Add add Add Same, Sub sub Subtract Same, Mul mul Multiply Same, Div div Divide Quotient;
        })*
        $(scalar_on_the_left! {
            $Bits: BitAnd bitand And Same, BitOr bitor Or Same, BitXor bitxor Xor Same;
        })*
    };
}

scalars_on_the_left! {
    numbers: i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 Complex32 Complex64;
    bits: Bool i8 i16 i32 i64 u8 u16 u32 u64
}

/// Implements an assignment operator; the array keeps its element type and shape.
macro_rules! assign_operators {
    ($($Trait:ident $method:ident $Op:ident ($($Bound:tt)+);)*) => {$(
        impl<T: $($Bound)+, R: Operand<T>> $Trait<R> for Array<T> {
            #[track_caller]
            fn $method(&mut self, right: R) {
                expect_valid(update(Op::$Op, &self.dynamic, right.operand()));
            }
        }
    )*};
}

assign_operators! {
    AddAssign add_assign Add (ArrayElement);
    SubAssign sub_assign Subtract (NumberElement);
    MulAssign mul_assign Multiply (ArrayElement);
    DivAssign div_assign Divide (ArrayElement<Quotient = T>);
}

impl<T: NumberElement> Neg for &Array<T> {
    type Output = Array<T>;

    fn neg(self) -> Array<T> {
        self.negative()
    }
}

impl<T: NumberElement> Neg for Array<T> {
    type Output = Array<T>;

    fn neg(self) -> Array<T> {
        self.negative()
    }
}

impl<T: BitsElement> Not for &Array<T> {
    type Output = Array<T>;

    fn not(self) -> Array<T> {
        self.invert()
    }
}

impl<T: BitsElement> Not for Array<T> {
    type Output = Array<T>;

    fn not(self) -> Array<T> {
        self.invert()
    }
}
