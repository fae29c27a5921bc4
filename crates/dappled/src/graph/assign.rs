//! Writes: each makes the next version, in place where nobody needs the old one.

use std::sync::Arc;

use dappled_kernels::{Buffer, DType, Element, Scalar, View, is_injective};

use super::evaluate::{gathered, laid_out, value, write};
use super::items::in_bytes;
use super::layout::{Layout, layout_like};
use super::map::Operand;
use super::node::{Arg, Node, State};
use super::over::{next_in_pieces, redefine, source};
use super::patch::{Patch, begun, covers, is_most};
use super::{Array, GraphError};
use crate::view::through;

impl Array {
    /// Writes a value over this array or view, as `a[...] = value` does, cast to its dtype. Who was
    /// asked before still reads what was there then.
    pub fn assign<'a>(&self, value: impl Into<Operand<'a>>) -> Result<(), GraphError> {
        let value = value.into();
        if !is_injective(self.view()) && !self.view().is_empty() {
            return self.assign_in_turn(value);
        }
        let arg = match value {
            Operand::Scalar(value) => {
                let value = value.cast(self.dtype());
                if self.view().len() == 1 && self.write_ready(self.view().offset, value) {
                    return Ok(());
                }
                Arg::Scalar(value)
            }
            Operand::Array(array) => {
                Arg::Part(array.versions.current(), fitted(array, self.shape())?)
            }
        };
        self.store(arg, 0, true)
    }

    /// Writes one value everywhere.
    pub fn fill<T: Element>(&self, value: T) -> Result<(), GraphError> {
        self.assign(Scalar::new(value))
    }

    /// Writes an operation's result, which nobody else has, over this array: `a += b`.
    pub(super) fn update(&self, node: Arc<Node>) -> Result<(), GraphError> {
        let own = self.versions.current();
        let reads = |arg: &&Arg| matches!(arg, Arg::Part(node, _) if Arc::ptr_eq(node, &own));
        let same = |arg: &&Arg| matches!(arg, Arg::Part(_, view) if view == self.view());
        let uses = match node.state() {
            State::Map(map) if node.base.shape[..] == *self.shape() => {
                let uses: Vec<&Arg> = map.args.iter().filter(reads).collect();
                if uses.iter().all(same) { uses.len() } else { 0 }
            }
            _ => 0,
        };
        drop(own);
        let view = node.base.clone();
        // Who asked for it looks now at what it signals.
        self.store(Arg::Part(node, view), uses, false)
    }

    /// Writes an argument that reads what is written, element by element in the same place, so
    /// many times, and is not needed afterwards; later, where it may wait and that is of use.
    pub(super) fn store(&self, arg: Arg, uses: usize, waits: bool) -> Result<(), GraphError> {
        let session = self.session();
        if self.view().is_empty() {
            return Ok(());
        }
        self.versions.count_write();
        if let Some(axis) = repeated(self.view()) {
            // All of it is written to one place, where the last stays.
            let last = |view: &View| view.region(axis, view.shape[axis] - 1, 1, 1);
            let arg = match arg {
                Arg::Part(node, view) => Arg::Part(node, last(&view)),
                scalar => scalar,
            };
            return self.with_view(last(self.view())).store(arg, 0, waits);
        }
        let node = self.versions.current();
        if !node.layout.is_whole() && through(self.view(), &node.base).is_none() {
            return match in_bytes(&node, self.view()) {
                Some(_) => self.store_bytes(&node, arg),
                None => self.store_across(&node, &arg),
            };
        }
        if self.versions.is_lent() {
            return self.store_in_place(&node, arg);
        }
        let (arg, uses) = match self.is_shared(&node) && arg.is_spread() {
            true => (self.brought(arg)?, 0),
            false => (arg, uses),
        };
        let depth = if self.is_shared(&node) { OPERATION_AND_CASTS } else { 0 };
        let (arg, uses) = match reads_outside_view(&arg, &node, depth) {
            true => (self.copied_aside(&node, arg)?, 0),
            false => (arg, uses),
        };
        if Arc::strong_count(&node) > 2 + uses {
            // It may be that a write that waits is who holds it.
            session.settle(&node)?;
        }
        // Two holders, the box and this function, besides the uses. One more needs the old values.
        // (Who holds what may differ from rank to rank, what is computed may not: a pending array
        // that is overwritten is never computed first.)
        let overwritten = node.layout.is_whole() && covers(self.view(), &node.base);
        let needless = overwritten && node.state().is_pending();
        // What is one value everywhere is written where it stays so, and not where it is overwritten.
        let mostly = matches!(node.state(), State::Full(_)) && is_most(self.view(), &node.base);
        if Arc::strong_count(&node) == 2 + uses && !needless && !mostly {
            // As where a new version is made, which on other ranks it may be. Two holders: this function
            // and the argument.
            let source = source(&node, self.view(), &arg).map(|(root, _)| root.clone());
            let held = source.filter(|root| Arc::strong_count(root) > 2);
            let memory = value(session, &node)?;
            write(session, &node, self.view(), &memory, &arg)?;
            if let Some(root) = held {
                redefine(&root, &node, self.view());
            }
            return Ok(());
        }
        self.versions.replace(self.next_version(&node, arg, waits)?);
        Ok(())
    }

    /// The next version: something written in a view of it, and what there was elsewhere.
    fn next_version(
        &self,
        old: &Arc<Node>,
        arg: Arg,
        waits: bool,
    ) -> Result<Arc<Node>, GraphError> {
        let (session, base, layout) = (self.session(), old.base.clone(), old.layout.clone());
        if let Some(next) = next_in_pieces(session, old, self.view(), &arg)? {
            return Ok(next);
        }
        let Some(patch) = Patch::new(session, old, self.view(), &arg) else {
            let memory = begun(session, old, self.view())?;
            let next = Node::new(session, base, layout, State::Stored(memory.clone()));
            let next = next.as_version_of(old);
            write(session, &next, self.view(), &memory, &arg)?;
            return Ok(next);
        };
        drop(arg);
        let waits = waits && patch.may_wait();
        let next = Node::new(session, base, layout, State::Patched(patch.into()));
        match waits {
            true => session.wait_with(&next, &self.versions)?,
            false => drop(value(session, &next)?),
        }
        Ok(next)
    }

    /// Is all of it on every one of several ranks?
    fn is_shared(&self, node: &Node) -> bool {
        node.layout.is_whole() && self.session().fabric().size() > 1
    }

    /// An argument whose values are here, so that writing it over an array that is all here is for
    /// each rank to do alone, as it has to be done there.
    fn brought(&self, arg: Arg) -> Result<Arg, GraphError> {
        let here = gathered(self.session(), &arg, arg.dtype(), self.shape())?;
        let view = here.base.clone();
        Ok(Arg::Part(here, view))
    }

    /// Somebody outside sees the memory: the result is computed beside it first, where the value
    /// may read what is written.
    fn store_in_place(&self, node: &Arc<Node>, arg: Arg) -> Result<(), GraphError> {
        let session = self.session();
        let memory = value(session, node)?;
        let arg = self.copied_aside(node, arg)?;
        write(session, node, self.view(), &memory, &arg)
    }

    /// An argument in memory of its own, laid out as the node is that it is written over.
    fn copied_aside(&self, node: &Node, arg: Arg) -> Result<Arg, GraphError> {
        let (session, dtype) = (self.session(), arg.dtype());
        if let Arg::Scalar(_) = arg {
            return Ok(arg);
        }
        let layout = match node.layout {
            Layout::Whole => Layout::Whole,
            Layout::Split(_) => session.layout(dtype, self.shape()),
        };
        let aside = laid_out(session, &arg, View::c_order(dtype, self.shape()), layout)?;
        let view = aside.base.clone();
        Ok(Arg::Part(aside, view))
    }

    /// A copy that shares memory until one of the two is written.
    pub fn copied(&self) -> Result<Array, GraphError> {
        let node = self.versions.current();
        match *self.view() == node.base && !self.versions.is_lent() {
            true => Ok(Array::over(self.session(), node)),
            false => self.cast_copy(self.dtype()),
        }
    }

    /// A copy in C order, in another dtype.
    pub fn cast_copy(&self, dtype: DType) -> Result<Array, GraphError> {
        let session = self.session();
        let arg = self.arg();
        let layout = layout_like(session, std::slice::from_ref(&arg), dtype, self.shape());
        let base = View::c_order(dtype, self.shape());
        Ok(Array::over(session, laid_out(session, &arg, base, layout)?))
    }
}

