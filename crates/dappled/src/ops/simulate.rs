//! Estimates of the messages and the memory of an evaluation on any number of ranks.

use std::fmt::Write;
use std::sync::Arc;

use dappled_kernels::View;
use dappled_protocol::{Distribution, Held, Padding, Spec};

use super::index_arrays::row_blocks;
use crate::array::Array;
use crate::array::node::{Node, NodeState};
use crate::config::MAX_LISTED_NEIGHBOURS;
use crate::error::Result;
use crate::graph::fusion::fuse_elementwise;
use crate::graph::reduce_request::ReduceRequest;
use crate::plan::estimate::PlanEstimate;
use crate::plan::explain::{describe_distribution, tuple};
use crate::plan::mask::MaskedReducePlan;
use crate::plan::operand::PlanOperand;
use crate::plan::plan_with_shared_bases;
use crate::plan::rows::{PutPlan, RowBlocks, TakePlan};
use crate::plan::values::{PlanValues, RankContext, ValueInput, ValuesStep};
use crate::run::distributed;
use crate::run::reduce::ReduceInput;
use crate::session::Session;
use crate::view::axis_mapping;

impl Array {
    /// Describes the messages and the memory of one rank among `ranks` in the evaluation of this
    /// array.
    ///
    /// The rank is in the middle of the process grid, where ranks have the most neighbours. Arrays
    /// are distributed as they would be on that many ranks.
    pub fn explain_on(&self, ranks: u64) -> Result<String> {
        let (session, node) = (self.session(), self.storage.current());
        let target = distribution_on_ranks(session, &node, ranks);
        let rank = middle_rank(&target);
        let mut text = format!(
            "{} {:?}, {}",
            node.base.dtype,
            node.base.shape,
            describe_distribution(&target)
        );
        let piece = local_bytes_on(&target, rank, node.base.dtype.itemsize());
        let NodeState::Elementwise(op) = node.state() else {
            let kind = match node.state() {
                NodeState::Full(_) => "filled with one value",
                NodeState::Deferred(value) => value.description(),
                _ => "stored",
            };
            let _ = writeln!(text, ": {kind}\nrank {rank}: memory {piece} bytes");
            return Ok(text);
        };
        let fused = fuse_elementwise(&node, &op, false);
        text.push_str(": pending\n");
        let itemsize = node.base.dtype.itemsize();
        let at = (rank, Some(ranks));
        text.push_str(&assignment_text(session, &fused.inputs, (&target, itemsize), at)?);
        Ok(text)
    }
}

impl Session {
    /// Records the plan of an operation on these values, if plans are recorded.
    ///
    /// `make_plan` returns the text of a plan and how it obtains the values.
    pub(crate) fn record_plan(
        &self,
        label: &str,
        values: &ReduceInput,
        make_plan: impl FnOnce(&PlanValues, RankContext) -> (String, ValuesStep),
    ) -> Result<()> {
        if !self.plan_log().is_recording() {
            return Ok(());
        }
        let (plan_values, context) = self.values_on_ranks(values);
        let is_replicated = |input: &ValueInput| matches!(input, ValueInput::Replicated);
        if plan_values.inputs.iter().all(is_replicated) {
            let (dtype, shape) = (values.dtype(), tuple(&values.shape));
            self.plan_log().append(&format!("{label} of {dtype} {shape}: local on every rank\n"));
            return Ok(());
        }
        let (mut text, step) = make_plan(&plan_values, context);
        if let ValuesStep::Redistribute(target) = step {
            let at = (context.rank, self.plan_log().ranks());
            let itemsize = values.dtype().itemsize();
            text.push_str("redistribution: ");
            text.push_str(&assignment_text(self, &values.fused.inputs, (&target, itemsize), at)?);
        }
        self.plan_log().append(&text);
        Ok(())
    }

    /// Records the plan of a reduction of selected elements, if plans are recorded.
    ///
    /// For other ranks than those that run, the elements are taken to be selected evenly.
    pub(crate) fn record_masked_plan(&self, request: &ReduceRequest, plan: &MaskedReducePlan) {
        if !self.plan_log().is_recording() {
            return;
        }
        let text = match self.plan_log().ranks() {
            None => plan.to_string(),
            Some(ranks) => {
                let context = RankContext { rank: ranks / 2, ranks, ..plan.context };
                let bounds = (0..=ranks).map(|rank| plan.total() * rank / ranks).collect();
                let simulated = MaskedReducePlan::new(request, bounds, context);
                let compact = "compact the selected elements, then reduce them\n";
                simulated.map_or(compact.to_string(), |plan| plan.to_string())
            }
        };
        self.plan_log().append(&text);
    }

