//! The reduction operations.

use std::fmt;

use crate::types::dtype::{DType, DTypeKind};
use crate::types::element::Bool;
use crate::types::op::table::Op;
use crate::types::scalar::Scalar;

/// A binary operation applied repeatedly: NumPy's `ufunc.reduce` and `ufunc.accumulate`.
#[allow(missing_docs)] // Each is NumPy's function of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    Add,
    Multiply,
    Minimum,
    Maximum,
    /// Among zeros the sign may differ from NumPy's, whose result depends on their positions.
    Fmin,
    /// Treats the sign of zeros as `Fmin` does.
    Fmax,
    /// `logical_and`, of bools.
    All,
    /// `logical_or`, of bools.
    Any,
    BitAnd,
    BitOr,
    BitXor,
}

impl ReduceOp {
    /// All reduction operations.
    pub const ALL: [ReduceOp; 11] = {
        use ReduceOp::*;
        [Add, Multiply, Minimum, Maximum, Fmin, Fmax, All, Any, BitAnd, BitOr, BitXor]
    };

    /// True if there is a loop for values of this dtype.
    ///
    /// NumPy may reduce in another dtype: it sums int8 in int64, and `all` of floats casts them to
    /// bool. Such a cast is the last step of the program.
    pub fn has_loop(self, dtype: DType) -> bool {
        match self {
            ReduceOp::All | ReduceOp::Any => dtype == DType::Bool,
            ReduceOp::BitAnd | ReduceOp::BitOr | ReduceOp::BitXor => dtype.is_integral(),
            _ => true,
        }
    }

    /// NumPy's initial value; `None` where the first value is the initial one.
    pub fn identity(self, dtype: DType) -> Option<Scalar> {
        let whole = |number: i8| Scalar::new(number).cast(dtype);
        match self {
            ReduceOp::Minimum | ReduceOp::Maximum | ReduceOp::Fmin | ReduceOp::Fmax => None,
            ReduceOp::Add | ReduceOp::Any | ReduceOp::BitOr | ReduceOp::BitXor => Some(whole(0)),
            ReduceOp::BitAnd if dtype.kind() != DTypeKind::Bool => Some(whole(-1)),
            ReduceOp::Multiply | ReduceOp::BitAnd => Some(whole(1)),
            ReduceOp::All => Some(Scalar::new(Bool(1))),
        }
    }

    /// The element-wise operation of one reduction step, if a fused loop can use it.
    pub(crate) fn op(self) -> Option<Op> {
        match self {
            ReduceOp::Add => Some(Op::Add),
            ReduceOp::Multiply => Some(Op::Multiply),
            ReduceOp::Minimum => Some(Op::Minimum),
            ReduceOp::Maximum => Some(Op::Maximum),
            ReduceOp::Fmin => Some(Op::Fmin),
            ReduceOp::Fmax => Some(Op::Fmax),
            _ => None,
        }
    }

    /// The name of NumPy's ufunc.
    pub const fn name(self) -> &'static str {
        match self {
            ReduceOp::Add => "add",
            ReduceOp::Multiply => "multiply",
            ReduceOp::Minimum => "minimum",
            ReduceOp::Maximum => "maximum",
            ReduceOp::Fmin => "fmin",
            ReduceOp::Fmax => "fmax",
            ReduceOp::All => "logical_and",
            ReduceOp::Any => "logical_or",
            ReduceOp::BitAnd => "bitwise_and",
            ReduceOp::BitOr => "bitwise_or",
            ReduceOp::BitXor => "bitwise_xor",
        }
    }
}

impl fmt::Display for ReduceOp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
