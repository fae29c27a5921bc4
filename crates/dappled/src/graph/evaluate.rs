//! From pending nodes to values: fuse, plan, run.

use std::sync::Arc;

use dappled_kernels::Interpreter;
use dappled_protocol::slice::Key;

use super::fuse::Fuse;
use super::memory::copy_outside;
use super::node::{Arg, Node, State};
use super::{GraphError, Session};
use crate::plan::{Operand, plan};
use crate::run::{Piece, RunError, run};

/// This rank's piece of a node, computed now if it was not before. Collective.
pub(super) fn value(session: &Session, node: &Arc<Node>) -> Result<Piece, GraphError> {
    let shape = node.distribution.local_shape(session.fabric().rank());
    let piece = match node.state() {
        State::Stored(piece) => return Ok(piece),
        State::Full(value) => Piece::full(value, &shape),
        State::Map { .. } => {
            let piece = Piece::zeros(node.dtype, &shape);
            let target = Operand::new(&node.distribution, whole(node))?;
            write(session, &target, &piece, &Arg::Part(node.clone(), whole(node)))?;
            piece
        }
    };
    node.store(piece.clone());
    Ok(piece)
}

/// All of a node.
pub(super) fn whole(node: &Node) -> Key {
    Key::new(&[], &node.distribution.shape()).expect("no item can be wrong")
}

/// Computes an argument into a part of a piece, which nothing that it reads may share. Collective.
pub(super) fn write(
    session: &Session,
    target: &Operand,
    piece: &Piece,
    arg: &Arg,
) -> Result<(), GraphError> {
    let (program, inputs) = Fuse::program(arg, piece.view.dtype);
    let operand = |(node, key): &(Arc<Node>, Key)| Operand::new(&node.distribution, key.clone());
    let operands = inputs.iter().map(operand).collect::<Result<Vec<_>, _>>()?;
    let plan = plan(target, &operands, session.fabric().rank())?;
    let pieces =
        inputs.iter().map(|(node, _)| value(session, node)).collect::<Result<Vec<_>, _>>()?;
    let pieces: Vec<&Piece> = pieces.iter().collect();
    let engine = Interpreter::new(&program).map_err(RunError::from)?;
    let tag = session.next("an assignment");
    Ok(run(session.fabric(), tag, &plan, &engine, &pieces, piece)?)
}

/// The next version of a piece: `arg` in a part of it, and what there was elsewhere. Collective.
pub(super) fn next_version(
    session: &Session,
    target: &Operand,
    old: &Piece,
    arg: &Arg,
) -> Result<Piece, GraphError> {
    let piece = session.freed().like(old);
    copy_outside(old, &piece, &target.filled_cells(session.fabric().rank()))?;
    write(session, target, &piece, arg)?;
    Ok(piece)
}
