//! Deferred writes: the next version of an array, part of which is still to be written.
//!
//! The next reader often traverses the whole array, as a norm does; the write is then fused into
//! that pass. The write is in place if the old version has no other holder by then.

use std::sync::{Arc, Mutex, PoisonError};

use dappled_kernels::{Buffer, Op, View};

use crate::array::node::{DeferredValue, ElementwiseOp, Node, NodeInput, NodeState};
use crate::array::ownership::KnownHolders;
use crate::array::storage::Storage;
use crate::config::MAX_CACHED_COPY_BYTES;
use crate::error::Result;
use crate::graph::fusion::fuse;
use crate::graph::pending::PendingArrays;
use crate::run::complement::{begin_next_version, covers_most};
use crate::run::evaluate::{local_bytes, materialize, run_fused, run_in_place};
use crate::session::Session;

/// A deferred write of an input to a view of an array.
pub(crate) struct DeferredWrite {
    pub old: Arc<Node>,
    pub view: View,
    pub input: NodeInput,
    /// Held during the write; other readers wait for it.
    pub write_lock: Mutex<()>,
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

    /// Writes over the old version, if it has no other holder and one pass over memory suffices.
    ///
    /// Holders of the input read the written array from now on.
    fn write_in_place(&self, session: &Session, node: &Arc<Node>) -> Result<Option<Buffer>> {
        let (NodeInput::Array(root, _), Some(memory)) = (&self.input, self.old.replicated_buffer())
        else {
            return Ok(None);
        };
        let NodeState::Elementwise(op) = root.state() else { return Ok(None) };
        let known = KnownHolders::ONE.with_reads(count_uses(&op, &self.old));
        if self.old.is_shared(known) || prefers_copy(&self.view, &self.old) {
            return Ok(None);
        }
        let (view, dtype) = (&self.view, self.view.dtype);
        if !run_in_place(session, &fuse(&self.input, dtype), view, memory)? {
            return Ok(None);
        }
        root.redefine(view_of_node(node, view));
        Ok(Some(memory.clone()))
    }

    fn write_copy(&self, session: &Session, node: &Arc<Node>) -> Result<Buffer> {
        let fused = fuse(&self.input, self.view.dtype);
        let memory = begin_next_version(session, &self.old, &self.view)?;
        run_fused(session, &fused, node, &self.view, &memory)?;
        Ok(memory)
    }
}

impl DeferredValue for DeferredWrite {
    /// Writes, and returns the memory of `node`, the next version.
    fn compute(&self, session: &Session, node: &Arc<Node>) -> Result<Buffer> {
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

    fn description(&self) -> &'static str {
        "deferred write to a view"
    }
}

impl Session {
    /// Defers a write, and flushes the previous one.
    pub(crate) fn defer_write(&self, next: &Arc<Node>, storage: &Arc<Storage>) -> Result<()> {
        self.flush_deferred_write(next)?;
        *self.layer::<PendingArrays>().deferred_write() = Arc::downgrade(next);
        self.pending().add(storage, false, 0);
        Ok(())
    }

    /// Runs the deferred write, unless it is `except`: it holds arrays that others may overwrite.
    pub(crate) fn flush_deferred_write(&self, except: &Arc<Node>) -> Result<()> {
        let deferred = self
            .layer::<PendingArrays>()
            .deferred_write()
            .upgrade()
            .filter(|deferred| !Arc::ptr_eq(deferred, except));
        deferred.map_or(Ok(()), |deferred| materialize(self, &deferred).map(drop))
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
        NodeInput::Array(node, _) if !node.is_shared(KnownHolders::ONE) => match node.state() {
            NodeState::Elementwise(op) => count_uses(&op, array),
            _ => 0,
        },
        _ => 0,
    };
    op.inputs.iter().map(uses_of).sum()
}
