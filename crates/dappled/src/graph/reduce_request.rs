//! Requests of reductions.

use dappled_kernels::{DType, DTypeKind, ReduceOp, Scalar};

use super::operand::UfuncOperand;
use crate::array::Array;

/// The dtype in which NumPy accumulates: sums and products of integers use 64 bits.
pub fn accumulator_dtype(fold: ReduceOp, dtype: DType) -> DType {
    match (fold, dtype.kind()) {
        (ReduceOp::All | ReduceOp::Any, _) => DType::Bool,
        (ReduceOp::Add | ReduceOp::Multiply, DTypeKind::Bool | DTypeKind::Signed) => DType::Int64,
        (ReduceOp::Add | ReduceOp::Multiply, DTypeKind::Unsigned) => DType::UInt64,
        _ => dtype,
    }
}

/// Returns true if a reduction in a dtype has a loop, and a cast that NumPy does not warn of.
pub fn has_native_reduction(fold: ReduceOp, from: DType, dtype: DType) -> bool {
    let is_quiet = matches!(fold, ReduceOp::All | ReduceOp::Any) || from.kind() <= dtype.kind();
    is_quiet && fold.has_loop(dtype)
}

/// The arguments of a reduction, as for NumPy's `ufunc.reduce`.
#[derive(Clone, Debug)]
pub struct ReduceRequest {
    /// The reduction operation.
    pub fold: ReduceOp,
    /// The axes to reduce.
    pub axes: Vec<usize>,
    /// The dtype of the accumulator.
    pub dtype: DType,
    /// The initial value of the accumulator; `None` to start with the first element.
    pub initial: Option<Scalar>,
    /// Whether all ranks must know the floating-point flags of each rank, because all must raise.
    pub reports_flags: bool,
}

impl ReduceRequest {
    /// The request of a reduction that starts with the identity, if there is one.
    pub fn new(fold: ReduceOp, axes: Vec<usize>, dtype: DType) -> Self {
        Self { fold, axes, dtype, initial: fold.identity(dtype), reports_flags: false }
    }

    /// The request with another initial value; `None` if NumPy warns of its cast or raises.
    pub fn with_initial(self, initial: UfuncOperand<'_>) -> Option<Self> {
        let (UfuncOperand::Strong(value) | UfuncOperand::Weak(_, value)) = initial else {
            return None;
        };
        let is_quiet = value.dtype().kind() <= self.dtype.kind() && !initial.overflows(self.dtype);
        is_quiet.then(|| Self { initial: Some(value.cast(self.dtype)), ..self })
    }

    /// Returns true if a result would be reduced from no elements, without an initial value.
    pub fn has_no_values(&self, shape: &[usize]) -> bool {
        self.initial.is_none() && self.axes.iter().any(|&axis| shape[axis] == 0)
    }

    /// The equivalent logical reduction of booleans, which can stop early: maximum is any, minimum
    /// all.
    pub(crate) fn as_logical(&self, array: &Array) -> Option<Self> {
        let logical = match self.fold {
            ReduceOp::Maximum | ReduceOp::Fmax => ReduceOp::Any,
            ReduceOp::Minimum | ReduceOp::Fmin => ReduceOp::All,
            _ => return None,
        };
        if array.dtype() != DType::Bool || self.dtype != DType::Bool || array.view().is_empty() {
            return None;
        }
        let initial = self.initial.or(logical.identity(DType::Bool));
        Some(Self { fold: logical, initial, ..self.clone() })
    }

    /// Returns true if the result does not depend on the order of the values, except for complex
    /// NaNs.
    pub(crate) fn is_exact(&self) -> bool {
        self.dtype.is_integral() || !matches!(self.fold, ReduceOp::Add | ReduceOp::Multiply)
    }

    /// The shape with length 1 along the reduced axes.
    pub(crate) fn reduced_shape(&self, shape: &[usize]) -> Vec<usize> {
        let length = |(axis, &length): (usize, &usize)| {
            if self.axes.contains(&axis) { 1 } else { length }
        };
        shape.iter().enumerate().map(length).collect()
    }
}
