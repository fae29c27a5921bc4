//! Programs whose operands are in pieces: planned, then run on every rank.

use std::ops::Range;
use std::sync::Arc;

use dappled_fabric::Tag;
use dappled_kernels::{Buffer, View};
use dappled_protocol::Distribution;

use super::across::followed;
use super::cache::Seen;
use super::evaluate::{value, write};
use super::fuse::Fused;
use super::layout::Layout;
use super::node::{Arg, Node};
use super::patch::begun;
use super::place::whole;
use super::tag::{Aspect, Fingerprint, said};
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
    let pieces = pieces(session, &inputs)?;
    let pieces: Vec<&Piece> = pieces.iter().collect();
    let engine = session.engine(&fused.program)?;
    let tag = noted(session, fused, (node, view), &inputs)?;
    node.set_id(tag.hash);
    let target = piece(node, memory.clone());
    let raised = run::run(session.fabric(), tag, &plan, &*engine, &pieces, &[&target])?;
    session.notices().add_all(&fused.steps, &raised);
    Ok(())
}

/// Runs a program over a view of an array in pieces, and gives the memory of the next version: that
/// of this one, if nobody else needs it and it can be done in one pass; and its identity. Collective.
pub(super) fn next_version(
    session: &Session,
    fused: &Fused,
    (old, view): (&Arc<Node>, &View),
    is_free: bool,
) -> Result<(Buffer, u64), GraphError> {
    let (plan, inputs) = planned(session, fused, old, view)?;
    let pieces = pieces(session, &inputs)?;
    let pieces: Vec<&Piece> = pieces.iter().collect();
    let engine = session.engine(&fused.program)?;
    let own = piece(old, value(session, old)?);
    let in_place = is_free && run::fits_over(&plan, &engine, &pieces, &own)?;
    let target = if in_place { own } else { piece(old, begun(session, old, view)?) };
    let tag = noted(session, fused, (old, view), &inputs)?;
    let raised = match in_place {
        true => run::run_over(session.fabric(), tag, &plan, &engine, &pieces, &target)?,
        false => run::run(session.fabric(), tag, &plan, &*engine, &pieces, &[&target])?,
    };
    session.notices().add_all(&fused.steps, &raised);
    Ok((target.buffer, tag.hash))
}

/// This rank's pieces of what is read.
fn pieces(session: &Session, inputs: &Inputs) -> Result<Vec<Piece>, GraphError> {
    inputs.iter().map(|(node, _)| Ok(piece(node, value(session, node)?))).collect()
}

/// The tag of an assignment: ranks must agree on the program, on which arrays it reads and writes, how
/// they are distributed, and on values that all ranks have.
fn noted(
    session: &Session,
    fused: &Fused,
    (node, view): (&Arc<Node>, &View),
    inputs: &Inputs,
) -> Result<Tag, GraphError> {
    let print = Fingerprint::default().with_program(&fused.program);
    let print = print.with(Aspect::Shape, &node.base).with_array(node, view);
    let (print, shown) = print.with_inputs(session, inputs)?;
    session.next("an assignment", print, || said(&fused.program, &view.shape, inputs, &shown))
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
    let aside = computed(session, fused, base.clone(), Layout::Whole)?;
    write(session, node, view, memory, &Arg::Part(aside, base))
}

/// The values of a program in memory of their own, laid out so. Collective.
pub(super) fn computed(
    session: &Session,
    fused: &Fused,
    base: View,
    layout: Layout,
) -> Result<Arc<Node>, GraphError> {
    let (node, memory) = Node::fresh(session, base, layout);
    run(session, fused, &node, &node.base, &memory)?;
    Ok(node)
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
