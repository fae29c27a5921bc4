//! Requests of reductions.

use dappled_kernels::{DType, ReduceOp, Scalar};

use crate::array::Array;

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
