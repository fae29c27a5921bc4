//! Deferred writes: the next version of an array, part of which is still to be written.
//!
//! The next reader often traverses the whole array, as a norm does; the write is then fused into
//! that pass. The write is in place if the old version has no other holder by then.

use std::sync::{Arc, Mutex, PoisonError};

use dappled_kernels::{
    Buffer, BufferView as Memory, Engine, Interpreter, Op, PendingWrite, Program, ReduceFlags,
    Reduction, Scalar, View, write_and_reduce,
};

use super::complement::{copy_complement, fill_complement};
use crate::array::storage::Storage;
use crate::config::MAX_CACHED_COPY_BYTES;
use crate::error::Result;
use crate::graph::fusion::{FusedProgram, fuse};
use crate::graph::node::{ElementwiseOp, Node, NodeInput, NodeState};
use crate::ops::reduce::ReduceInput;
use crate::run::evaluate::{
    input_buffers, input_operands, local_bytes, materialize, run_fused, run_in_place,
};
use crate::session::Session;

/// A deferred write of an input to a view of an array.
pub(crate) struct DeferredWrite {
    old: Arc<Node>,
    view: View,
    input: NodeInput,
    /// Held during the write; other readers wait for it.
    write_lock: Mutex<()>,
}

impl DeferredWrite {
    /// Creates a deferred write; None if it gains nothing: small arrays, casts, and stored inputs.
    pub fn try_new(
        session: &Session,
        old: &Arc<Node>,
        view: &View,
        input: &NodeInput,
    ) -> Option<Self> {
        let NodeInput::Array(root, source_view) = input else { return None };
        let NodeState::Elementwise(op) = root.state() else { return None };
        let is_unchanged = *source_view == root.base
            && source_view.shape == view.shape
            && source_view.dtype == view.dtype;
        let is_large = view.len() > session.limits().eager_max;
        let is_local =
            !op.is_distributed && root.placement.is_replicated() && old.placement.is_replicated();
        let (old, view, input, write_lock) =
            (old.clone(), view.clone(), input.clone(), Mutex::default());
        (is_unchanged && is_large && is_local).then_some(Self { old, view, input, write_lock })
    }

    /// Returns true if the view covers most of the array, with the same strides. Otherwise
    /// deferring gains nothing.
    pub fn can_defer(&self) -> bool {
        let (view, base) = (&self.view, &self.old.base);
        view.strides == base.strides && covers_most(view, base)
    }

    /// Writes, and returns the memory of `node`, the next version.
    pub fn materialize(&self, session: &Session, node: &Arc<Node>) -> Result<Buffer> {
        let _guard = self.write_lock.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = node.replicated_buffer() {
            return Ok(memory.clone());
        }
        let memory = match self.write_in_place(session, node)? {
            Some(memory) => memory,
            None => self.write_copy(session, node)?,
        };
        node.store(memory.clone());
        Ok(memory)
    }

    /// Writes over the old version, if it has no other holder and one pass over memory suffices.
    ///
    /// Holders of the input read the written array from now on.
    fn write_in_place(&self, session: &Session, node: &Arc<Node>) -> Result<Option<Buffer>> {
        let (NodeInput::Array(root, _), Some(memory)) = (&self.input, self.old.replicated_buffer())
        else {
            return Ok(None);
        };
        let NodeState::Elementwise(op) = root.state() else { return Ok(None) };
        let is_free = Arc::strong_count(&self.old) == 1 + count_uses(&op, &self.old);
        if !is_free || prefers_copy(&self.view, &self.old) {
            return Ok(None);
        }
        let (view, dtype) = (&self.view, self.view.dtype);
        if !run_in_place(session, &fuse(session, &self.input, dtype)?, view, memory)? {
            return Ok(None);
        }
        root.redefine(view_of_node(node, view));
        Ok(Some(memory.clone()))
    }

