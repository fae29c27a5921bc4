//! What one rank of any number of ranks would do, as text: of as many as are not running, too.

use std::fmt::Write;
use std::sync::Arc;

use dappled_kernels::View;
use dappled_protocol::{Distribution, Padding, Spec};

use super::fuse::{Fused, fused_map};
use super::node::{Node, State};
use super::{Array, GraphError, Session, spread};
use crate::plan::{Estimate, Operand, plan_sharing};
use crate::view::through;

impl Array {
    /// What one rank of so many would do to compute what is pending: its neighbours, messages and
    /// memory. The rank is one in the middle of the grid, which has the most neighbours. Arrays lie
    /// as they would on so many ranks.
    pub fn explain_on(&self, ranks: u64) -> Result<String, GraphError> {
        let (session, node) = (self.session(), self.versions.current());
        let target = on_ranks(session, &node, ranks);
        let rank = middle(&target);
        let mut text = format!("{} {:?}, {}", node.base.dtype, node.base.shape, place(&target));
        let piece = bytes_on(&target, rank, node.base.dtype.itemsize());
        let State::Map(map) = node.state() else {
            let kind = match node.state() {
                State::Full(_) => "one value",
                State::Chosen(_) => "what a mask chooses",
                State::Patched(_) => "to be written",
                _ => "stored",
            };
            let _ = writeln!(text, ": {kind}\nrank {rank}: memory {piece} bytes");
            return Ok(text);
        };
        let fused = fused_map(session, &node, &map, false)?;
        text.push_str(": pending\n");
        let parts = fused.inputs.iter().map(|input| part(session, input, ranks));
        let parts: Vec<(Distribution, Option<Operand>)> = parts.collect::<Result<_, _>>()?;
        let read = bytes_read(&fused, &parts, rank);
        if parts.iter().any(|(_, operand)| operand.is_none()) {
            text.push_str("another shape or diagonal is moved first, which is not counted\n");
        }
        let along = fused.inputs.iter().zip(&parts).filter(|(_, part)| part.1.is_some());
        let along: Vec<(Arc<Node>, View)> = along.map(|(input, _)| input.clone()).collect();
        let sizes: Vec<usize> = along.iter().map(|(_, view)| view.dtype.itemsize()).collect();
        let operands: Vec<Operand> = parts.into_iter().filter_map(|(_, operand)| operand).collect();
        let bases = spread::bases(&along);
        let plan = plan_sharing(&Operand::whole(&target)?, &operands, &bases, rank)?;
        let estimate = Estimate::new(&plan, &sizes, node.base.dtype.itemsize());
        describe(&mut text, rank, &estimate, piece + read);
        Ok(text)
    }
}

fn describe(text: &mut String, rank: u64, estimate: &Estimate, arrays: u64) {
    let Estimate { neighbours, sent, received, .. } = estimate;
    let shown: Vec<String> = neighbours.iter().take(SHOWN).map(u64::to_string).collect();
    let more = if neighbours.len() > SHOWN { ", …" } else { "" };
    let count = neighbours.len();
    let _ = writeln!(text, "rank {rank}: {count} neighbours ({}{more})", shown.join(", "));
    let _ = writeln!(text, "sends {} messages of {} bytes in all", sent.0, sent.1);
    let _ = writeln!(text, "receives {} messages of {} bytes in all", received.0, received.1);
    let beside = estimate.memory();
    let _ = writeln!(text, "memory {} bytes: {arrays} in arrays, {beside} beside", arrays + beside);
}

/// So many neighbours are named.
const SHOWN: usize = 8;

/// An input as it would be read on so many ranks; None for the operand where it does not follow the
/// axes of its base.
fn part(
    session: &Session,
    (node, view): &(Arc<Node>, View),
    ranks: u64,
) -> Result<(Distribution, Option<Operand>), GraphError> {
    let base = on_ranks(session, node, ranks);
    let operand = through(view, &node.base).map(|through| Operand::new(&base, through));
    Ok((base, operand.transpose()?))
}

/// Bytes of this rank's pieces of what is read, each array once.
fn bytes_read(fused: &Fused, parts: &[(Distribution, Option<Operand>)], rank: u64) -> u64 {
    let mut seen: Vec<&Arc<Node>> = Vec::new();
    let mut bytes = 0;
    for ((node, _), (base, _)) in fused.inputs.iter().zip(parts) {
        if !seen.iter().any(|other| Arc::ptr_eq(other, node)) {
            bytes += bytes_on(base, rank, node.base.dtype.itemsize());
            seen.push(node);
        }
    }
    bytes
}

fn bytes_on(distribution: &Distribution, rank: u64, itemsize: usize) -> u64 {
    distribution.local_shape(rank).iter().product::<u64>() * itemsize as u64
}

fn place(distribution: &Distribution) -> String {
    match distribution.held() {
        dappled_protocol::Held::All => "whole on every rank".to_string(),
        _ => format!(
            "'{}' over {} ranks as {:?}",
            distribution.dist(),
            distribution.nprocs(),
            distribution.grid_shape()
        ),
    }
}

/// The rank in the middle of the grid.
fn middle(distribution: &Distribution) -> u64 {
    let coords: Vec<u64> = distribution.grid_shape().iter().map(|ranks| ranks / 2).collect();
    distribution.rank(&coords)
}

/// Where an array would lie: of the kinds it has, on a grid for so many ranks; what is whole as
/// small arrays are, or because there is one rank alone, as the size says.
fn on_ranks(session: &Session, node: &Node, ranks: u64) -> Distribution {
    let own = spread::distribution(session, node);
    let bytes = node.base.len() * node.base.dtype.itemsize();
    let spec = Distribution::spec(&own.shape()).nprocs(ranks);
    let is_small = bytes < session.limits().whole_below;
    if node.layout.is_whole() && (is_small || own.shape().is_empty()) {
        let kinds = "n".repeat(own.shape().len());
        return spec.dist(&kinds).build().expect("whole on every rank");
    }
    let alike = (!node.layout.is_whole()).then(|| own.to_spec()).flatten();
    let alike = alike.and_then(|own| widened(own, ranks).build().ok());
    alike.unwrap_or_else(|| spec.build().expect("blocks of any shape on any number of ranks"))
}

/// The same kinds on another number of ranks; bounds and lists are those of the ranks that run.
fn widened(mut spec: Spec, ranks: u64) -> Spec {
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
