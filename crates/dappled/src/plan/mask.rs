//! Plans of selections by a boolean mask, and of reductions of the selected elements.

use std::fmt;

use dappled_kernels::tree::TreePart;
use dappled_kernels::{DType, DTypeKind, ReduceOp};
use dappled_protocol::{Distribution, Held};

use super::explain::tuple;
use super::reduce::explain::write_values;
use super::reduce::pairwise::tree_parts;
use super::values::{PlanValues, RankContext, ValuesStep, is_block_ordered, local_shape};
use crate::graph::reduce_request::ReduceRequest;

/// The steps by which one rank selects elements of a distributed array by a mask.
///
/// The number of selected elements depends on values: the plan has its bound.
#[derive(Clone, Debug)]
pub struct MaskPlan {
    /// The dtype of the elements.
    pub dtype: DType,
    /// The shape of the array.
    pub shape: Vec<usize>,
    /// The rank that the plan is for.
    pub context: RankContext,
    /// The elements of the mask that this rank evaluates.
    pub mask: ValuesStep,
    /// The elements that this rank selects from.
    pub values: ValuesStep,
}

impl MaskPlan {
    /// Plans a selection for one rank; `None` if the array is not one axis in ascending blocks.
    pub fn new(
        array: &Distribution,
        mask: &PlanValues,
        (values, dtype): (&PlanValues, DType),
        context: RankContext,
    ) -> Option<Self> {
        let is_row = matches!(array.axes(), [map] if is_block_ordered(map));
        (is_row && array.held() == Held::Grid).then(|| Self {
            dtype,
            shape: values.shape.clone(),
            context,
            mask: mask.step_to(array.clone()),
            values: values.step_to(array.clone()),
        })
    }
}

impl fmt::Display for MaskPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dtype, shape, context, .. } = self;
        writeln!(out, "mask selection of {dtype} {}, {context}", tuple(shape))?;
        write_values(out, &self.mask, shape, context)?;
        writeln!(out, "evaluate the mask: one bit for each element")?;
        writeln!(out, "allgather the number of selected elements, 8 bytes")?;
        write_values(out, &self.values, shape, context)?;
        let target = self.values.distribution().expect("a selection never gathers its values");
        let most = local_shape(target, context.rank).iter().product::<usize>();
        writeln!(out, "selected elements: number by value, at most {most} of this rank")?;
        writeln!(out, "when they are read: compact them, redistribute them in blocks")
    }
}

/// The steps by which one rank reduces elements that a mask selected.
#[derive(Clone, Debug)]
pub struct MaskedReducePlan {
    /// The operation.
    pub op: ReduceOp,
    /// The dtype of the accumulator.
    pub dtype: DType,
    /// The number of elements selected on all lower ranks, for each rank, and the total.
    pub bounds: Vec<u64>,
    /// The rank that the plan is for.
    pub context: RankContext,
    /// The combination of the partial results.
    pub combine: MaskedCombineStep,
}

/// The step that combines the partial results of selected elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskedCombineStep {
    /// One rank reduces alone.
    Local,
    /// The partial results of all ranks are gathered and reduced on every rank.
    Allgather,
    /// The parts of a pairwise sum are gathered and combined on every rank.
    PairwiseTree,
}

impl MaskedReducePlan {
    /// Plans a reduction of selected elements; `None` if they must be compacted first.
    pub fn new(request: &ReduceRequest, bounds: Vec<u64>, context: RankContext) -> Option<Self> {
        let (op, dtype) = (request.fold, request.dtype);
        let combine = match dtype {
            _ if context.ranks == 1 => MaskedCombineStep::Local,
            _ if request.is_exact() && dtype.kind() != DTypeKind::Complex => {
                MaskedCombineStep::Allgather
            }
            _ if op != ReduceOp::Add || dtype == DType::Float16 => return None,
            _ => MaskedCombineStep::PairwiseTree,
        };
        Some(Self { op, dtype, bounds, context, combine })
    }

    /// The number of elements selected on all ranks.
    pub fn total(&self) -> u64 {
        self.bounds[self.bounds.len() - 1]
    }

    /// The parts of the pairwise sum that a rank owns.
    pub fn tree_parts(&self, rank: u64) -> Vec<TreePart> {
        let rank = rank as usize;
        tree_parts(self.dtype, self.total(), self.bounds[rank]..self.bounds[rank + 1])
    }
}

impl fmt::Display for MaskedReducePlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, dtype, context, .. } = self;
        writeln!(out, "{op} of {} selected elements of {dtype}, {context}", self.total())?;
        let own = self.bounds.windows(2).nth(context.rank as usize);
        let own = own.map_or(self.total(), |bounds| bounds[1] - bounds[0]);
        writeln!(out, "read {own} selected elements in place")?;
        match self.combine {
            MaskedCombineStep::Local => {}
            MaskedCombineStep::Allgather => {
                let bytes = dtype.itemsize();
                writeln!(out, "allgather partial results, {bytes} bytes of each rank")?;
            }
            MaskedCombineStep::PairwiseTree => {
                let count: u64 =
                    self.tree_parts(context.rank).iter().map(|part| part.count()).sum();
                let bytes = 1 + count * dtype.itemsize() as u64;
                writeln!(out, "allgather parts of the pairwise tree, {bytes} bytes of this rank")?;
            }
        }
        writeln!(out, "result on every rank")
    }
}

/// The distribution of selected elements, each on the rank of its source.
pub(crate) fn selected_distribution(bounds: &[u64]) -> Distribution {
    let ranks = bounds.len() as u64 - 1;
    let mut spec = Distribution::spec(&[bounds[bounds.len() - 1]]).dist("b").nprocs(ranks);
    spec.axes[0].bounds = Some(bounds.to_vec());
    spec.build().expect("bounds ascend and there is one for each rank")
}
