//! Plans of argmin and argmax.

use dappled_kernels::{ArgReduceOp, DType};

use super::distribution::reduction_distribution;
use super::{ResultOwner, ResultStep, result_distribution, result_step};
use crate::plan::values::{PlanValues, RankContext, ValuesStep, is_ascending};

/// The steps by which one rank searches distributed values for an extreme.
#[derive(Clone, Debug)]
pub struct ArgReducePlan {
    /// The operation.
    pub op: ArgReduceOp,
    /// The axis to search along; `None` to search all elements.
    pub axis: Option<usize>,
    /// The dtype of the values.
    pub dtype: DType,
    /// The shape of the values.
    pub shape: Vec<usize>,
    /// The rank that the plan is for.
    pub context: RankContext,
    /// The values that this rank searches.
    pub values: ValuesStep,
    /// The place of the result. Without an axis each rank sends its extreme to every rank, which
    /// compares them.
    pub result: ResultStep,
}

impl ArgReducePlan {
    /// Plans a search for one rank; the values are not empty.
    pub fn new(
        values: &PlanValues,
        (op, axis, dtype): (ArgReduceOp, Option<usize>, DType),
        context: RankContext,
    ) -> Self {
        let current = values.distribution(&context);
        // The only axis of an array is searched as all elements are: no values move.
        let axis = axis.filter(|_| values.shape.len() > 1);
        let target = match axis {
            Some(axis) => reduction_distribution(&current, &[axis]),
            None if current.axes().iter().all(is_ascending) => current,
            None => context.block_distribution(&values.shape),
        };
        let result = axis.map_or(ResultStep::Replicated, |axis| {
            let shape = searched_shape(&values.shape, Some(axis));
            let results = result_distribution(&target, &[axis], ResultOwner::First);
            result_step(&context, (DType::Int64, &shape), results, 1)
        });
        let shape = values.shape.clone();
        Self { op, axis, dtype, shape, context, values: values.step_to(target), result }
    }

    /// The number of bytes of a rank's extreme: its flat index and its value.
    pub fn candidate_bytes(&self) -> usize {
        size_of::<u64>() + self.dtype.itemsize()
    }
}

/// The shape with length 1 along the searched axes.
pub(crate) fn searched_shape(shape: &[usize], axis: Option<usize>) -> Vec<usize> {
    let is_searched = |dim: usize| axis.is_none_or(|axis| axis == dim);
    shape
        .iter()
        .enumerate()
        .map(|(dim, &length)| if is_searched(dim) { 1 } else { length })
        .collect()
}
