//! The element-wise operations: arity, dtypes with a loop, dtypes of results.
//!
//! `table` lists the operations; the methods of `Op` answer the questions that type resolution and
//! the executors ask. Output: the dtype NumPy computes in, or `None` where NumPy raises a
//! TypeError.

pub(crate) mod dtype_set;
pub(crate) mod table;

use std::fmt;

use self::dtype_set::DTypeSet;
pub use self::table::Op;
use super::dtype::DType;
use super::promotion::{Casting, can_cast};

/// The table entry of an operation.
pub(crate) struct OpInfo {
    pub name: &'static str,
    pub arity: usize,
    pub loops: DTypeSet,
    /// The dtypes this crate has a loop for: a subset of `loops`.
    pub native: DTypeSet,
    pub result: ResultDType,
}

impl OpInfo {
    const fn new(
        op: Op,
        name: &'static str,
        arity: usize,
        loops: DTypeSet,
        result: ResultDType,
    ) -> Self {
        let native =
            if op.is_real_only_function() { loops.without(DType::Complex64) } else { loops };
        let native =
            if op.is_real_only_function() { native.without(DType::Complex128) } else { native };
        Self { name, arity, loops, native, result }
    }
}

/// The dtype of a result, relative to the dtype of the loop.
#[derive(Clone, Copy)]
pub(crate) enum ResultDType {
    /// The dtype of the loop.
    Same,
    /// A bool.
    Bool,
    /// The dtype of a complex number's real part.
    Real,
    /// uint8, as a number of bits.
    UInt8,
}

impl Op {
    /// The number of arguments.
    #[inline]
    pub const fn arity(self) -> usize {
        self.info().arity
    }

    /// True for the six comparisons.
    pub const fn is_comparison(self) -> bool {
        use Op::*;
        matches!(self, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }

    /// True if this crate has a loop for the dtype.
    ///
    /// The loops are NumPy's own, except the transcendental functions of complex numbers, which
    /// NumPy computes.
    #[inline]
    pub const fn has_loop(self, dtype: DType) -> bool {
        self.info().native.contains(dtype)
    }

    /// The dtype NumPy computes in for arguments that promote to `dtype`.
    ///
    /// `None` where NumPy raises a TypeError. The dtype may lack a [loop](Op::has_loop) in this
    /// crate.
    ///
    /// ```
    /// use dappled_kernels::{DType, Op};
    /// assert_eq!(Op::Sqrt.loop_for(DType::Int16), Some(DType::Float32));
    /// assert_eq!(Op::Divide.loop_for(DType::Int8), Some(DType::Float64));
    /// assert_eq!(Op::Negative.loop_for(DType::Bool), None);
    /// ```
    pub fn loop_for(self, dtype: DType) -> Option<DType> {
        use Op::*;
        let loops = self.info().loops;
        let rejects_bool = matches!(self, Subtract | Negative | Positive | Sign | Gcd | Lcm);
        match dtype {
            _ if loops.contains(dtype) => Some(dtype),
            DType::Bool if rejects_bool => None,
            // Divide is the one operation whose integer loops return another dtype.
            _ if self == Divide => Some(DType::Float64),
            _ => loops.iter().find(|&to| can_cast(dtype, to, Casting::Safe)),
        }
    }

    /// The dtype of the argument at `position`, in the loop of `dtype`.
    #[inline]
    pub fn argument(self, dtype: DType, position: usize) -> DType {
        if self == Op::Select && position == 0 { DType::Bool } else { dtype }
    }

    /// The dtype of the result, in the loop of `dtype`.
    #[inline]
    pub fn result(self, dtype: DType) -> DType {
        match (self, self.info().result) {
            (Op::Cast(to), _) => to,
            (_, ResultDType::Same) => dtype,
            (_, ResultDType::Bool) => DType::Bool,
            (_, ResultDType::Real) => dtype.real(),
            (_, ResultDType::UInt8) => DType::UInt8,
        }
    }

    /// NumPy's name, as in its warnings; `cast` and `select` for the operations that are no ufuncs.
    #[inline]
    pub const fn numpy_name(self) -> &'static str {
        self.info().name
    }

    /// The operation of a ufunc's `__name__`; `None` for any other name.
    ///
    /// ```
    /// use dappled_kernels::Op;
    /// assert_eq!(Op::from_numpy_name("invert"), Some(Op::Not));
    /// assert_eq!(Op::from_numpy_name("where"), None);
    /// ```
    pub fn from_numpy_name(name: &str) -> Option<Op> {
        let name = match name {
            "degrees" => "rad2deg",
            "radians" => "deg2rad",
            "select" => return None,
            name => name,
        };
        Op::ALL_BUT_CAST.into_iter().find(|op| op.numpy_name() == name)
    }

    /// True if one or a few CPU instructions compute the operation.
    pub const fn is_cheap(self) -> bool {
        use Op::*;
        let arithmetic = matches!(
            self,
            Add | Subtract
                | Multiply
                | Divide
                | Negative
                | Positive
                | Absolute
                | Fabs
                | Square
                | Sqrt
                | Reciprocal
                | Minimum
                | Maximum
                | Fmin
                | Fmax
                | Select
                | Cast(_)
                | And
                | Or
                | Xor
                | Not
                | LogicalAnd
                | LogicalOr
                | LogicalXor
                | LogicalNot
                | Isnan
                | Isinf
                | Isfinite
                | Conjugate
                | Copysign
                | Floor
                | Ceil
                | Trunc
                | Rint
        );
        arithmetic || self.is_comparison()
    }

    /// True for functions that have loops for real dtypes only.
    const fn is_real_only_function(self) -> bool {
        use Op::*;
        matches!(
            self,
            Power
                | FloatPower
                | Exp
                | Exp2
                | Expm1
                | Log
                | Log2
                | Log10
                | Log1p
                | Sin
                | Cos
                | Tan
                | Arcsin
                | Arccos
                | Arctan
                | Sinh
                | Cosh
                | Tanh
                | Arcsinh
                | Arccosh
                | Arctanh
        )
    }
}

impl fmt::Display for Op {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.numpy_name())
    }
}
