//! Programs with distributed operands: planned, then run on every rank.

use std::ops::Range;
use std::sync::Arc;

use dappled_fabric::Tag;
use dappled_kernels::{Buffer, View};
use dappled_protocol::Distribution;

use super::caches::{OperandKey, RunCaches};
use super::evaluate::{materialize, write_arg};
use super::fingerprint::describe_operation;
use super::piece::LocalPiece;
use super::reindex::align_to_axes;
use crate::array::node::{Node, NodeInput};
use crate::array::placement::Placement;
use crate::error::{Error, Result};
use crate::graph::fusion::FusedProgram;
use crate::plan::explain::{describe_distribution, tuple};
use crate::plan::operand::PlanOperand;
use crate::plan::step::Plan;
use crate::plan::values::RankContext;
use crate::plan::{PlanError, plan_with_shared_bases};
use crate::run;
use crate::run::complement::begin_next_version;
use crate::session::Session;
use crate::session::fingerprint::{Fingerprint, FingerprintField};
use crate::view::axis_mapping;

/// Runs a program and writes the result through a view of a node. Collective.
pub(crate) fn run_distributed(
    session: &Session,
    fused: &FusedProgram,
    node: &Arc<Node>,
    view: &View,
    memory: &Buffer,
) -> Result<()> {
    if node.placement.is_replicated() && axis_mapping(view, &node.base).is_none() {
        return run_through_temporary(session, fused, node, view, memory);
    }
    if node.placement.is_replicated() {
        session.note_gathered(view.len() * view.dtype.itemsize());
    }
    let (plan, inputs) = cached_plan(session, fused, node, view)?;
    record_assignment(session, (node, view), &plan);
    let pieces = local_pieces(session, &inputs)?;
    let pieces: Vec<&LocalPiece> = pieces.iter().collect();
    let engine = session.interpreter(&fused.program)?;
    let tag = log_assignment(session, fused, (node, view), &inputs)?;
    node.set_id(tag.hash);
    let target = local_piece(node, memory.clone());
    let raised = run::run_plan(session.fabric(), tag, &plan, &*engine, &pieces, &[&target])?;
    session.fp_warnings().add_program(&fused.requests, &raised);
    Ok(())
}

/// Writes the next version of a distributed array through a view. Collective.
///
/// Returns the memory of the next version and its identity. The memory is that of the old version
/// if `is_free` and one pass suffices.
pub(crate) fn write_next_version(
    session: &Session,
    fused: &FusedProgram,
    (old, view): (&Arc<Node>, &View),
    is_free: bool,
) -> Result<(Buffer, u64)> {
    let (plan, inputs) = cached_plan(session, fused, old, view)?;
    record_assignment(session, (old, view), &plan);
    let pieces = local_pieces(session, &inputs)?;
    let pieces: Vec<&LocalPiece> = pieces.iter().collect();
    let engine = session.interpreter(&fused.program)?;
    let local = local_piece(old, materialize(session, old)?);
    let in_place = is_free && run::can_run_in_place(&plan, &engine, &pieces, &local)?;
    let target =
        if in_place { local } else { local_piece(old, begin_next_version(session, old, view)?) };
    let tag = log_assignment(session, fused, (old, view), &inputs)?;
    let raised = match in_place {
        true => run::run_plan_in_place(session.fabric(), tag, &plan, &engine, &pieces, &target)?,
        false => run::run_plan(session.fabric(), tag, &plan, &*engine, &pieces, &[&target])?,
    };
    session.fp_warnings().add_program(&fused.requests, &raised);
    Ok((target.buffer, tag.hash))
}

/// Records the plan of an assignment, if plans of the ranks that run are recorded.
fn record_assignment(session: &Session, (node, view): (&Node, &View), plan: &Plan) {
    let log = session.plan_log();
    if log.is_recording() && log.ranks().is_none() {
        let target = describe_distribution(&node_distribution(session, node));
        let (dtype, shape) = (view.dtype, tuple(&view.shape));
        log.append(&format!("assign {dtype} {shape}, {target}\n{plan}"));
    }
}

/// This rank's local pieces of the inputs.
fn local_pieces(session: &Session, inputs: &ProgramInputs) -> Result<Vec<LocalPiece>> {
    inputs.iter().map(|(node, _)| Ok(local_piece(node, materialize(session, node)?))).collect()
}

