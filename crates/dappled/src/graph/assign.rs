//! Writes: each makes the next version, in place where nobody needs the old one.

use std::sync::Arc;

use dappled_kernels::{Buffer, DType, Element, Op, Scalar, View};

use super::evaluate::{gathered, laid_out, run, run_over, value, write};
use super::fuse::{Fused, fused};
use super::items::in_bytes;
use super::layout::{Layout, layout_like};
use super::map::Operand;
use super::node::{Arg, Map, Node, State};
use super::outside::copy_outside;
use super::{Array, GraphError, Session};
use crate::run::RunError;
use crate::view::through;

/// Bytes of an array that the last cache of most machines holds twice.
const IN_CACHE: usize = 8 << 20;

impl Array {
    /// Writes a value over this array or view, as `a[...] = value` does, cast to its dtype. Who was
    /// asked before still reads what was there then.
    pub fn assign<'a>(&self, value: impl Into<Operand<'a>>) -> Result<(), GraphError> {
        let arg = match value.into() {
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
        self.store(arg, 0)
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
        self.store(Arg::Part(node, view), uses)
    }

    /// Writes an argument that reads what is written, element by element in the same place, so
    /// many times, and is not needed afterwards.
    pub(super) fn store(&self, arg: Arg, uses: usize) -> Result<(), GraphError> {
        let session = self.session();
        if self.view().is_empty() {
            return Ok(());
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
        // Two holders, the box and this function, besides the uses. One more needs the old values.
        // (Who holds what may differ from rank to rank, what is computed may not: a pending array
        // that is overwritten is never computed first.)
        let overwritten = node.layout.is_whole() && covers(self.view(), &node.base);
        let needless = overwritten && node.state().is_pending();
        if Arc::strong_count(&node) == 2 + uses && !needless {
            let memory = value(session, &node)?;
            return write(session, &node, self.view(), &memory, &arg);
        }
        let fused = fused_for(session, &node, self.view(), &arg)?;
        if let Some(fused) = &fused
            && self.store_over(&node, &arg, fused)?
        {
            return Ok(());
        }
        let next = next_version(session, &node, self.view(), |next, memory| match &fused {
            Some(fused) => run(session, fused, next, self.view(), memory),
            None => write(session, next, self.view(), memory, &arg),
        })?;
        self.versions.replace(next);
        Ok(())
    }

    /// Writes an argument over what it is made of, where nobody else needs that and it can be done
    /// in one pass over memory. Who holds the argument sees from now on what was written.
    fn store_over(&self, node: &Arc<Node>, arg: &Arg, fused: &Fused) -> Result<bool, GraphError> {
        let (Arg::Part(root, _), Some(memory)) = (arg, node.whole_memory()) else {
            return Ok(false);
        };
        if !run_over(self.session(), fused, self.view(), memory)? {
            return Ok(false);
        }
        let (dtype, written) = (self.dtype(), Arg::Part(node.clone(), self.view().clone()));
        let args = [written].into_iter().collect();
        root.redefine(Map::new(Op::Cast(dtype).into(), dtype, args));
        Ok(true)
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
        let arg = match arg {
            Arg::Part(..) => {
                let dtype = arg.dtype();
                let layout = match node.layout {
                    Layout::Whole => Layout::Whole,
                    Layout::Split(_) => session.layout(dtype, self.shape()),
                };
                let aside = laid_out(session, &arg, View::c_order(dtype, self.shape()), layout)?;
                let view = aside.base.clone();
                Arg::Part(aside, view)
            }
            scalar => scalar,
        };
        write(session, node, self.view(), &memory, &arg)
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

/// A value's view, repeated to the target's shape. Leading axes of length 1 are dropped, as in
/// NumPy.
fn fitted(value: &Array, shape: &[usize]) -> Result<View, GraphError> {
    let mut view = value.view().clone();
    while view.shape.len() > shape.len() && view.shape[0] == 1 {
        view.shape.remove(0);
        view.strides.remove(0);
    }
    let fail = || GraphError::Assigned { from: view.shape.to_vec(), to: shape.to_vec() };
    view.broadcast(shape).ok_or_else(fail)
}

/// Is every element of a base seen? Of other bytes than its elements perhaps half: imaginary parts.
fn covers(view: &View, base: &View) -> bool {
    view.len() == base.len() && view.dtype == base.dtype
}

/// The program of a large argument that reads what is to be written, if nobody but it needs that: the
/// array has two holders, its box and who writes it, and besides them its operations.
fn fused_for(
    session: &Session,
    node: &Arc<Node>,
    view: &View,
    arg: &Arg,
) -> Result<Option<Fused>, GraphError> {
    let Arg::Part(root, seen) = arg else { return Ok(None) };
    let State::Map(map) = root.state() else { return Ok(None) };
    let plain = *seen == root.base && seen.shape == view.shape && seen.dtype == view.dtype;
    let large = view.len() > session.limits().at_once;
    let here = !map.is_spread && root.layout.is_whole() && node.whole_memory().is_some();
    let pays = plain && large && here && !is_better_beside(view, &node.base);
    if !(pays && Arc::strong_count(node) == 2 + uses(&map, node)) {
        return Ok(None);
    }
    fused(session, arg, view.dtype).map(Some)
}

/// Is a write over most of an array that is twice in the cache? Then the next version is sooner in
/// memory of its own, as in place each row waits aside until those that read the old one are done.
fn is_better_beside(view: &View, base: &View) -> bool {
    base.len() * base.dtype.itemsize() <= IN_CACHE && view.len() * 2 >= base.len()
}

/// How often an operation, and what nobody but it needs, reads an array.
fn uses(map: &Map, array: &Arc<Node>) -> usize {
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

/// The next version: something written in a view of it, and what there was elsewhere.
fn next_version(
    session: &Session,
    old: &Arc<Node>,
    view: &View,
    write: impl FnOnce(&Arc<Node>, &Buffer) -> Result<(), GraphError>,
) -> Result<Arc<Node>, GraphError> {
    let before = match (old.state(), covers(view, &old.base)) {
        (_, true) if old.layout.is_whole() => None,
        (State::Full(value), _) => Some(Before::Full(value)),
        _ => Some(Before::Memory(value(session, old)?)),
    };
    let (next, memory) = Node::fresh(session, old.base.clone(), old.layout.clone());
    match before {
        Some(Before::Full(value)) => value.fill(&mut memory.write().map_err(RunError::from)?),
        Some(Before::Memory(before)) => copy_outside(session, old, view, &before, &memory)?,
        None => {}
    }
    write(&next, &memory)?;
    Ok(next)
}

enum Before {
    Full(Scalar),
    Memory(Buffer),
}
