//! Plans of reductions, scans and searches over ranks, with the bits of one memory.
//!
//! Each rank reduces its local values. The partial results are reduced in turn if the order does
//! not matter. Partial float sums are combined along NumPy's pairwise trees ([`pairwise`]). Ordered
//! reductions pass accumulators from rank to rank ([`pipeline`]). Values are redistributed only if
//! they are in another order, or if accumulators would pass between ranks too often.

pub(crate) mod argminmax;
pub(crate) mod distribution;
pub(crate) mod explain;
pub(crate) mod pairwise;
pub(crate) mod pipeline;
pub(crate) mod scan;

use dappled_kernels::{DType, DTypeKind, ReduceOp, ReduceRuns};
use dappled_protocol::Distribution;
use dappled_protocol::slice::{KeyItem, SliceKey};

use crate::graph::reduce_request::ReduceRequest;
use crate::plan::values::{
    PlanValues, RankContext, ValueInput, ValuesStep, is_block_ordered, is_partition, local_shape,
};
use crate::view::axis_mapping::AxisMapping;
use distribution::reduction_distribution;
use pairwise::PairwiseSum;
use pipeline::RankPipeline;

/// The steps by which one rank reduces distributed values.
#[derive(Clone, Debug)]
pub struct ReducePlan {
    /// The reduction, with ascending axes.
    pub request: ReduceRequest,
    /// The shape of the values.
    pub shape: Vec<usize>,
    /// The rank that the plan is for.
    pub context: RankContext,
    /// The values that this rank reduces.
    pub values: ValuesStep,
    /// The combination of the partial results of all ranks.
    pub combine: CombineStep,
    /// The place of the result.
    pub result: ResultStep,
}

/// The step that combines the partial results of all ranks.
#[derive(Clone, Debug)]
pub enum CombineStep {
    /// Reduced axes are undistributed: each rank reduces alone.
    Local,
    /// Each rank reduces its values; the partial results are gathered and reduced on every rank.
    Allgather {
        /// The distribution of the partial results.
        partial: Distribution,
    },
    /// Each rank reduces its values; the partial results are redistributed and reduced.
    Redistribute {
        /// The distribution of the partial results.
        partial: Distribution,
        /// The reduction of the partial results.
        last: Box<ReducePlan>,
    },
    /// Accumulators pass from rank to rank along an axis.
    Pipeline(RankPipeline),
    /// Parts of pairwise sums are combined.
    PairwiseTree(PairwiseSum),
}

/// The place of the result of a reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultStep {
    /// Every rank has computed the result.
    Replicated,
    /// The result stays on the ranks that computed it.
    Distributed(Distribution),
    /// The result is gathered on every rank.
    Allgather(Distribution),
}

/// The end of the reduced axes whose owner keeps the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultOwner {
    First,
    Last,
}

impl ReducePlan {
    /// Plans a reduction for one rank; the axes of the values are in memory order.
    pub fn new(values: &PlanValues, request: &ReduceRequest, context: RankContext) -> Self {
        let mut request = request.clone();
        request.axes.sort_unstable();
        let replicated = |request| Self {
            request,
            shape: values.shape.clone(),
            context,
            values: ValuesStep::Gather,
            combine: CombineStep::Local,
            result: ResultStep::Replicated,
        };
        if values.shape.contains(&0) || values.shape.is_empty() {
            return replicated(request);
        }
        let current = values.distribution(&context);
        if let Some(strategy) = strategy_in(&current, values, &request) {
            return Self::with_strategy(values, request, context, (current, strategy));
        }
        let target = reduction_distribution(&current, &request.axes);
        match strategy_in(&target, values, &request) {
            Some(strategy) => Self::with_strategy(values, request, context, (target, strategy)),
            None => replicated(request),
        }
    }

    /// The plan of a strategy in a distribution.
    fn with_strategy(
        values: &PlanValues,
        request: ReduceRequest,
        context: RankContext,
        (target, strategy): (Distribution, Strategy),
    ) -> Self {
        let (axes, dtype) = (&request.axes, request.dtype);
        let results = |owner| {
            let shape = request.reduced_shape(&values.shape);
            let results = result_distribution(&target, axes, owner);
            result_step(&context, (dtype, &shape), results, axes.len())
        };
        let (combine, result) = match strategy {
            Strategy::Local => (CombineStep::Local, results(ResultOwner::First)),
            Strategy::LocalThenCombine => combine_partial_results(&target, &request, context),
            Strategy::Sequential(axis) => {
                let local = request.reduced_shape(&local_shape(&target, context.rank));
                let pipeline = RankPipeline::new(&target, axis, context.rank, (dtype, local));
                (CombineStep::Pipeline(pipeline), results(ResultOwner::Last))
            }
            Strategy::PairwiseParts => {
                let runs = reduce_runs(values, &request);
                let sum = PairwiseSum::new(&target, axes, (&runs, dtype), context.rank);
                (CombineStep::PairwiseTree(sum), results(ResultOwner::First))
            }
        };
        let shape = values.shape.clone();
        let values = values.step_to(target);
        Self { request, shape, context, values, combine, result }
    }
}