/// Logs an assignment and returns its tag.
///
/// Ranks must agree on the program, on the arrays that it reads and writes, on their distributions
/// and on replicated values.
fn log_assignment(
    session: &Session,
    fused: &FusedProgram,
    (node, view): (&Arc<Node>, &View),
    inputs: &ProgramInputs,
) -> Result<Tag> {
    let fingerprint = Fingerprint::default().with_program(&fused.program);
    let fingerprint = fingerprint.with(FingerprintField::Shape, &node.base).with_array(node, view);
    let (fingerprint, small_inputs) = fingerprint.with_inputs(session, inputs)?;
    session.next_tag("an assignment", fingerprint, || {
        describe_operation(&fused.program, &view.shape, inputs, &small_inputs)
    })
}

/// Writes a replicated target through a view that no plan can follow.
///
/// The values are evaluated into a temporary first.
fn run_through_temporary(
    session: &Session,
    fused: &FusedProgram,
    node: &Arc<Node>,
    view: &View,
    memory: &Buffer,
) -> Result<()> {
    let base = View::c_order(view.dtype, &view.shape);
    let temporary = materialize_program(session, fused, base.clone(), Placement::Replicated)?;
    write_arg(session, node, view, memory, &NodeInput::Array(temporary, base))
}

/// Evaluates a program into new memory with this placement. Collective.
pub(crate) fn materialize_program(
    session: &Session,
    fused: &FusedProgram,
    base: View,
    placement: Placement,
) -> Result<Arc<Node>> {
    let (node, memory) = Node::with_new_buffer(session, base, placement);
    run_distributed(session, fused, &node, &node.base, &memory)?;
    Ok(node)
}

/// The arrays that a program reads, with their views.
type ProgramInputs = Vec<(Arc<Node>, View)>;

/// The plan of a program that writes through a view of a node, and the inputs that it reads.
pub(crate) fn cached_plan(
    session: &Session,
    fused: &FusedProgram,
    node: &Arc<Node>,
    view: &View,
) -> Result<(Arc<Plan>, ProgramInputs)> {
    let inputs = fused.inputs.iter().map(|input| align_to_axes(session, input));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let operands = inputs.iter().map(|(node, view)| operand_key(session, node, view));
    let operands = operands.collect::<Result<Vec<_>, _>>()?;
    let key = (operand_key(session, node, view)?, operands, base_indices(&inputs));
    let make_plan = || {
        let (target, operands, bases) = &key;
        let operands = operands.iter().map(plan_operand).collect::<Result<Vec<_>, _>>()?;
        plan_with_shared_bases(&plan_operand(target)?, &operands, bases, session.fabric().rank())
            .map(Arc::new)
    };
    Ok((session.layer::<RunCaches>().plans.get_or_insert_with(&key, make_plan)?, inputs))
}

/// For each input, the index of the first input that is a view of the same array.
pub(crate) fn base_indices(inputs: &[(Arc<Node>, View)]) -> Vec<usize> {
    let first_index = |(node, _): &(Arc<Node>, View)| {
        inputs
            .iter()
            .position(|(other, _)| Arc::ptr_eq(node, other))
            .expect("each input is in the list")
    };
    inputs.iter().map(first_index).collect()
}

/// The box of this rank's memory that a write through a view covers; empty if it leaves gaps.
pub(crate) fn written_box(
    session: &Session,
    node: &Node,
    view: &View,
) -> Result<Option<Vec<Range<u64>>>> {
    let key = operand_key(session, node, view)?;
    let compute = || Ok::<_, PlanError>(plan_operand(&key)?.covered_box(session.fabric().rank()));
    Ok(Some(session.layer::<RunCaches>().written_boxes.get_or_insert_with(&key, compute)?))
}

fn local_piece(node: &Node, buffer: Buffer) -> LocalPiece {
    LocalPiece { buffer, view: node.placement.local_view(&node.base).clone() }
}

fn operand_key(session: &Session, node: &Node, view: &View) -> Result<OperandKey> {
    let mapping = axis_mapping(view, &node.base).ok_or(Error::UnmappedTarget)?;
    Ok((node_distribution(session, node), mapping))
}

fn plan_operand((base, mapping): &OperandKey) -> Result<PlanOperand, PlanError> {
    PlanOperand::new(base, mapping.clone())
}

impl Session {
    /// The facts about this rank that plans depend on.
    pub(crate) fn rank_context(&self) -> RankContext {
        RankContext {
            rank: self.fabric().rank(),
            ranks: self.fabric().size(),
            replicate_below: self.limits().replicate_below,
        }
    }
}

/// The distribution of a node.
pub(crate) fn node_distribution(session: &Session, node: &Node) -> Distribution {
    match &node.placement {
        Placement::Distributed(placement) => placement.distribution.clone(),
        Placement::Replicated => session.replicated_distribution(&node.base.shape),
    }
}
