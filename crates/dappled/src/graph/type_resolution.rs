//! Type resolution: which loop an operation runs in, as NEP 50 defines it.

use dappled_kernels::{DType, DTypeKind, Op, Scalar, WeakScalar, promote, promote_weak};

use super::operand::{ElementwiseOperand, UfuncOperand};
use crate::array::node::OperandVec;
use crate::config::MAX_EXACT_FLOAT_INTEGER;
use crate::error::{Error, Result};
use crate::session::fp_warnings::OpRequest;

/// The common dtype of the operands.
fn common_dtype(operands: &[UfuncOperand<'_>]) -> DType {
    let strong = operands.iter().filter_map(UfuncOperand::dtype).reduce(promote);
    let weak = operands.iter().filter_map(|operands| match operands {
        UfuncOperand::Weak(weak, _) => Some(*weak),
        _ => None,
    });
    weak.fold(strong, |dtype, weak| {
        Some(dtype.map_or(default_dtype(weak), |dtype| promote_weak(dtype, weak)))
    })
    .unwrap_or(DType::Float64)
}

/// The dtype of a Python number without other operands.
fn default_dtype(weak: WeakScalar) -> DType {
    match weak {
        WeakScalar::Bool => DType::Bool,
        WeakScalar::Int => DType::Int64,
        WeakScalar::Float => DType::Float64,
        WeakScalar::Complex => DType::Complex128,
    }
}

/// The loop of an operation for operands of one common dtype.
pub fn loop_dtype(op: Op, dtype: DType) -> Result<DType> {
    let native = op.loop_for(dtype).filter(|&dtype| op.has_loop(dtype));
    native.ok_or(Error::NoLoop { op, dtype })
}

/// The loop of an operation for these operands.
pub fn resolve_loop(op: Op, operands: &[UfuncOperand<'_>]) -> Result<DType> {
    // The condition does not take part.
    let operands = if op == Op::Select { &operands[1..] } else { operands };
    let dtype = common_dtype(operands);
    let strong: OperandVec<DType> = operands.iter().filter_map(UfuncOperand::dtype).collect();
    let has_own = op == Op::Divide || op.loop_for(dtype) == Some(dtype);
    if has_own || strong.len() < operands.len() {
        return loop_dtype(op, dtype);
    }
    // NumPy takes the first loop that all operands can be cast to, which may precede the loop of
    // the common dtype: int8 and uint8 fit in float16, and their common dtype is int16.
    let each = strong.iter().map(|&dtype| loop_dtype(op, dtype).unwrap_or(dtype));
    loop_dtype(op, each.reduce(promote).unwrap_or(dtype))
}

/// Returns true if one loop computes the operation, whatever the values and strides.
///
/// Powers may be reduced to cheaper operations, and may raise; complex numbers have several loops.
pub fn has_single_loop(op: Op, dtype: DType) -> bool {
    op != Op::Power && dtype.kind() != DTypeKind::Complex && op.has_loop(dtype)
}

/// Casts a Python float to the dtype of the array beside it; `None` if the loop is another.
#[inline]
pub fn cast_weak_float(dtype: DType, number: f64) -> Option<Scalar> {
    (dtype.kind() == DTypeKind::Float).then(|| Scalar::new(number).cast(dtype))
}

/// Casts a Python int to the dtype of the array beside it, if it is exact there and the loop is not
/// another.
#[inline]
pub fn cast_weak_int(dtype: DType, number: i64) -> Option<Scalar> {
    match dtype.kind() {
        DTypeKind::Float
            if (-MAX_EXACT_FLOAT_INTEGER..=MAX_EXACT_FLOAT_INTEGER).contains(&number) =>
        {
            Some(Scalar::new(number as f64).cast(dtype))
        }
        DTypeKind::Signed | DTypeKind::Unsigned => {
            let value = Scalar::new(number);
            (!UfuncOperand::Weak(WeakScalar::Int, value).overflows(dtype))
                .then(|| value.cast(dtype))
        }
        _ => None,
    }
}

/// Returns true if the operation raises for some values: integers have no negative powers.
pub fn may_raise(op: Op, dtype: DType) -> bool {
    op == Op::Power && dtype.is_integral()
}

/// The loop of an operation for these operands; None if NumPy must compute it or raise.
///
/// That is if there is no loop, a Python int is out of range for it, or it does not compare
/// exactly: NumPy compares int64 with uint64 exactly, although they promote to float64.
pub fn native_loop(op: Op, operands: &[UfuncOperand<'_>]) -> Option<DType> {
    let dtype = resolve_loop(op, operands).ok()?;
    let is_integral = |operand: &UfuncOperand<'_>| operand.dtype().is_none_or(DType::is_integral);
    let is_inexact =
        op.is_comparison() && dtype == DType::Float64 && operands.iter().all(is_integral);
    let fits = !operands.iter().any(|operand| operand.overflows(dtype));
    (fits && !is_inexact).then_some(dtype)
}

/// Replaces powers of floats with special exponents, as NumPy's loops do.
///
/// The replacement differs in the last digit, and for signed zeros and infinities.
pub(crate) fn reduce_power<'a, 'b>(
    request: OpRequest,
    dtype: DType,
    operands: &'b [UfuncOperand<'a>],
) -> (OpRequest, &'b [UfuncOperand<'a>]) {
    let exponent = match operands.get(1) {
        Some(UfuncOperand::Strong(value) | UfuncOperand::Weak(_, value))
            if request.op == Op::Power =>
        {
            value.cast(DType::Float64).get::<f64>()
        }
        _ => None,
    };
    let op = match exponent.filter(|_| matches!(dtype, DType::Float32 | DType::Float64)) {
        Some(2.0) => Op::Square,
        Some(1.0) => Op::Positive,
        Some(0.5) => Op::Sqrt,
        Some(-1.0) => Op::Reciprocal,
        _ => return (request, operands),
    };
    (OpRequest { op, ..request }, &operands[..1])
}

/// The operands of an operation, scalars cast to its loop.
pub(crate) fn elementwise_operands<'a>(
    op: Op,
    dtype: DType,
    operands: &[UfuncOperand<'a>],
) -> OperandVec<ElementwiseOperand<'a>> {
    let operand = |(at, operands): (usize, &UfuncOperand<'a>)| match *operands {
        UfuncOperand::Array(array) => ElementwiseOperand::Array(array),
        UfuncOperand::Strong(value) | UfuncOperand::Weak(_, value) => {
            ElementwiseOperand::Scalar(value.cast(op.argument(dtype, at)))
        }
    };
    operands.iter().enumerate().map(operand).collect()
}
