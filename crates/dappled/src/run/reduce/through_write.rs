//! Reductions of values that read a deferred write, in one pass over memory.

use std::sync::{Arc, PoisonError};

use dappled_kernels::{
    Buffer, BufferView as Memory, Engine, Interpreter, PendingWrite, Program, ReduceFlags,
    Reduction, View, write_and_reduce,
};

use super::ReduceInput;
use crate::array::node::{Node, NodeState};
use crate::error::Result;
use crate::graph::fusion::{FusedProgram, fuse};
use crate::run::assign::deferred::DeferredWrite;
use crate::run::complement::begin_next_version;
use crate::run::evaluate::{input_buffers, input_operands, materialize};
use crate::session::Session;

impl DeferredWrite {
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
        let fused = fuse(&self.input, self.view.dtype);
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
            NodeState::Deferred(value) => {
                let write = value.downcast::<DeferredWrite>()?;
                write.can_defer().then(|| (node.clone(), write))
            }
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