    fn write_copy(&self, session: &Session, node: &Arc<Node>) -> Result<Buffer> {
        let fused = fuse(session, &self.input, self.view.dtype)?;
        let memory = begin_next_version(session, &self.old, &self.view)?;
        run_fused(session, &fused, node, &self.view, &memory)?;
        Ok(memory)
    }

    /// Reduces values that read the node while it is written.
    ///
    /// None if one pass does not suffice; the node is written nevertheless.
    fn reduce_while_writing(
        &self,
        session: &Session,
        node: &Arc<Node>,
        reduction: &ReduceThroughWrite<'_>,
    ) -> Result<Option<ReduceFlags>> {
        let _guard = self.write_lock.lock().unwrap_or_else(PoisonError::into_inner);
        if node.is_materialized() {
            return Ok(None);
        }
        let fused = fuse(session, &self.input, self.view.dtype)?;
        let (read, engine) =
            (input_buffers(session, &fused.inputs)?, session.interpreter(&fused.program)?);
        let memory = begin_next_version(session, &self.old, &self.view)?;
        let inputs = input_operands(&read, &fused.inputs)?;
        let target = Memory::new(&memory, &self.view)?;
        let both = session.interpreter(&reduction.write_and_reduce_program(&fused, node))?;
        let write = PendingWrite { code: &engine, inputs: &inputs, target, fused: Some(&both) };
        let folded = match reduction.reduce_written_memory(session, node, &memory, &write)? {
            Some((folded, raised)) => {
                session.fp_warnings().add_program(&fused.requests, &raised);
                Some(folded)
            }
            None => {
                let raised = engine.run(&inputs, &[target])?;
                session.fp_warnings().add_program(&fused.requests, &raised);
                None
            }
        };
        node.store(memory);
        Ok(folded)
    }
}

impl Session {
    /// Defers a write, and flushes the previous one.
    pub(crate) fn defer_write(&self, next: &Arc<Node>, storage: &Arc<Storage>) -> Result<()> {
        self.flush_deferred_write(next)?;
        *self.deferred_write() = Arc::downgrade(next);
        self.pending().add(storage, false, 0);
        Ok(())
    }

    /// Runs the deferred write, unless it is `except`: it holds arrays that others may overwrite.
    pub(crate) fn flush_deferred_write(&self, except: &Arc<Node>) -> Result<()> {
        let deferred =
            self.deferred_write().upgrade().filter(|deferred| !Arc::ptr_eq(deferred, except));
        deferred.map_or(Ok(()), |deferred| materialize(self, &deferred).map(drop))
    }
}

/// A reduction whose values may read a deferred write.
pub(crate) struct ReduceThroughWrite<'a> {
    pub values: &'a ReduceInput,
    pub engine: &'a Interpreter,
    pub reduction: &'a Reduction<'a>,
    pub out: &'a Memory<'a>,
}

