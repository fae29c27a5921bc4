//! Programs whose operands are in pieces: planned, then run on every rank.

use std::ops::Range;
use std::sync::Arc;

use dappled_kernels::{Buffer, View};
use dappled_protocol::Distribution;

use super::cache::Seen;
use super::evaluate::{gathered, value, write};
use super::fuse::Fused;
use super::layout::Layout;
use super::node::{Arg, Node};
use super::place::whole;
use super::{GraphError, Session};
use crate::plan::{Operand, Plan, PlanError, plan};
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
    let both = (seen(session, node, view)?, operands.collect::<Result<Vec<_>, _>>()?);
    let made = || {
        let (target, operands) = &both;
        let operands = operands.iter().map(operand).collect::<Result<Vec<_>, _>>()?;
        plan(&operand(target)?, &operands, session.fabric().rank()).map(Arc::new)
    };
    Ok((session.known().plans.get(&both, made)?, inputs))
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

/// An input whose view follows the axes of its base. Where it does not (a diagonal, another shape),
/// the base is gathered and what the view shows is copied.
fn followed(
    session: &Session,
    (node, view): &(Arc<Node>, View),
) -> Result<(Arc<Node>, View), GraphError> {
    if through(view, &node.base).is_some() {
        return Ok((node.clone(), view.clone()));
    }
    let base = match node.layout {
        Layout::Whole => node.clone(),
        Layout::Split(_) => {
            let all = Arg::Part(node.clone(), node.base.clone());
            gathered(session, &all, node.base.dtype, &node.base.shape)?
        }
    };
    let copy = gathered(session, &Arg::Part(base, view.clone()), view.dtype, &view.shape)?;
    let view = copy.base.clone();
    Ok((copy, view))
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
