//! Estimates of the messages and the memory of an evaluation on any number of ranks.

use std::fmt::Write;
use std::sync::Arc;

use dappled_kernels::View;
use dappled_protocol::{Distribution, Padding, Spec};

use crate::array::Array;
use crate::array::node::{Node, NodeState};
use crate::config::MAX_LISTED_NEIGHBOURS;
use crate::error::Result;
use crate::graph::fusion::{FusedProgram, fuse_elementwise};
use crate::plan::estimate::PlanEstimate;
use crate::plan::operand::PlanOperand;
use crate::plan::plan_with_shared_bases;
use crate::run::distributed;
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
        let inputs = fused.inputs.iter().map(|input| input_on_ranks(session, input, ranks));
        let inputs: Vec<(Distribution, Option<PlanOperand>)> = inputs.collect::<Result<_, _>>()?;
        let read = input_bytes(&fused, &inputs, rank);
        if inputs.iter().any(|(_, operand)| operand.is_none()) {
            text.push_str("inputs that are reshaped or diagonal are redistributed first; their cost is not included\n");
        }
        let aligned = fused.inputs.iter().zip(&inputs).filter(|(_, input)| input.1.is_some());
        let aligned: Vec<(Arc<Node>, View)> = aligned.map(|(input, _)| input.clone()).collect();
        let sizes: Vec<usize> = aligned.iter().map(|(_, view)| view.dtype.itemsize()).collect();
        let operands: Vec<PlanOperand> =
            inputs.into_iter().filter_map(|(_, operand)| operand).collect();
        let bases = distributed::base_indices(&aligned);
        let plan =
            plan_with_shared_bases(&PlanOperand::full_view(&target)?, &operands, &bases, rank)?;
        let estimate = PlanEstimate::new(&plan, &sizes, node.base.dtype.itemsize());
        write_estimate(&mut text, rank, &estimate, piece + read);
        Ok(text)
    }
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
    ranks: u64,
) -> Result<(Distribution, Option<PlanOperand>)> {
    let base = distribution_on_ranks(session, node, ranks);
    let operand = axis_mapping(view, &node.base).map(|mapping| PlanOperand::new(&base, mapping));
    Ok((base, operand.transpose()?))
}

/// The bytes of a rank's local pieces of the inputs; each array counts once.
fn input_bytes(
    fused: &FusedProgram,
    inputs: &[(Distribution, Option<PlanOperand>)],
    rank: u64,
) -> u64 {
    let mut counted: Vec<&Arc<Node>> = Vec::new();
    let mut bytes = 0;
    for ((node, _), (base, _)) in fused.inputs.iter().zip(inputs) {
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

fn describe_distribution(distribution: &Distribution) -> String {
    match distribution.held() {
        dappled_protocol::Held::All => "replicated on every rank".to_string(),
        _ => format!(
            "'{}' over {} ranks as {:?}",
            distribution.dist(),
            distribution.nprocs(),
            distribution.grid_shape()
        ),
    }
}

/// The rank in the middle of the process grid.
fn middle_rank(distribution: &Distribution) -> u64 {
    let coords: Vec<u64> = distribution.grid_shape().iter().map(|ranks| ranks / 2).collect();
    distribution.rank(&coords)
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