/// Pending operations that may read memory of somebody else's: the one that was just requested, and
/// the casts of its operands. What was requested before has been evaluated.
const OPERATION_AND_CASTS: usize = 2;

/// Does an argument read memory of somebody else's that shares bytes with a node's own, through
/// pending operations up to a depth? On several ranks NumPy is shown the memory of replicated arrays,
/// and may hand it back.
fn reads_outside_view(arg: &Arg, node: &Node, depth: usize) -> bool {
    let (Arg::Part(other, _), Some(own)) = (arg, node.whole_memory()) else { return false };
    if let State::Map(map) = other.state()
        && depth > 0
    {
        return map.args.iter().any(|arg| reads_outside_view(arg, node, depth - 1));
    }
    let addresses = |memory: &Buffer| {
        let start = memory.as_ptr().addr();
        start..start + memory.len()
    };
    other.whole_memory().filter(|memory| memory.is_foreign()).is_some_and(|memory| {
        let (read, written) = (addresses(memory), addresses(own));
        read.start < written.end && written.start < read.end
    })
}

/// An axis along which a view stays where it is.
fn repeated(view: &View) -> Option<usize> {
    view.shape.iter().zip(&view.strides).position(|(&length, &stride)| length > 1 && stride == 0)
}

/// A value's view, repeated to the target's shape. Leading axes of length 1 are dropped, as in
/// NumPy.
pub(super) fn fitted(value: &Array, shape: &[usize]) -> Result<View, GraphError> {
    let mut view = value.view().clone();
    while view.shape.len() > shape.len() && view.shape[0] == 1 {
        view.shape.remove(0);
        view.strides.remove(0);
    }
    let fail = || GraphError::Assigned { from: view.shape.to_vec(), to: shape.to_vec() };
    view.broadcast(shape).ok_or_else(fail)
}
