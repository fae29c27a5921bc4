//! Writes that wait: the next version of an array, of which a part is still to be written.
//!
//! What reads it next often goes over all of it, as a norm does: then it is written on the way. If
//! nobody else needs the old version by then, the next one is made in its memory.

use std::sync::{Arc, Mutex, PoisonError};

use dappled_kernels::{
    Buffer, Engine, Folded, Interpreter, Op, Operand as Memory, Program, Reduction, Scalar, View,
    Write, reduce_written,
};

use super::evaluate::{buffers, local_bytes, operands, run, run_over, value};
use super::fold::Values;
use super::fuse::{Fused, fused};
use super::node::{Arg, Map, Node, State};
use super::outside::{copy_outside, fill_outside};
use super::versions::Versions;
use super::{GraphError, Session};
use crate::run::RunError;

/// Bytes of an array that the last cache of most machines holds twice.
const IN_CACHE: usize = 8 << 20;

/// An array, and what is to be written over a view of it.
pub(crate) struct Patch {
    old: Arc<Node>,
    view: View,
    arg: Arg,
    /// Held while it is written: who asks meanwhile waits.
    turn: Mutex<()>,
}

impl Patch {
    /// None for what is as well written at once: what is small, or no operation, or cast.
    pub fn new(session: &Session, old: &Arc<Node>, view: &View, arg: &Arg) -> Option<Self> {
        let Arg::Part(root, seen) = arg else { return None };
        let State::Map(map) = root.state() else { return None };
        let plain = *seen == root.base && seen.shape == view.shape && seen.dtype == view.dtype;
        let large = view.len() > session.limits().at_once;
        let here = !map.is_spread && root.layout.is_whole() && old.layout.is_whole();
        let (old, view, arg, turn) = (old.clone(), view.clone(), arg.clone(), Mutex::default());
        (plain && large && here).then_some(Self { old, view, arg, turn })
    }

    /// Is it over most of the array, and lies as that does? Else nothing is gained by waiting.
    pub fn may_wait(&self) -> bool {
        let (view, base) = (&self.view, &self.old.base);
        view.strides == base.strides && is_most(view, base)
    }

    /// The memory of the node that it is the next version of.
    pub fn memory(&self, session: &Session, node: &Arc<Node>) -> Result<Buffer, GraphError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = node.whole_memory() {
            return Ok(memory.clone());
        }
        let memory = match self.in_place(session, node)? {
            Some(memory) => memory,
            None => self.beside(session, node)?,
        };
        node.store(memory.clone());
        Ok(memory)
    }

    /// Written over the old version, where nobody else needs that and it can be done in one pass over
    /// memory. Who holds the argument sees from now on what was written.
    fn in_place(&self, session: &Session, node: &Arc<Node>) -> Result<Option<Buffer>, GraphError> {
        let (Arg::Part(root, _), Some(memory)) = (&self.arg, self.old.whole_memory()) else {
            return Ok(None);
        };
        let State::Map(map) = root.state() else { return Ok(None) };
        let is_free = Arc::strong_count(&self.old) == 1 + uses(&map, &self.old);
        if !is_free || is_better_beside(&self.view, &self.old) {
            return Ok(None);
        }
        let (view, dtype) = (&self.view, self.view.dtype);
        if !run_over(session, &fused(session, &self.arg, dtype)?, view, memory)? {
            return Ok(None);
        }
        root.redefine(part_of(node, view));
        Ok(Some(memory.clone()))
    }

    fn beside(&self, session: &Session, node: &Arc<Node>) -> Result<Buffer, GraphError> {
        let fused = fused(session, &self.arg, self.view.dtype)?;
        let memory = begun(session, &self.old, &self.view)?;
        run(session, &fused, node, &self.view, &memory)?;
        Ok(memory)
    }

    /// Folds values that read the node while it is written; None where that is not in one pass, with
    /// the node written all the same.
    fn folded(
        &self,
        session: &Session,
        node: &Arc<Node>,
        folding: &Along<'_>,
    ) -> Result<Option<Folded>, GraphError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if node.is_stored() {
            return Ok(None);
        }
        let fused = fused(session, &self.arg, self.view.dtype)?;
        let (read, engine) = (buffers(session, &fused.inputs)?, session.engine(&fused.program)?);
        let memory = begun(session, &self.old, &self.view)?;
        let inputs = operands(&read, &fused.inputs)?;
        let target = Memory::new(&memory, &self.view).map_err(RunError::from)?;
        let both = session.engine(&folding.behind(&fused, node))?;
        let write = Write { code: &engine, inputs: &inputs, target, both: Some(&both) };
        let folded = match folding.after(session, node, &memory, &write)? {
            Some((folded, raised)) => {
                session.notices().add_all(&fused.steps, &raised);
                Some(folded)
            }
            None => {
                let raised = engine.run(&inputs, &[target]).map_err(RunError::from)?;
                session.notices().add_all(&fused.steps, &raised);
                None
            }
        };
        node.store(memory);
        Ok(folded)
    }
}

impl Session {
    /// Lets a write wait, and any other no longer.
    pub(super) fn wait_with(
        &self,
        next: &Arc<Node>,
        versions: &Arc<Versions>,
    ) -> Result<(), GraphError> {
        self.settle(next)?;
        *self.waiting() = Arc::downgrade(next);
        self.pending().add(versions, false, 0);
        Ok(())
    }

