//! The operations that a compiled loop can contain.

use dappled_kernels::{DType, DTypeKind, Op};

/// True if vector instructions compute the operation with the same bits, never trap, and raise at
/// least the flags of the precompiled kernel.
pub fn is_supported(op: Op, dtype: DType) -> bool {
    use DType::*;
    match dtype {
        Float32 | Float64 => is_supported_float(op, dtype),
        Int32 | Int64 | UInt32 | UInt64 => is_supported_integer(op, dtype),
        Bool => is_supported_bool(op),
        _ => false,
    }
}

fn is_supported_float(op: Op, dtype: DType) -> bool {
    use Op::*;
    match op {
        Cast(to) => to == DType::Bool || to == dtype,
        Add | Subtract | Multiply | Divide | Negative | Positive | Absolute | Fabs | Square
        | Sqrt | Reciprocal | Conjugate | Floor | Ceil | Trunc | Rint | Copysign | Signbit
        | Isinf | Isfinite => true,
        _ => is_supported_number(op),
    }
}

fn is_supported_integer(op: Op, dtype: DType) -> bool {
    use Op::*;
    let same_size = |to: DType| {
        matches!(to.kind(), DTypeKind::Signed | DTypeKind::Unsigned)
            && to.itemsize() == dtype.itemsize()
    };
    match op {
        Cast(DType::Bool) => true,
        Cast(DType::Float64) => dtype == DType::Int64,
        Cast(DType::Float32) => dtype == DType::Int32,
        Cast(to) => same_size(to),
        Add | Subtract | Multiply | Negative | Positive | Absolute | Square | Conjugate | And
        | Or | Xor | Not => true,
        Isnan => false,
        _ => is_supported_number(op),
    }
}

/// Operations that floats and integers have in common.
fn is_supported_number(op: Op) -> bool {
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

fn is_supported_bool(op: Op) -> bool {
    use Op::*;
    match op {
        Cast(to) => matches!(to.itemsize(), 4 | 8) && to != DType::Complex64 || to == DType::Bool,
        Add | Multiply | Absolute | And | Or | Xor | Not => true,
        Isnan => false,
        _ => is_supported_number(op),
    }
}
