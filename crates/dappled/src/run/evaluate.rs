//! Evaluation of deferred nodes: fuses, plans and runs them.

use std::sync::Arc;

use dappled_base::interrupt;
use dappled_kernels::{Buffer, BufferView as Memory, DType, Engine, View};

use super::RunError;
use super::distributed;
use crate::array::node::{Node, NodeInput, NodeState};
use crate::array::placement::Placement;
use crate::config::FILL_CHUNK_BYTES;
use crate::eager::single_op::{copy_stored, write_small};
use crate::error::Result;
use crate::graph::fusion::{FusedProgram, fuse, fuse_elementwise};
use crate::session::Session;

/// This rank's memory of a node; evaluates the node if it is pending.
///
/// Collective, unless all inputs are replicated.
pub(crate) fn materialize(session: &Session, node: &Arc<Node>) -> Result<Buffer> {
    let memory = match node.state() {
        NodeState::Stored(memory) => return Ok(memory),
        NodeState::Full(value) => {
            let memory = session.buffer_pool().allocate(local_bytes(node), &node.base);
            for part in memory.write()?.chunks_mut(FILL_CHUNK_BYTES) {
                interrupt::poll();
                value.fill(part);
            }
            memory
        }
        NodeState::Elementwise(op) => {
            let fused = fuse_elementwise(node, &op, true);
            // Inputs first, so that their temporaries are freed before the result is allocated.
            input_buffers(session, &fused.inputs)?;
            let memory = session.buffer_pool().allocate(local_bytes(node), &node.base);
            run_fused(session, &fused, node, &node.base, &memory)?;
            memory
        }
        NodeState::Deferred(value) => value.compute(session, node)?,
    };
    node.store(memory.clone());
    Ok(memory)
}

/// The bytes of this rank's memory of a node.
pub(crate) fn local_bytes(node: &Node) -> usize {
    let local = node.placement.local_view(&node.base);
    local.len() * local.dtype.itemsize()
}

/// Writes an argument through a view of a node into the node's memory.
///
/// Collective, unless all operands are replicated.
pub(crate) fn write_arg(
    session: &Session,
    node: &Arc<Node>,
    view: &View,
    memory: &Buffer,
    arg: &NodeInput,
) -> Result<()> {
    let (limits, is_replicated) = (session.limits(), node.placement.is_replicated());
    if is_replicated && view.len() <= limits.eager_copy_max() && copy_stored(memory, view, arg)? {
        return Ok(());
    }
    if is_replicated && view.len() <= limits.eager_max && write_small(session, memory, view, arg)? {
        return Ok(());
    }
    let fused = fuse(arg, view.dtype);
    run_fused(session, &fused, node, view, memory)
}

/// Runs a program whose target overlaps the memory that it reads, in one pass.
///
/// Returns false if one pass is not possible. All inputs must be replicated.
pub(crate) fn run_in_place(
    session: &Session,
    fused: &FusedProgram,
    view: &View,
    memory: &Buffer,
) -> Result<bool> {
    let engine = session.interpreter(&fused.program)?;
    let buffers = input_buffers(session, &fused.inputs)?;
    let inputs = input_operands(&buffers, &fused.inputs)?;
    let target = Memory::new(memory, view)?;
    let raised = engine.run_in_place(&inputs, &target)?;
    raised.iter().for_each(|raised| session.fp_warnings().add_program(&fused.requests, raised));
    Ok(raised.is_some())
}

/// Runs a program and writes the result through a view of a node.
pub(crate) fn run_fused(
    session: &Session,
    fused: &FusedProgram,
    node: &Arc<Node>,
    view: &View,
    memory: &Buffer,
) -> Result<()> {
    let is_replicated = |(input, _): &(Arc<Node>, View)| input.placement.is_replicated();
    if !(node.placement.is_replicated() && fused.inputs.iter().all(is_replicated)) {
        return distributed::run_distributed(session, fused, node, view, memory);
    }
    let engine = session.interpreter(&fused.program)?;
    let buffers = input_buffers(session, &fused.inputs)?;
    let inputs = input_operands(&buffers, &fused.inputs)?;
    let target = Memory::new(memory, view)?;
    let raised = engine.run(&inputs, &[target])?;
    session.fp_warnings().add_program(&fused.requests, &raised);
    Ok(())
}

/// The memory of each input.
pub(crate) fn input_buffers(
    session: &Session,
    inputs: &[(Arc<Node>, View)],
) -> Result<Vec<Buffer>> {
    inputs.iter().map(|(node, _)| materialize(session, node)).collect()
}

/// The inputs as kernel operands.
pub(crate) fn input_operands<'a>(
    buffers: &'a [Buffer],
    inputs: &'a [(Arc<Node>, View)],
) -> Result<Vec<Memory<'a>>, RunError> {
    let operand = |(buffer, (_, view)): (&'a Buffer, &'a (Arc<Node>, View))| {
        Memory::new(buffer, view).map_err(RunError::from)
    };
    buffers.iter().zip(inputs).map(operand).collect()
}

/// Evaluates an argument into new memory with this placement.
///
/// Collective, unless all operands are replicated.
pub(crate) fn materialize_in(
    session: &Session,
    arg: &NodeInput,
    base: View,
    placement: Placement,
) -> Result<Arc<Node>> {
    let (node, memory) = Node::with_new_buffer(session, base, placement);
    write_arg(session, &node, &node.base, &memory, arg)?;
    Ok(node)
}

/// Evaluates an argument into new memory in C order, on every rank.
///
/// Collective, unless the argument is replicated.
pub(crate) fn materialize_replicated(
    session: &Session,
    arg: &NodeInput,
    dtype: DType,
    shape: &[usize],
) -> Result<Arc<Node>> {
    materialize_in(session, arg, View::c_order(dtype, shape), Placement::Replicated)
}