    /// Does the write that waits, unless it is this one: it holds arrays that others may write.
    pub(super) fn settle(&self, but: &Arc<Node>) -> Result<(), GraphError> {
        let waiting = self.waiting().upgrade().filter(|waiting| !Arc::ptr_eq(waiting, but));
        waiting.map_or(Ok(()), |waiting| value(self, &waiting).map(drop))
    }
}

/// A fold whose values may read what waits.
pub(super) struct Along<'a> {
    pub values: &'a Values,
    pub engine: &'a Interpreter,
    pub reduction: &'a Reduction<'a>,
    pub out: &'a Memory<'a>,
}

impl Along<'_> {
    /// Folds while an array that is read waits to be written; None, with nothing folded, where none
    /// does, or it can't be.
    pub fn while_written(&self, session: &Session) -> Result<Option<Folded>, GraphError> {
        let inputs = &self.values.fused.inputs;
        let waiting = |(node, _): &(Arc<Node>, View)| match node.state() {
            State::Patched(patch) if patch.may_wait() => Some((node.clone(), patch)),
            _ => None,
        };
        let Some((node, patch)) = inputs.iter().find_map(waiting) else { return Ok(None) };
        // A read of another dtype, as `psi.real`, is not of the elements that the write produces.
        let is_cut = |view: &View| view.dtype != patch.view.dtype;
        if inputs.iter().any(|(input, view)| Arc::ptr_eq(input, &node) && is_cut(view)) {
            return Ok(None);
        }
        // The others first: one may be made of what waits, which is then written.
        for (input, _) in inputs.iter().filter(|(input, _)| !Arc::ptr_eq(input, &node)) {
            value(session, input)?;
        }
        patch.folded(session, &node, self)
    }

    /// What is written to a node, and behind it the values that read it.
    fn behind(&self, written: &Fused, node: &Arc<Node>) -> Program {
        let Fused { program, inputs, .. } = &self.values.fused;
        written.program.followed_by(program, |at| Arc::ptr_eq(&inputs[at].0, node))
    }

    /// Folds after, that is while, this memory of a node is written.
    fn after(
        &self,
        session: &Session,
        node: &Arc<Node>,
        memory: &Buffer,
        write: &Write<'_>,
    ) -> Result<Option<(Folded, dappled_kernels::Raised)>, GraphError> {
        let Fused { inputs, .. } = &self.values.fused;
        let memory_of = |(input, _): &(Arc<Node>, View)| match Arc::ptr_eq(input, node) {
            true => Ok(memory.clone()),
            false => value(session, input),
        };
        let buffers = inputs.iter().map(memory_of).collect::<Result<Vec<Buffer>, _>>()?;
        let inputs = operands(&buffers, inputs)?;
        let done = reduce_written(self.engine, &inputs, write, self.reduction, self.out);
        Ok(done.map_err(RunError::from)?)
    }
}

/// What a view shows of a node, as an operation.
pub(super) fn part_of(node: &Arc<Node>, view: &View) -> Map {
    let args = [Arg::Part(node.clone(), view.clone())].into_iter().collect();
    Map::new(Op::Cast(view.dtype).into(), view.dtype, args)
}

/// Is it over most of an array that is twice in the cache? Then it is sooner in memory of its own,
/// as in place each row waits aside until those that read the old one are done.
pub(super) fn is_better_beside(view: &View, old: &Node) -> bool {
    local_bytes(old) <= IN_CACHE && is_most(view, &old.base)
}

/// How often an operation, and what nobody but it needs, reads an array.
pub(super) fn uses(map: &Map, array: &Arc<Node>) -> usize {
    let of_arg = |arg: &Arg| match arg {
        Arg::Part(node, _) if Arc::ptr_eq(node, array) => 1,
        Arg::Part(node, _) if Arc::strong_count(node) == 1 => match node.state() {
            State::Map(map) => uses(&map, array),
            _ => 0,
        },
        _ => 0,
    };
    map.args.iter().map(of_arg).sum()
}

/// Is at least half of a base seen?
pub(super) fn is_most(view: &View, base: &View) -> bool {
    view.len() * 2 >= base.len()
}

/// Is every element of a base seen? Of other bytes than its elements perhaps half: imaginary parts.
pub(super) fn covers(view: &View, base: &View) -> bool {
    view.len() == base.len() && view.dtype == base.dtype
}

/// Memory for the next version of an array, with what there was outside of a view.
pub(super) fn begun(session: &Session, old: &Arc<Node>, view: &View) -> Result<Buffer, GraphError> {
    let before = match (old.state(), covers(view, &old.base)) {
        (_, true) if old.layout.is_whole() => None,
        (State::Full(value), _) => Some(Before::Full(value)),
        _ => Some(Before::Memory(value(session, old)?)),
    };
    let memory = session.freed().array(local_bytes(old), &old.base);
    match before {
        Some(Before::Full(value)) => fill_outside(session, old, view, value, &memory)?,
        Some(Before::Memory(before)) => copy_outside(session, old, view, &before, &memory)?,
        None => {}
    }
    Ok(memory)
}

enum Before {
    Full(Scalar),
    Memory(Buffer),
}
