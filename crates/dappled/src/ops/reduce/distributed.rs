//! Reductions of distributed arrays, with the bits of a reduction in one memory.
//!
//! Each rank reduces its local values. The partial results are reduced in turn if the order does
//! not matter. Partial float sums are combined along NumPy's pairwise trees ([`super::pairwise`]).
//! Ordered reductions pass accumulators from rank to rank ([`super::sequential`]). Values are
//! redistributed only if they are in another order, or if accumulators would pass between ranks too
//! often.

use dappled_fabric::Tag;
use dappled_kernels::element::f16;
use dappled_kernels::{Buffer, DType, DTypeKind, ReduceOp, ReduceRuns, View};
use dappled_protocol::Distribution;
use dappled_protocol::slice::{KeyItem, SliceKey};
use num_complex::{Complex32, Complex64};

use super::local_block::{
    is_block_ordered, is_partition, local_shape, local_values, values_distribution,
};
use super::pairwise::pairwise_sum;
use super::sequential;
use super::{ReduceInput, ReduceRequest, reduce_local};
use crate::array::Array;
use crate::array::node::{Node, NodeInput, NodeState};
use crate::array::placement::Placement;
use crate::error::Result;
use crate::graph::fusion::fuse;
use crate::plan::reduce::reduction_distribution;
use crate::run::distributed::materialize_program;
use crate::run::evaluate::materialize;
use crate::session::Session;

/// The strategies to reduce distributed values.
enum ReduceStrategy {
    /// Reduced axes are undistributed: each rank reduces alone.
    Local,
    /// Each rank reduces its values, then the partial results are reduced.
    LocalThenCombine,
    /// Accumulators pass from rank to rank along this axis.
    Sequential(usize),
    /// Parts of pairwise sums are combined.
    PairwiseParts,
    /// Each rank gathers and reduces all values.
    Replicated,
}

/// Reduces values with distributed inputs; the axes are in memory order. Collective.
///
/// The reduction was logged under `tag`.
pub(crate) fn reduce_distributed(
    session: &Session,
    values: ReduceInput,
    request: &ReduceRequest,
    tag: Tag,
) -> Result<Array> {
    if values.shape.contains(&0) || values.shape.is_empty() {
        return reduce_replicated(session, values, request);
    }
    let mut request = request.clone();
    request.axes.sort_unstable();
    let request = &request;
    let (target, strategy) =
        choose_strategy(values_distribution(session, &values), &values, request);
    match strategy {
        ReduceStrategy::Local => reduce_aligned(session, values, request, &target),
        ReduceStrategy::LocalThenCombine => reduce_then_combine(session, values, request, &target),
        ReduceStrategy::Sequential(axis) => {
            sequential::reduce_sequential(session, values, request, (&target, axis), tag)
        }
        ReduceStrategy::PairwiseParts => reduce_pairwise(session, values, request, &target, tag),
        ReduceStrategy::Replicated => reduce_replicated(session, values, request),
    }
}

/// The strategy, and the distribution that it needs: the current one if possible.
fn choose_strategy(
    current: Distribution,
    values: &ReduceInput,
    request: &ReduceRequest,
) -> (Distribution, ReduceStrategy) {
    if let Some(strategy) = strategy_in(&current, values, request) {
        return (current, strategy);
    }
    let target = reduction_distribution(&current, &request.axes);
    let strategy = strategy_in(&target, values, request).unwrap_or(ReduceStrategy::Replicated);
    (target, strategy)
}

/// The strategy that works in a distribution, if there is one.
fn strategy_in(
    distribution: &Distribution,
    values: &ReduceInput,
    request: &ReduceRequest,
) -> Option<ReduceStrategy> {
    let ReduceRequest { fold, axes, dtype, .. } = request;
    let map = |axis: usize| &distribution.axes()[axis];
    let mut distributed_axes = axes.iter().copied().filter(|&axis| map(axis).grid() > 1);
    let (first, has_more) = (distributed_axes.next(), distributed_axes.next().is_some());
    let is_exact = dtype.is_integral() || !matches!(fold, ReduceOp::Add | ReduceOp::Multiply);
    // The order matters for complex NaNs and for zeros of both signs: the first one is kept.
    if is_exact && dtype.kind() != DTypeKind::Complex {
        let are_partitions = axes.iter().all(|&axis| is_partition(map(axis)));
        return are_partitions.then_some(if first.is_some() {
            ReduceStrategy::LocalThenCombine
        } else {
            ReduceStrategy::Local
        });
    }
    if !axes.iter().all(|&axis| is_block_ordered(map(axis))) {
        return None;
    }
    let Some(first) = first else { return Some(ReduceStrategy::Local) };
    let itemsize = dtype.itemsize();
    let runs = ReduceRuns::new(&values.shape, &values.strides, axes, itemsize, values.casts);
    let is_sequential = is_exact || (*fold == ReduceOp::Multiply && *dtype != DType::Float16);
    let is_outermost = !axes.iter().any(|&axis| axis < first && values.shape[axis] > 1);
    if !has_more && is_outermost && (is_sequential || !runs.spans_axis(first)) {
        return Some(ReduceStrategy::Sequential(first));
    }
    let is_tree = *fold == ReduceOp::Add && request.initial.is_some() && !runs.by_rows;
    is_tree.then_some(ReduceStrategy::PairwiseParts)
}