    /// The values as recorded plans see them, and the rank to plan for: this one, or one in the
    /// middle of a simulated process grid.
    pub(crate) fn values_on_ranks(&self, values: &ReduceInput) -> (PlanValues, RankContext) {
        let ranks = self.plan_log().ranks();
        let mut plan_values = values.plan_values();
        let inputs = values.fused.inputs.iter();
        let inputs = inputs.map(|input| (input, distribution_on(self, &input.0, ranks)));
        let input = |((node, view), base): (&(Arc<Node>, View), Distribution)| match base.held()
            == Held::All
            || base.nprocs() == 1
        {
            true => ValueInput::Replicated,
            false => ValueInput::Distributed {
                base,
                mapping: axis_mapping(view, &node.base),
                is_full_view: *view == node.base,
            },
        };
        plan_values.inputs = inputs.map(input).collect();
        let mut context = self.rank_context();
        if let Some(ranks) = ranks {
            context = RankContext { rank: 0, ranks, ..context };
            context.rank = middle_rank(&plan_values.distribution(&context));
        }
        (plan_values, context)
    }
}

impl Array {
    /// Records the plan of a take of rows for a number of ranks that does not run.
    pub(crate) fn record_take(&self, count: usize) {
        self.record_rows(count, |rows, count, context| {
            TakePlan::new(rows, count, count, context).to_string()
        });
    }

    /// Records the plan of a put of rows for a number of ranks that does not run.
    pub(crate) fn record_put(&self, count: usize) {
        self.record_rows(count, |rows, count, context| {
            PutPlan { rows, count, sends_rows: true, context }.to_string()
        });
    }

    /// Records a plan that takes or puts an equal number of rows on each rank.
    fn record_rows(
        &self,
        count: usize,
        plan: impl FnOnce(RowBlocks, usize, RankContext) -> String,
    ) {
        let log = self.session().plan_log();
        if !log.is_recording() {
            return;
        }
        let Some(ranks) = log.ranks() else { return };
        let context = RankContext { rank: ranks / 2, ranks, ..self.session().rank_context() };
        let width = self.shape()[1..].iter().product::<usize>() * self.dtype().itemsize();
        let rows = RowBlocks::new(&row_blocks(self.shape(), ranks), width);
        log.append(&plan(rows, count.div_ceil(ranks as usize), context));
    }
}

/// The messages and the memory of an assignment from views of arrays, as text.
fn assignment_text(
    session: &Session,
    reads: &[(Arc<Node>, View)],
    (target, itemsize): (&Distribution, usize),
    (rank, ranks): (u64, Option<u64>),
) -> Result<String> {
    let mut text = String::new();
    let inputs = reads.iter().map(|input| input_on_ranks(session, input, ranks));
    let inputs: Vec<(Distribution, Option<PlanOperand>)> = inputs.collect::<Result<_, _>>()?;
    let arrays = local_bytes_on(target, rank, itemsize) + input_bytes(reads, &inputs, rank);
    if inputs.iter().any(|(_, operand)| operand.is_none()) {
        text.push_str("inputs that are reshaped or diagonal are redistributed first; their cost is not included\n");
    }
    let aligned = reads.iter().zip(&inputs).filter(|(_, input)| input.1.is_some());
    let aligned: Vec<(Arc<Node>, View)> = aligned.map(|(input, _)| input.clone()).collect();
    let sizes: Vec<usize> = aligned.iter().map(|(_, view)| view.dtype.itemsize()).collect();
    let operands: Vec<PlanOperand> =
        inputs.into_iter().filter_map(|(_, operand)| operand).collect();
    let bases = distributed::base_indices(&aligned);
    let plan = plan_with_shared_bases(&PlanOperand::full_view(target)?, &operands, &bases, rank)?;
    let estimate = PlanEstimate::new(&plan, &sizes, itemsize);
    write_estimate(&mut text, rank, &estimate, arrays);
    Ok(text)
}

