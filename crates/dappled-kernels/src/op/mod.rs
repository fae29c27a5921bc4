//! The element-wise operations: how many arguments, which loops exist, and what they give.

mod rule;
mod table;

use std::fmt;

use self::rule::Loops;
pub use self::table::Op;
use crate::dtype::DType;
use crate::promote::{Casting, can_cast};

/// What the table says of an operation.
pub(crate) struct Row {
    pub name: &'static str,
    pub arity: usize,
    pub loops: Loops,
    /// Those of them that are here.
    pub native: Loops,
    pub gives: Gives,
}

impl Row {
    const fn new(op: Op, name: &'static str, arity: usize, loops: Loops, gives: Gives) -> Self {
        let native = if op.is_function() { loops.without(DType::Complex64) } else { loops };
        let native = if op.is_function() { native.without(DType::Complex128) } else { native };
        Self { name, arity, loops, native, gives }
    }
}

/// The dtype of a result.
#[derive(Clone, Copy)]
pub(crate) enum Gives {
    /// The loop's.
    Same,
    /// A bool.
    Truth,
    /// That of a complex number's parts.
    Parts,
    /// uint8: a number of bits.
    Count,
}

impl Op {
    /// How many arguments it takes.
    #[inline]
    pub const fn arity(self) -> usize {
        self.row().arity
    }

    /// Is it one of the six comparisons?
    pub const fn is_comparison(self) -> bool {
        use Op::*;
        matches!(self, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }

    /// Is there a loop of this dtype here? Wherever NumPy computes in a dtype itself, but for
    /// the functions of complex numbers: those are left to NumPy.
    #[inline]
    pub const fn has_loop(self, dtype: DType) -> bool {
        self.row().native.contains(dtype)
    }

    /// The dtype in which NumPy computes it for arguments that meet in this one; None where
    /// NumPy has no such operation: a TypeError. Not every one [has a loop](Op::has_loop) here.
    ///
    /// ```
    /// use dappled_kernels::{DType, Op};
    /// assert_eq!(Op::Sqrt.loop_for(DType::Int16), Some(DType::Float32));
    /// assert_eq!(Op::Divide.loop_for(DType::Int8), Some(DType::Float64));
    /// assert_eq!(Op::Negative.loop_for(DType::Bool), None);
    /// ```
    pub fn loop_for(self, dtype: DType) -> Option<DType> {
        use Op::*;
        let loops = self.row().loops;
        let refuses_bool = matches!(self, Subtract | Negative | Positive | Sign | Gcd | Lcm);
        match dtype {
            _ if loops.contains(dtype) => Some(dtype),
            DType::Bool if refuses_bool => None,
            // The one operation whose loops of integers give another dtype.
            _ if self == Divide => Some(DType::Float64),
            _ => loops.iter().find(|&to| can_cast(dtype, to, Casting::Safe)),
        }
    }

    /// The dtype of argument number `position`, in a loop of this dtype.
    #[inline]
    pub fn argument(self, dtype: DType, position: usize) -> DType {
        if self == Op::Select && position == 0 { DType::Bool } else { dtype }
    }

    /// The dtype of the result, in a loop of this dtype.
    #[inline]
    pub fn result(self, dtype: DType) -> DType {
        match (self, self.row().gives) {
            (Op::Cast(to), _) => to,
            (_, Gives::Same) => dtype,
            (_, Gives::Truth) => DType::Bool,
            (_, Gives::Parts) => dtype.real(),
            (_, Gives::Count) => DType::UInt8,
        }
    }

    /// NumPy's name for it, which its warnings use; a cast is `cast`, a select is `select`.
    #[inline]
    pub const fn numpy_name(self) -> &'static str {
        self.row().name
    }

    /// The operation of a ufunc's `__name__`; None for any other name.
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
        Op::PLAIN.into_iter().find(|op| op.numpy_name() == name)
    }

    /// Is it done by one or a few instructions of the CPU?
    pub const fn is_quick(self) -> bool {
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

    /// Is it a function of which only the real one is here?
    const fn is_function(self) -> bool {
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