/// Combines parts of pairwise sums, in the dtype of NumPy's accumulator.
fn reduce_pairwise(
    session: &Session,
    values: ReduceInput,
    request: &ReduceRequest,
    target: &Distribution,
    tag: Tag,
) -> Result<Array> {
    let context = (target, tag);
    match request.dtype {
        DType::Float16 => {
            let add_half = |acc: f16, sum: f32| f16::from_f32(acc.to_f32() + sum);
            pairwise_sum(session, values, request, context, add_half)
        }
        DType::Float32 => {
            pairwise_sum(session, values, request, context, |acc: f32, sum: f32| acc + sum)
        }
        DType::Float64 => {
            pairwise_sum(session, values, request, context, |acc: f64, sum: f64| acc + sum)
        }
        DType::Complex64 => {
            pairwise_sum(session, values, request, context, |acc: Complex32, sum: Complex32| {
                acc + sum
            })
        }
        _ => pairwise_sum(session, values, request, context, |acc: Complex64, sum: Complex64| {
            acc + sum
        }),
    }
}

/// Gathers all values on every rank and reduces them there.
fn reduce_replicated(
    session: &Session,
    values: ReduceInput,
    request: &ReduceRequest,
) -> Result<Array> {
    let (dtype, shape) = (request.dtype, values.shape.clone());
    let base = View::c_order(dtype, &shape);
    let node = materialize_program(session, &values.fused, base.clone(), Placement::Replicated)?;
    let values = ReduceInput { fused: fuse(&NodeInput::Array(node, base), dtype), ..values };
    reduce_local(session, &values, request, &shape)
}

/// Reduces values whose reduced axes are undistributed in the target distribution.
fn reduce_aligned(
    session: &Session,
    values: ReduceInput,
    request: &ReduceRequest,
    target: &Distribution,
) -> Result<Array> {
    let shape = request.reduced_shape(&values.shape);
    let values = local_values(session, values, target)?;
    let result =
        reduce_local(session, &values, request, &local_shape(target, session.fabric().rank()))?;
    let memory = materialize(session, &result.storage.current())?;
    let results = result_distribution(target, &request.axes, ResultOwner::First);
    distributed_result(
        session,
        View::c_order(request.dtype, &shape),
        results,
        memory,
        request.axes.len(),
    )
}

/// The end of the reduced axes whose owner keeps the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultOwner {
    First,
    Last,
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

/// An array of distributed results; gathered if they are small or all axes were reduced.
pub(crate) fn distributed_result(
    session: &Session,
    base: View,
    distribution: Distribution,
    memory: Buffer,
    reduced_axes: usize,
) -> Result<Array> {
    let is_small = session.default_placement(base.dtype, &base.shape).is_replicated()
        || reduced_axes == base.shape.len();
    let placement = Placement::distributed(distribution, base.dtype, session.fabric().rank());
    let array =
        Array::from_node(session, Node::new(session, base, placement, NodeState::Stored(memory)));
    if !is_small {
        return Ok(array);
    }
    let gathered = array.gather()?;
    session.subtract_gathered(gathered.view().len() * gathered.dtype().itemsize());
    Ok(gathered)
}

/// Reduces the local values of each rank, then the partial results; the order must not matter.
fn reduce_then_combine(
    session: &Session,
    values: ReduceInput,
    request: &ReduceRequest,
    target: &Distribution,
) -> Result<Array> {
    let local = local_shape(target, session.fabric().rank());
    let values = local_values(session, values, target)?;
    let values = ReduceInput { shape: local.clone(), ..values };
    let partial = target.one_per_rank(&request.axes);
    let shape: Vec<usize> = partial.shape().iter().map(|&length| length as usize).collect();
    let memory = match local.contains(&0) {
        true => Buffer::zeroed(0),
        false => {
            let initial = request.fold.identity(request.dtype);
            let inner = ReduceRequest { initial, reports_flags: false, ..request.clone() };
            let result = reduce_local(session, &values, &inner, &local)?;
            materialize(session, &result.storage.current())?
        }
    };
    let base = View::c_order(request.dtype, &shape);
    let results =
        distributed_result(session, base.clone(), partial.clone(), memory, request.axes.len())?;
    let last = ReduceRequest { reports_flags: false, ..request.clone() };
    if results.is_replicated() {
        return results.reduce(&last);
    }
    let fused = fuse(&results.input(), request.dtype);
    let values = ReduceInput { fused, shape, strides: base.strides.to_vec(), casts: false };
    reduce_aligned(session, values, &last, &reduction_distribution(&partial, &request.axes))
}