fn write_estimate(text: &mut String, rank: u64, estimate: &PlanEstimate, arrays: u64) {
    let PlanEstimate { neighbours, sent, received, .. } = estimate;
    let listed: Vec<String> =
        neighbours.iter().take(MAX_LISTED_NEIGHBOURS).map(u64::to_string).collect();
    let more = if neighbours.len() > MAX_LISTED_NEIGHBOURS { ", …" } else { "" };
    let count = neighbours.len();
    let _ = writeln!(text, "rank {rank}: {count} neighbours ({}{more})", listed.join(", "));
    let _ = writeln!(text, "sends {} messages, {} bytes in total", sent.0, sent.1);
    let _ = writeln!(text, "receives {} messages, {} bytes in total", received.0, received.1);
    let temporary = estimate.temporary_bytes();
    let _ = writeln!(
        text,
        "memory {} bytes: {arrays} in arrays, {temporary} temporary",
        arrays + temporary
    );
}

/// The distribution of an input on this many ranks, and the operand that reads it.
///
/// The operand is `None` if the view does not follow the axes of its base.
fn input_on_ranks(
    session: &Session,
    (node, view): &(Arc<Node>, View),
    ranks: Option<u64>,
) -> Result<(Distribution, Option<PlanOperand>)> {
    let base = distribution_on(session, node, ranks);
    let operand = axis_mapping(view, &node.base).map(|mapping| PlanOperand::new(&base, mapping));
    Ok((base, operand.transpose()?))
}

/// The bytes of a rank's local pieces of the inputs; each array counts once.
fn input_bytes(
    reads: &[(Arc<Node>, View)],
    inputs: &[(Distribution, Option<PlanOperand>)],
    rank: u64,
) -> u64 {
    let mut counted: Vec<&Arc<Node>> = Vec::new();
    let mut bytes = 0;
    for ((node, _), (base, _)) in reads.iter().zip(inputs) {
        if !counted.iter().any(|other| Arc::ptr_eq(other, node)) {
            bytes += local_bytes_on(base, rank, node.base.dtype.itemsize());
            counted.push(node);
        }
    }
    bytes
}

fn local_bytes_on(distribution: &Distribution, rank: u64, itemsize: usize) -> u64 {
    distribution.local_shape(rank).iter().product::<u64>() * itemsize as u64
}

/// The rank in the middle of the process grid.
fn middle_rank(distribution: &Distribution) -> u64 {
    let coords: Vec<u64> = distribution.grid_shape().iter().map(|ranks| ranks / 2).collect();
    distribution.rank(&coords)
}

/// The distribution of an array, or that which it would have on another number of ranks.
fn distribution_on(session: &Session, node: &Node, ranks: Option<u64>) -> Distribution {
    match ranks {
        Some(ranks) => distribution_on_ranks(session, node, ranks),
        None => distributed::node_distribution(session, node),
    }
}

/// The distribution that an array would have on this many ranks.
///
/// A distributed array keeps its kinds of axes. A replicated array is distributed unless it is
/// small.
fn distribution_on_ranks(session: &Session, node: &Node, ranks: u64) -> Distribution {
    let current = distributed::node_distribution(session, node);
    let bytes = node.base.len() * node.base.dtype.itemsize();
    let spec = Distribution::spec(&current.shape()).nprocs(ranks);
    let is_small = bytes < session.limits().replicate_below;
    if node.placement.is_replicated() && (is_small || current.shape().is_empty()) {
        let kinds = "n".repeat(current.shape().len());
        return spec
            .dist(&kinds)
            .build()
            .expect("a replicated distribution is valid for any shape");
    }
    let scaled = (!node.placement.is_replicated()).then(|| current.to_spec()).flatten();
    let scaled = scaled.and_then(|current| respecify(current, ranks).build().ok());
    scaled.unwrap_or_else(|| {
        spec.build().expect("blocks are valid for any shape and number of ranks")
    })
}

/// Distributes the axes by their kinds on another number of ranks; drops bounds and index lists.
fn respecify(mut spec: Spec, ranks: u64) -> Spec {
    for axis in &mut spec.axes {
        (axis.grid, axis.bounds, axis.indices) = (None, None, None);
        axis.kind = axis.kind.map(|kind| if kind == 'u' { 'b' } else { kind });
        axis.one_to_one = false;
        if let Some(Padding::Edges(widths)) = &axis.padding {
            axis.padding = widths.iter().max().map(|&width| Padding::Uniform(width));
        }
    }
    spec.nprocs = Some(ranks);
    spec
}
