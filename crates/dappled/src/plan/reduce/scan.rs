//! Plans of scans: prefix reductions along an axis.

use dappled_kernels::{DType, ReduceOp};

use super::distribution::reduction_distribution;
use super::pipeline::RankPipeline;
use super::{ResultStep, result_step};
use crate::plan::values::{
    PlanValues, RankContext, ValuesStep, is_block_ordered, is_partition, local_shape,
};

/// The steps by which one rank scans distributed values.
#[derive(Clone, Debug)]
pub struct ScanPlan {
    /// The operation.
    pub op: ReduceOp,
    /// The dtype of the accumulators and of the result.
    pub dtype: DType,
    /// The shape of the values.
    pub shape: Vec<usize>,
    /// The rank that the plan is for.
    pub context: RankContext,
    /// The values that this rank scans.
    pub values: ValuesStep,
    /// The ranks that this one receives accumulators from and sends them to.
    pub pipeline: RankPipeline,
    /// The place of the result.
    pub result: ResultStep,
}

impl ScanPlan {
    /// Plans a scan along an axis for one rank; the values are not empty.
    pub fn new(
        values: &PlanValues,
        (op, axis, dtype): (ReduceOp, usize, DType),
        context: RankContext,
    ) -> Self {
        let current = values.distribution(&context);
        let is_ready =
            is_block_ordered(&current.axes()[axis]) && current.axes().iter().all(is_partition);
        let target = match is_ready {
            true => current,
            false => reduction_distribution(&context.block_distribution(&values.shape), &[axis]),
        };
        let mut row = local_shape(&target, context.rank);
        row[axis] = 1;
        let pipeline = RankPipeline::new(&target, axis, context.rank, (dtype, row));
        let result = result_step(&context, (dtype, &values.shape), target.clone(), 0);
        let shape = values.shape.clone();
        Self { op, dtype, shape, context, values: values.step_to(target), pipeline, result }
    }
}
