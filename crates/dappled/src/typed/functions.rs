//! Element-wise functions, one method for each entry of the operation table.
//!
//! The methods have NumPy's names. They panic where an operator does: if the shapes of two operands
//! do not broadcast, or if a rank fails.

use dappled_kernels::{Bool, Op};

use super::element::{
    ArrayElement, BitsElement, ComplexElement, IntegerElement, NumberElement, RealElement,
};
use super::operators::{Operand, binary};
use super::{Array, Mask, expect_valid};
use crate::dispatch::ufunc;
use crate::error::Result;
use crate::graph::operand::UfuncOperand;

/// Defines methods of one argument for the element types with a bound.
macro_rules! unary_functions {
    ($($Bound:ident { $($method:ident $Op:ident -> $Output:ty;)* })*) => {$(
        impl<T: $Bound> Array<T> {
            $(
                #[doc = concat!("NumPy's `", stringify!($method), "` of each element.")]
                #[track_caller]
                pub fn $method(&self) -> Array<$Output> {
                    expect_valid(self.map(Op::$Op))
                }
            )*
        }
    )*};
}

unary_functions! {
    ArrayElement {
        absolute Absolute -> T::Real;
        sqrt Sqrt -> T::Float;
        rint Rint -> T::Float;
        logical_not LogicalNot -> Bool;
        isnan Isnan -> Bool;
        isinf Isinf -> Bool;
        isfinite Isfinite -> Bool;
    }
    NumberElement {
        negative Negative -> T;
        positive Positive -> T;
        sign Sign -> T;
        square Square -> T;
        reciprocal Reciprocal -> T;
        conjugate Conjugate -> T;
    }
    BitsElement {
        invert Not -> T;
    }
    IntegerElement {
        bitwise_count BitwiseCount -> u8;
    }
    RealElement {
        fabs Fabs -> T::Float;
        cbrt Cbrt -> T::Float;
        signbit Signbit -> Bool;
        floor Floor -> T;
        ceil Ceil -> T;
        trunc Trunc -> T;
        spacing Spacing -> T::Float;
        deg2rad Deg2Rad -> T::Float;
        rad2deg Rad2Deg -> T::Float;
        exp Exp -> T::Float;
        exp2 Exp2 -> T::Float;
        expm1 Expm1 -> T::Float;
        log Log -> T::Float;
        log2 Log2 -> T::Float;
        log10 Log10 -> T::Float;
        log1p Log1p -> T::Float;
        sin Sin -> T::Float;
        cos Cos -> T::Float;
        tan Tan -> T::Float;
        arcsin Arcsin -> T::Float;
        arccos Arccos -> T::Float;
        arctan Arctan -> T::Float;
        sinh Sinh -> T::Float;
        cosh Cosh -> T::Float;
        tanh Tanh -> T::Float;
        arcsinh Arcsinh -> T::Float;
        arccosh Arccosh -> T::Float;
        arctanh Arctanh -> T::Float;
    }
    ComplexElement {
        real Real -> T::Real;
        imag Imag -> T::Real;
    }
}

/// Defines methods of two arguments for the element types with a bound.
macro_rules! binary_functions {
    ($($Bound:ident { $($method:ident $Op:ident -> $Output:ty;)* })*) => {$(
        impl<T: $Bound> Array<T> {
            $(
                #[doc = concat!("NumPy's `", stringify!($method), "` of each pair of elements.")]
                #[track_caller]
                pub fn $method(&self, other: impl Operand<T>) -> Array<$Output> {
                    let result = binary(Op::$Op, self.as_operand(), other.operand());
                    expect_valid(result.map(Array::from_dynamic))
                }
            )*
        }
    )*};
}

binary_functions! {
    ArrayElement {
        equal Equal -> Bool;
        not_equal NotEqual -> Bool;
        less Less -> Bool;
        less_equal LessEqual -> Bool;
        greater Greater -> Bool;
        greater_equal GreaterEqual -> Bool;
        logical_and LogicalAnd -> Bool;
        logical_or LogicalOr -> Bool;
        logical_xor LogicalXor -> Bool;
        minimum Minimum -> T;
        maximum Maximum -> T;
        fmin Fmin -> T;
        fmax Fmax -> T;
    }
    RealElement {
        floor_divide FloorDivide -> T;
        remainder Remainder -> T;
        fmod Fmod -> T;
        power Power -> T;
        copysign Copysign -> T::Float;
        nextafter Nextafter -> T::Float;
        heaviside Heaviside -> T::Float;
        hypot Hypot -> T::Float;
        arctan2 Arctan2 -> T::Float;
        logaddexp Logaddexp -> T::Float;
        logaddexp2 Logaddexp2 -> T::Float;
    }
    IntegerElement {
        gcd Gcd -> T;
        lcm Lcm -> T;
    }
}

impl<T: ArrayElement> Array<T> {
    /// Applies an operation of one argument from the operation table.
    ///
    /// Fails if the operation has no loop for the element type. The result is cast to `U` if it has
    /// another type.
    pub fn map<U: ArrayElement>(&self, op: Op) -> Result<Array<U>> {
        let result = ufunc(self.dynamic.session(), op, &[self.as_operand()])?;
        match result.dtype() == U::DTYPE {
            true => Ok(Array::from_dynamic(result)),
            false => result.cast(U::DTYPE).map(Array::from_dynamic),
        }
    }

    /// Casts each element to another type, as NumPy's `astype` does.
    pub fn cast<U: ArrayElement>(&self) -> Array<U> {
        match T::DTYPE == U::DTYPE {
            true => expect_valid(self.dynamic.copy().map(Array::from_dynamic)),
            false => expect_valid(self.dynamic.cast(U::DTYPE).map(Array::from_dynamic)),
        }
    }

    /// Takes elements of `yes` where the mask is true, and of `no` elsewhere: `numpy.where`.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::from_slice(&cx, [4], &[-2.0, 3.0, -1.0, 5.0])?;
    /// assert_eq!(Array::select(&a.less(0.0), 0.0, &a)?.to_vec()?, [0.0, 3.0, 0.0, 5.0]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn select(mask: &Mask, yes: impl Operand<T>, no: impl Operand<T>) -> Result<Self> {
        let operands = [UfuncOperand::Array(&mask.dynamic), yes.operand(), no.operand()];
        ufunc(mask.dynamic.session(), Op::Select, &operands).map(Array::from_dynamic)
    }
}
