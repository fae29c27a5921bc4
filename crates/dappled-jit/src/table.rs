//! Which operations a loop can have.

use dappled_kernels::{DType, Kind, Op};

/// Can it be done on vectors, with the same bits, by instructions that never trap and that signal
/// at least what the precompiled kernel does?
pub fn has(op: Op, dtype: DType) -> bool {
    use DType::*;
    match dtype {
        Float32 | Float64 => of_floats(op, dtype),
        Int32 | Int64 | UInt32 | UInt64 => of_integers(op, dtype),
        Bool => of_bools(op),
        _ => false,
    }
}

fn of_floats(op: Op, dtype: DType) -> bool {
    use Op::*;
    match op {
        Cast(to) => to == DType::Bool || to == dtype,
        Add | Subtract | Multiply | Divide | Negative | Positive | Absolute | Fabs | Square
        | Sqrt | Reciprocal | Conjugate | Floor | Ceil | Trunc | Rint | Copysign | Signbit
        | Isinf | Isfinite => true,
        _ => of_numbers(op),
    }
}

fn of_integers(op: Op, dtype: DType) -> bool {
    use Op::*;
    let same_size = |to: DType| {
        matches!(to.kind(), Kind::Signed | Kind::Unsigned) && to.itemsize() == dtype.itemsize()
    };
    match op {
        Cast(DType::Bool) => true,
        Cast(DType::Float64) => dtype == DType::Int64,
        Cast(DType::Float32) => dtype == DType::Int32,
        Cast(to) => same_size(to),
        Add | Subtract | Multiply | Negative | Positive | Absolute | Square | Conjugate | And
        | Or | Xor | Not => true,
        Isnan => false,
        _ => of_numbers(op),
    }
}

/// What floats and integers have alike.
fn of_numbers(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Minimum
            | Maximum
            | Fmin
            | Fmax
            | LogicalAnd
            | LogicalOr
            | LogicalXor
            | LogicalNot
            | Isnan
            | Select
    ) || op.is_comparison()
}

fn of_bools(op: Op) -> bool {
    use Op::*;
    match op {
        Cast(to) => matches!(to.itemsize(), 4 | 8) && to != DType::Complex64 || to == DType::Bool,
        Add | Multiply | Absolute | And | Or | Xor | Not => true,
        Isnan => false,
        _ => of_numbers(op),
    }
}
