//! Runs the plans of reductions over ranks.

use dappled_fabric::Tag;
use dappled_kernels::{Buffer, View};
use dappled_protocol::Distribution;

use super::local_values::local_values;
use super::pairwise::reduce_pairwise;
use super::pipeline::reduce_sequential;
use super::{ReduceInput, reduce_local};
use crate::array::Array;
use crate::array::node::{Node, NodeState};
use crate::array::placement::Placement;
use crate::error::Result;
use crate::graph::reduce_request::ReduceRequest;
use crate::plan::reduce::{CombineStep, ReducePlan, ResultStep};
use crate::plan::values::local_shape;
use crate::run::evaluate::materialize;
use crate::session::Session;

/// Runs the plan of a reduction, which was logged under `tag`. Collective.
pub(crate) fn run_reduce(
    session: &Session,
    values: ReduceInput,
    plan: &ReducePlan,
    tag: Tag,
) -> Result<Array> {
    match &plan.combine {
        CombineStep::Local => run_local(session, values, plan),
        CombineStep::Allgather { partial } => {
            let results = partial_results(session, values, plan, partial)?.gather_result()?;
            let last = ReduceRequest { reports_flags: false, ..plan.request.clone() };
            let values = ReduceInput::new(&results, last.dtype)?;
            reduce_local(session, &values, &last, results.shape())
        }
        CombineStep::Redistribute { partial, last } => {
            let results = partial_results(session, values, plan, partial)?;
            run_local(session, ReduceInput::new(&results, last.request.dtype)?, last)
        }
        CombineStep::Pipeline(pipeline) => reduce_sequential(session, values, plan, pipeline, tag),
        CombineStep::PairwiseTree(sum) => reduce_pairwise(session, values, plan, sum, tag),
    }
}

/// Reduces values whose reduced axes are undistributed.
fn run_local(session: &Session, values: ReduceInput, plan: &ReducePlan) -> Result<Array> {
    let request = &plan.request;
    let values = local_values(session, values, &plan.values)?;
    let Some(target) = plan.values.distribution() else {
        return reduce_local(session, &values, request, &plan.shape);
    };
    let result = reduce_local(session, &values, request, &local_shape(target, plan.context.rank))?;
    let memory = materialize(session, &result.storage.current())?;
    let base = View::c_order(request.dtype, &request.reduced_shape(&plan.shape));
    place_result(session, base, &plan.result, memory)
}

/// Reduces the local values of each rank: one partial result per rank and accumulator.
fn partial_results(
    session: &Session,
    values: ReduceInput,
    plan: &ReducePlan,
    partial: &Distribution,
) -> Result<Array> {
    let target = plan.values.distribution().expect("partial results are of local values");
    let local = local_shape(target, plan.context.rank);
    let values = local_values(session, values, &plan.values)?;
    let values = ReduceInput { shape: local.clone(), ..values };
    let request = &plan.request;
    let memory = match local.contains(&0) {
        true => Buffer::zeroed(0),
        false => {
            let initial = request.fold.identity(request.dtype);
            let inner = ReduceRequest { initial, reports_flags: false, ..request.clone() };
            let result = reduce_local(session, &values, &inner, &local)?;
            materialize(session, &result.storage.current())?
        }
    };
    let shape: Vec<usize> = partial.shape().iter().map(|&length| length as usize).collect();
    let base = View::c_order(request.dtype, &shape);
    Ok(stored_in(session, base, partial, memory))
}

/// An array of results in the place that a plan says. Collective.
pub(crate) fn place_result(
    session: &Session,
    base: View,
    result: &ResultStep,
    memory: Buffer,
) -> Result<Array> {
    match result {
        ResultStep::Replicated => Ok(Array::replicated(session, base, memory)),
        ResultStep::Distributed(results) => Ok(stored_in(session, base, results, memory)),
        ResultStep::Allgather(results) => stored_in(session, base, results, memory).gather_result(),
    }
}

/// An array of which this rank stores a piece.
fn stored_in(session: &Session, base: View, distribution: &Distribution, memory: Buffer) -> Array {
    let rank = session.fabric().rank();
    let placement = Placement::distributed(distribution.clone(), base.dtype, rank);
    Array::from_node(session, Node::new(session, base, placement, NodeState::Stored(memory)))
}

impl Array {
    /// Gathers a small result; it does not count as a gathered array. Collective.
    fn gather_result(self) -> Result<Array> {
        let gathered = self.gather()?;
        self.session().subtract_gathered(gathered.view().len() * gathered.dtype().itemsize());
        Ok(gathered)
    }
}