/// The steps that reduce one partial result of each rank.
fn combine_partial_results(
    target: &Distribution,
    request: &ReduceRequest,
    context: RankContext,
) -> (CombineStep, ResultStep) {
    let partial = target.one_per_rank(&request.axes);
    let shape: Vec<usize> = partial.shape().iter().map(|&length| length as usize).collect();
    let is_full = request.axes.len() == shape.len();
    if is_full || context.should_replicate(request.dtype, &shape) {
        return (CombineStep::Allgather { partial }, ResultStep::Replicated);
    }
    let input = ValueInput::Distributed {
        base: partial.clone(),
        mapping: Some(AxisMapping::identity(&partial.shape())),
        is_full_view: true,
    };
    let strides = vec![0; shape.len()]; // a local reduction of partial results has no order
    let values = PlanValues { shape, strides, casts: false, inputs: vec![input] };
    let target = reduction_distribution(&partial, &request.axes);
    let last =
        ReducePlan::with_strategy(&values, request.clone(), context, (target, Strategy::Local));
    let result = last.result.clone();
    (CombineStep::Redistribute { partial, last: Box::new(last) }, result)
}

/// The strategies to reduce distributed values.
enum Strategy {
    /// Reduced axes are undistributed: each rank reduces alone.
    Local,
    /// Each rank reduces its values, then the partial results are reduced.
    LocalThenCombine,
    /// Accumulators pass from rank to rank along this axis.
    Sequential(usize),
    /// Parts of pairwise sums are combined.
    PairwiseParts,
}

/// The strategy that works in a distribution, if there is one.
fn strategy_in(
    distribution: &Distribution,
    values: &PlanValues,
    request: &ReduceRequest,
) -> Option<Strategy> {
    let ReduceRequest { fold, axes, dtype, .. } = request;
    let map = |axis: usize| &distribution.axes()[axis];
    let mut distributed_axes = axes.iter().copied().filter(|&axis| map(axis).grid() > 1);
    let (first, has_more) = (distributed_axes.next(), distributed_axes.next().is_some());
    // The order matters for complex NaNs and for zeros of both signs: the first one is kept.
    if request.is_exact() && dtype.kind() != DTypeKind::Complex {
        let are_partitions = axes.iter().all(|&axis| is_partition(map(axis)));
        return are_partitions.then_some(if first.is_some() {
            Strategy::LocalThenCombine
        } else {
            Strategy::Local
        });
    }
    if !axes.iter().all(|&axis| is_block_ordered(map(axis))) {
        return None;
    }
    let Some(first) = first else { return Some(Strategy::Local) };
    let runs = reduce_runs(values, request);
    let is_sequential =
        request.is_exact() || (*fold == ReduceOp::Multiply && *dtype != DType::Float16);
    let is_outermost = !axes.iter().any(|&axis| axis < first && values.shape[axis] > 1);
    if !has_more && is_outermost && (is_sequential || !runs.spans_axis(first)) {
        return Some(Strategy::Sequential(first));
    }
    let is_tree = *fold == ReduceOp::Add && request.initial.is_some() && !runs.by_rows;
    is_tree.then_some(Strategy::PairwiseParts)
}

/// The runs of values that NumPy reduces at a time.
fn reduce_runs(values: &PlanValues, request: &ReduceRequest) -> ReduceRuns {
    let itemsize = request.dtype.itemsize();
    ReduceRuns::new(&values.shape, &values.strides, &request.axes, itemsize, values.casts)
}

/// The distribution of results that are kept by the owners of the first or the last values.
pub(crate) fn result_distribution(
    target: &Distribution,
    axes: &[usize],
    owner: ResultOwner,
) -> Distribution {
    let item = |axis: usize| match axes.contains(&axis) {
        true if owner == ResultOwner::First => KeyItem::Slice(Some(0), Some(1), None),
        true => KeyItem::Slice(Some(-1), None, None),
        false => KeyItem::Slice(None, None, None),
    };
    let items: Vec<KeyItem> = (0..target.axes().len()).map(item).collect();
    let key = SliceKey::new(&items, &target.shape()).expect("an item for each axis");
    target.slice(&key).expect("the labels were checked by the redistribution")
}

/// The place of distributed results; gathered if they are small or all axes were reduced.
pub(crate) fn result_step(
    context: &RankContext,
    (dtype, shape): (DType, &[usize]),
    results: Distribution,
    reduced_axes: usize,
) -> ResultStep {
    match reduced_axes == shape.len() || context.should_replicate(dtype, shape) {
        true => ResultStep::Allgather(results),
        false => ResultStep::Distributed(results),
    }
}