impl ReduceThroughWrite<'_> {
    /// Reduces while a deferred write runs; None, without any effect, if no input is a deferred
    /// write.
    pub fn run(&self, session: &Session) -> Result<Option<ReduceFlags>> {
        let inputs = &self.values.fused.inputs;
        let deferred = |(node, _): &(Arc<Node>, View)| match node.state() {
            NodeState::Written(write) if write.can_defer() => Some((node.clone(), write)),
            _ => None,
        };
        let Some((node, write)) = inputs.iter().find_map(deferred) else { return Ok(None) };
        // A read with another dtype, as `psi.real`, does not read the elements that the write
        // produces.
        let is_reinterpreted = |view: &View| view.dtype != write.view.dtype;
        if inputs.iter().any(|(input, view)| Arc::ptr_eq(input, &node) && is_reinterpreted(view)) {
            return Ok(None);
        }
        // Other inputs first: evaluating one may run the deferred write.
        for (input, _) in inputs.iter().filter(|(input, _)| !Arc::ptr_eq(input, &node)) {
            materialize(session, input)?;
        }
        write.reduce_while_writing(session, &node, self)
    }

    /// The program that writes the node, followed by the values that read it.
    fn write_and_reduce_program(&self, written: &FusedProgram, node: &Arc<Node>) -> Program {
        let FusedProgram { program, inputs, .. } = &self.values.fused;
        written.program.compose(program, |at| Arc::ptr_eq(&inputs[at].0, node))
    }

    /// Runs the write and the reduction in one pass over the memory of a node.
    fn reduce_written_memory(
        &self,
        session: &Session,
        node: &Arc<Node>,
        memory: &Buffer,
        write: &PendingWrite<'_>,
    ) -> Result<Option<(ReduceFlags, dappled_kernels::StepFlags)>> {
        let FusedProgram { inputs, .. } = &self.values.fused;
        let memory_of = |(input, _): &(Arc<Node>, View)| match Arc::ptr_eq(input, node) {
            true => Ok(memory.clone()),
            false => materialize(session, input),
        };
        let buffers = inputs.iter().map(memory_of).collect::<Result<Vec<Buffer>, _>>()?;
        let inputs = input_operands(&buffers, inputs)?;
        let done = write_and_reduce(self.engine, &inputs, write, self.reduction, self.out);
        Ok(done?)
    }
}

/// A view of a node, as an operation.
pub(crate) fn view_of_node(node: &Arc<Node>, view: &View) -> ElementwiseOp {
    let inputs = [NodeInput::Array(node.clone(), view.clone())].into_iter().collect();
    ElementwiseOp::new(Op::Cast(view.dtype).into(), view.dtype, inputs)
}

/// Returns true if a copy is faster than an in-place write: most of an array that fits in the cache
/// twice.
///
/// In-place writes hold back each row until the rows that read its old values are done.
pub(crate) fn prefers_copy(view: &View, old: &Node) -> bool {
    local_bytes(old) <= MAX_CACHED_COPY_BYTES && covers_most(view, &old.base)
}

/// Counts the reads of an array by an operation and the operations that only it holds.
pub(crate) fn count_uses(op: &ElementwiseOp, array: &Arc<Node>) -> usize {
    let uses_of = |input: &NodeInput| match input {
        NodeInput::Array(node, _) if Arc::ptr_eq(node, array) => 1,
        NodeInput::Array(node, _) if Arc::strong_count(node) == 1 => match node.state() {
            NodeState::Elementwise(op) => count_uses(&op, array),
            _ => 0,
        },
        _ => 0,
    };
    op.inputs.iter().map(uses_of).sum()
}

/// Returns true if the view covers at least half of the base.
pub(crate) fn covers_most(view: &View, base: &View) -> bool {
    view.len() * 2 >= base.len()
}

/// Returns true if the view covers the base. A view of other bytes, as of imaginary parts, does
/// not.
pub(crate) fn covers_all(view: &View, base: &View) -> bool {
    view.len() == base.len() && view.dtype == base.dtype
}

/// Allocates the next version of an array, and copies the elements outside a view to it.
pub(crate) fn begin_next_version(
    session: &Session,
    old: &Arc<Node>,
    view: &View,
) -> Result<Buffer> {
    let before = match (old.state(), covers_all(view, &old.base)) {
        (_, true) if old.placement.is_replicated() => None,
        (NodeState::Full(value), _) => Some(PreviousValue::Full(value)),
        _ => Some(PreviousValue::Memory(materialize(session, old)?)),
    };
    let memory = session.buffer_pool().allocate(local_bytes(old), &old.base);
    match before {
        Some(PreviousValue::Full(value)) => fill_complement(session, old, view, value, &memory)?,
        Some(PreviousValue::Memory(before)) => {
            copy_complement(session, old, view, &before, &memory)?
        }
        None => {}
    }
    Ok(memory)
}

enum PreviousValue {
    Full(Scalar),
    Memory(Buffer),
}
