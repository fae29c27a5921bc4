//! From pending nodes to values: fuse, plan, run.

use std::sync::Arc;

use dappled_base::interrupt;
use dappled_kernels::{Buffer, DType, Engine, Operand as Memory, View};

use super::fuse::{Fused, fused, fused_map};
use super::layout::Layout;
use super::node::{Arg, Node, State};
use super::small::{copied, written};
use super::{GraphError, Session, spread};
use crate::run::RunError;

/// Bytes that are filled with a value between two looks whether the work should end.
const FILLED: usize = 1 << 24;

/// This rank's memory of a node; computes it if that has not been done. Collective, unless all that
/// it needs is whole.
pub(super) fn value(session: &Session, node: &Arc<Node>) -> Result<Buffer, GraphError> {
    let memory = match node.state() {
        State::Stored(memory) => return Ok(memory),
        State::Full(value) => {
            let memory = session.freed().array(local_bytes(node), &node.base);
            for part in memory.write().map_err(RunError::from)?.chunks_mut(FILLED) {
                interrupt::poll();
                value.fill(part);
            }
            memory
        }
        State::Map(map) => {
            let fused = fused_map(session, node, &map, true)?;
            let memory = session.freed().array(local_bytes(node), &node.base);
            run(session, &fused, node, &node.base, &memory)?;
            memory
        }
        State::Chosen(choice) => choice.memory(session, node)?,
        State::Patched(patch) => return patch.memory(session, node),
    };
    node.store(memory.clone());
    Ok(memory)
}

/// Bytes of this rank's memory of a node.
pub(super) fn local_bytes(node: &Node) -> usize {
    let local = node.layout.local(&node.base);
    local.len() * local.dtype.itemsize()
}

/// Writes an argument over a view of a node, into this memory of it. Collective, unless all is whole.
pub(super) fn write(
    session: &Session,
    node: &Arc<Node>,
    view: &View,
    memory: &Buffer,
    arg: &Arg,
) -> Result<(), GraphError> {
    let (limits, is_whole) = (session.limits(), node.layout.is_whole());
    if is_whole && view.len() <= limits.copied() && copied(memory, view, arg)? {
        return Ok(());
    }
    if is_whole && view.len() <= limits.at_once && written(session, memory, view, arg)? {
        return Ok(());
    }
    let fused = fused(session, arg, view.dtype)?;
    run(session, &fused, node, view, memory)
}

/// Runs a program over a view of the memory that it reads, in one pass; false if it can't be. All
/// that it reads is whole.
pub(super) fn run_over(
    session: &Session,
    fused: &Fused,
    view: &View,
    memory: &Buffer,
) -> Result<bool, GraphError> {
    let engine = session.engine(&fused.program)?;
    let buffers = buffers(session, &fused.inputs)?;
    let inputs = operands(&buffers, &fused.inputs)?;
    let target = Memory::new(memory, view).map_err(RunError::from)?;
    let raised = engine.run_over(&inputs, &target).map_err(RunError::from)?;
    raised.iter().for_each(|raised| session.notices().add_all(&fused.steps, raised));
    Ok(raised.is_some())
}

/// Runs a program over a view of a node.
pub(super) fn run(
    session: &Session,
    fused: &Fused,
    node: &Arc<Node>,
    view: &View,
    memory: &Buffer,
) -> Result<(), GraphError> {
    let whole = |(input, _): &(Arc<Node>, View)| input.layout.is_whole();
    if !(node.layout.is_whole() && fused.inputs.iter().all(whole)) {
        return spread::run(session, fused, node, view, memory);
    }
    let engine = session.engine(&fused.program)?;
    let buffers = buffers(session, &fused.inputs)?;
    let inputs = operands(&buffers, &fused.inputs)?;
    let target = Memory::new(memory, view).map_err(RunError::from)?;
    let raised = engine.run(&inputs, &[target]).map_err(RunError::from)?;
    session.notices().add_all(&fused.steps, &raised);
    Ok(())
}

/// The memory of each input.
pub(super) fn buffers(
    session: &Session,
    inputs: &[(Arc<Node>, View)],
) -> Result<Vec<Buffer>, GraphError> {
    inputs.iter().map(|(node, _)| value(session, node)).collect()
}

/// The inputs as kernels see them.
pub(super) fn operands<'a>(
    buffers: &'a [Buffer],
    inputs: &'a [(Arc<Node>, View)],
) -> Result<Vec<Memory<'a>>, RunError> {
    let operand = |(buffer, (_, view)): (&'a Buffer, &'a (Arc<Node>, View))| {
        Memory::new(buffer, view).map_err(RunError::from)
    };
    buffers.iter().zip(inputs).map(operand).collect()
}

/// An argument in memory of its own, laid out so. Collective, unless all is whole.
pub(super) fn laid_out(
    session: &Session,
    arg: &Arg,
    base: View,
    layout: Layout,
) -> Result<Arc<Node>, GraphError> {
    let (node, memory) = Node::fresh(session, base, layout);
    write(session, &node, &node.base, &memory, arg)?;
    Ok(node)
}

/// An argument in C order and in memory of its own, on every rank. Collective, unless it is whole.
pub(super) fn gathered(
    session: &Session,
    arg: &Arg,
    dtype: DType,
    shape: &[usize],
) -> Result<Arc<Node>, GraphError> {
    laid_out(session, arg, View::c_order(dtype, shape), Layout::Whole)
}
