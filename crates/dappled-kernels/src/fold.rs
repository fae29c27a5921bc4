//! The operations that fold many values into one.

use std::fmt;

use crate::dtype::{DType, Kind};
use crate::{Bool, Op, Scalar};

/// An operation of two arguments that is applied over and over: NumPy's `ufunc.reduce`,
/// `ufunc.accumulate`.
#[allow(missing_docs)] // Each is NumPy's function of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    Add,
    Multiply,
    Minimum,
    Maximum,
    /// Of zeros, the sign may differ from NumPy's: there it depends on their places.
    Fmin,
    /// As `Fmin`.
    Fmax,
    /// `logical_and`, of bools.
    All,
    /// `logical_or`, of bools.
    Any,
    BitAnd,
    BitOr,
    BitXor,
}

impl Fold {
    /// All of them.
    pub const EVERY: [Fold; 11] = {
        use Fold::*;
        [Add, Multiply, Minimum, Maximum, Fmin, Fmax, All, Any, BitAnd, BitOr, BitXor]
    };

    /// Is there a loop for values of this dtype? NumPy may choose another one for them: it sums
    /// int8 in int64, and asks whether all floats are true by casting them to bool. Such a cast is
    /// the last step of the program.
    pub fn has_loop(self, dtype: DType) -> bool {
        match self {
            Fold::All | Fold::Any => dtype == DType::Bool,
            Fold::BitAnd | Fold::BitOr | Fold::BitXor => dtype.is_integral(),
            _ => true,
        }
    }

    /// What NumPy starts from, unless told otherwise; None where it starts from the first value.
    pub fn identity(self, dtype: DType) -> Option<Scalar> {
        let whole = |number: i8| Scalar::new(number).cast(dtype);
        match self {
            Fold::Minimum | Fold::Maximum | Fold::Fmin | Fold::Fmax => None,
            Fold::Add | Fold::Any | Fold::BitOr | Fold::BitXor => Some(whole(0)),
            Fold::BitAnd if dtype.kind() != Kind::Bool => Some(whole(-1)),
            Fold::Multiply | Fold::BitAnd => Some(whole(1)),
            Fold::All => Some(Scalar::new(Bool(1))),
        }
    }

    /// The operation that it applies, where one loop does both.
    pub(crate) fn op(self) -> Option<Op> {
        match self {
            Fold::Add => Some(Op::Add),
            Fold::Multiply => Some(Op::Multiply),
            Fold::Minimum => Some(Op::Minimum),
            Fold::Maximum => Some(Op::Maximum),
            Fold::Fmin => Some(Op::Fmin),
            Fold::Fmax => Some(Op::Fmax),
            _ => None,
        }
    }

    /// NumPy's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Fold::Add => "add",
            Fold::Multiply => "multiply",
            Fold::Minimum => "minimum",
            Fold::Maximum => "maximum",
            Fold::Fmin => "fmin",
            Fold::Fmax => "fmax",
            Fold::All => "logical_and",
            Fold::Any => "logical_or",
            Fold::BitAnd => "bitwise_and",
            Fold::BitOr => "bitwise_or",
            Fold::BitXor => "bitwise_xor",
        }
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
