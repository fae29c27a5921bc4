//! The element-wise operations: how many arguments, which loops exist, and what they give.

use std::fmt;

use crate::dtype::{DType, Kind};

/// An operation on elements. `and`, `or`, `xor` and `not` are bitwise; on bools that is logical.
#[allow(missing_docs)] // Each is NumPy's function of that name, in its loop dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Negative,
    Absolute,
    Sqrt,
    Square,
    Not,
    /// To another dtype; the loop's is the one it comes from.
    Cast(DType),
    /// `numpy.where`: the first argument is a bool, the others have the loop's dtype.
    Select,
}

impl Op {
    /// All but the casts.
    pub const PLAIN: [Op; 23] = {
        use Op::*;
        [
            Add,
            Subtract,
            Multiply,
            Divide,
            FloorDivide,
            Remainder,
            Minimum,
            Maximum,
            And,
            Or,
            Xor,
            Equal,
            NotEqual,
            Less,
            LessEqual,
            Greater,
            GreaterEqual,
            Negative,
            Absolute,
            Sqrt,
            Square,
            Not,
            Select,
        ]
    };

    /// How many arguments it takes.
    pub const fn arity(self) -> usize {
        use Op::*;
        match self {
            Negative | Absolute | Sqrt | Square | Not | Cast(_) => 1,
            Select => 3,
            _ => 2,
        }
    }

    /// Is it one of the six comparisons?
    pub const fn is_comparison(self) -> bool {
        use Op::*;
        matches!(self, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }

    /// Does NumPy compute it in this dtype itself, without a promotion?
    pub fn has_loop(self, dtype: DType) -> bool {
        use Op::*;
        let kind = dtype.kind();
        match self {
            Subtract | Negative | Square => kind != Kind::Bool,
            Divide => !dtype.is_integral(),
            FloorDivide | Remainder => !matches!(kind, Kind::Bool | Kind::Complex),
            And | Or | Xor | Not => dtype.is_integral(),
            Sqrt => kind == Kind::Float,
            _ => true,
        }
    }

    /// The dtype of argument number `position`, in a loop of this dtype.
    pub fn argument(self, dtype: DType, position: usize) -> DType {
        if self == Op::Select && position == 0 { DType::Bool } else { dtype }
    }

    /// The dtype of the result, in a loop of this dtype.
    pub fn result(self, dtype: DType) -> DType {
        match self {
            Op::Cast(to) => to,
            Op::Absolute => dtype.real(),
            _ if self.is_comparison() => DType::Bool,
            _ => dtype,
        }
    }

    /// Its name in a program's text.
    pub const fn name(self) -> &'static str {
        use Op::*;
        match self {
            Add => "add",
            Subtract => "subtract",
            Multiply => "multiply",
            Divide => "divide",
            FloorDivide => "floor_divide",
            Remainder => "remainder",
            Minimum => "minimum",
            Maximum => "maximum",
            And => "and",
            Or => "or",
            Xor => "xor",
            Equal => "equal",
            NotEqual => "not_equal",
            Less => "less",
            LessEqual => "less_equal",
            Greater => "greater",
            GreaterEqual => "greater_equal",
            Negative => "negative",
            Absolute => "absolute",
            Sqrt => "sqrt",
            Square => "square",
            Not => "not",
            Cast(_) => "cast",
            Select => "select",
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
