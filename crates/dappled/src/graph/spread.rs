//! Programs whose operands are in pieces: planned, then run on every rank.

use std::ops::Range;
use std::sync::Arc;

use dappled_kernels::{Buffer, View};
use dappled_protocol::Distribution;

use super::across::followed;
use super::cache::Seen;
use super::evaluate::{value, write};
use super::fuse::Fused;
use super::layout::Layout;
use super::node::{Arg, Node, State};
use super::place::whole;
use super::{GraphError, Session};
use crate::plan::{Operand, Plan, PlanError, plan_sharing};
use crate::run::{self, Piece};
use crate::view::through;

/// Runs a program over a view of a node. Collective.
pub(super) fn run(
    session: &Session,
    fused: &Fused,
    node: &Arc<Node>,
    view: &View,
    memory: &Buffer,
) -> Result<(), GraphError> {
    if node.layout.is_whole() && through(view, &node.base).is_none() {
        return run_aside(session, fused, node, view, memory);
    }
    if node.layout.is_whole() {
        session.note_gathered(view.len() * view.dtype.itemsize());
    }
    let (plan, inputs) = planned(session, fused, node, view)?;
    let pieces = inputs.iter().map(|(node, _)| Ok(piece(node, value(session, node)?)));
    let pieces = pieces.collect::<Result<Vec<Piece>, GraphError>>()?;
    let pieces: Vec<&Piece> = pieces.iter().collect();
    let engine = session.engine(&fused.program)?;
    let shapes = (view, fused.inputs.iter().map(|(_, view)| view).collect::<Vec<_>>());
    let tag = session.next("an assignment", (&fused.program, &node.base, shapes))?;
    let target = piece(node, memory.clone());
    let raised = run::run(session.fabric(), tag, &plan, &*engine, &pieces, &[&target])?;
    session.notices().add_all(&fused.steps, &raised);
    Ok(())
}

/// A target that is all here, seen through a view that no plan can follow: the values are brought
/// together beside it first.
fn run_aside(
    session: &Session,
    fused: &Fused,
    node: &Arc<Node>,
    view: &View,
    memory: &Buffer,
) -> Result<(), GraphError> {
    let base = View::c_order(view.dtype, &view.shape);
    let values = session.freed().memory(base.len() * base.dtype.itemsize());
    let state = State::Stored(values.clone());
    let aside = Node::new(session, base.clone(), Layout::Whole, state);
    run(session, fused, &aside, &base, &values)?;
    write(session, node, view, memory, &Arg::Part(aside, base))
}

/// Arrays, and the views of them that are read.
type Inputs = Vec<(Arc<Node>, View)>;

/// The plan of a program over a view of a node, and the inputs that it reads.
pub(super) fn planned(
    session: &Session,
    fused: &Fused,
    node: &Arc<Node>,
    view: &View,
) -> Result<(Arc<Plan>, Inputs), GraphError> {
    let inputs = fused.inputs.iter().map(|input| followed(session, input));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let operands = inputs.iter().map(|(node, view)| seen(session, node, view));
    let operands = operands.collect::<Result<Vec<_>, _>>()?;
    let key = (seen(session, node, view)?, operands, bases(&inputs));
    let made = || {
        let (target, operands, bases) = &key;
        let operands = operands.iter().map(operand).collect::<Result<Vec<_>, _>>()?;
        plan_sharing(&operand(target)?, &operands, bases, session.fabric().rank()).map(Arc::new)
    };
    Ok((session.known().plans.get(&key, made)?, inputs))
}

/// For each input the first that is a view of the same array.
pub(super) fn bases(inputs: &[(Arc<Node>, View)]) -> Vec<usize> {
    let first = |(node, _): &(Arc<Node>, View)| {
        inputs.iter().position(|(other, _)| Arc::ptr_eq(node, other)).expect("itself at least")
    };
    inputs.iter().map(first).collect()
}

/// The box of this rank's memory that a write through a view fills; None where it leaves gaps.
pub(super) fn written(
    session: &Session,
    node: &Node,
    view: &View,
) -> Result<Option<Vec<Range<u64>>>, GraphError> {
    let seen = seen(session, node, view)?;
    let made = || Ok::<_, PlanError>(operand(&seen)?.filled_cells(session.fabric().rank()));
    Ok(Some(session.known().filled.get(&seen, made)?))
}

fn piece(node: &Node, buffer: Buffer) -> Piece {
    Piece { buffer, view: node.layout.local(&node.base).clone() }
}

fn seen(session: &Session, node: &Node, view: &View) -> Result<Seen, GraphError> {
    let through = through(view, &node.base).ok_or(GraphError::Target)?;
    Ok((distribution(session, node), through))
}

fn operand((base, through): &Seen) -> Result<Operand, PlanError> {
    Operand::new(base, through.clone())
}

/// The distribution of a node, for plans.
pub(super) fn distribution(session: &Session, node: &Node) -> Distribution {
    match &node.layout {
        Layout::Split(split) => split.distribution.clone(),
        Layout::Whole => whole(session, &node.base.shape),
    }
}
