//! Assignment: writes create the next version, in place if the current one has no other holder.
//!
//! ```text
//! bytes             writes to some bytes of each element
//! deferred          writes that are fused with the next reader
//! distributed       writes to distributed arrays
//! self_overlapping  writes to overlapping windows
//! ```

pub(crate) mod bytes;
pub(crate) mod deferred;
pub(crate) mod distributed;
pub(crate) mod self_overlapping;

use std::sync::Arc;

use dappled_kernels::{Buffer, DType, Element, Scalar, View, is_injective};

use crate::array::Array;
use crate::array::byte_array::as_byte_array;
use crate::array::node::{Node, NodeInput, NodeState};
use crate::array::ownership::KnownHolders;
use crate::array::placement::Placement;
use crate::config::ALIAS_SEARCH_DEPTH;
use crate::error::{Error, Result};
use crate::graph::operand::ElementwiseOperand;
use crate::graph::result_placement::placement_like;
use crate::run::complement::{begin_next_version, covers_all, covers_most};
use crate::run::evaluate::{materialize, materialize_in, materialize_replicated, write_arg};
use crate::view::axis_mapping;
use deferred::DeferredWrite;
use distributed::{next_distributed_version, pending_source, redirect_to_written};

impl Array {
    /// Assigns a value to this array or view, as `a[...] = value` does, cast to its dtype.
    ///
    /// Operations requested before still read the previous values.
    pub fn assign<'a>(&self, value: impl Into<ElementwiseOperand<'a>>) -> Result<()> {
        let value = value.into();
        if !is_injective(self.view()) && !self.view().is_empty() {
            return self.assign_sequentially(value);
        }
        let input = match value {
            ElementwiseOperand::Scalar(value) => {
                let value = value.cast(self.dtype());
                if self.view().len() == 1 && self.try_set_element(self.view().offset, value) {
                    return Ok(());
                }
                NodeInput::Scalar(value)
            }
            ElementwiseOperand::Array(array) => {
                NodeInput::Array(array.storage.current(), broadcast_to_target(array, self.shape())?)
            }
        };
        self.store_input(input, 0, true)
    }

    /// Fills the array with one value.
    pub fn fill<T: Element>(&self, value: T) -> Result<()> {
        self.assign(Scalar::new(value))
    }

    /// Assigns the result of an in-place operation, which has no other holder: `a += b`.
    pub(crate) fn assign_result(&self, node: Arc<Node>) -> Result<()> {
        let current = self.storage.current();
        let reads = |input: &&NodeInput| matches!(input, NodeInput::Array(node, _) if Arc::ptr_eq(node, &current));
        let reads_target =
            |input: &&NodeInput| matches!(input, NodeInput::Array(_, view) if view == self.view());
        let uses = match node.state() {
            NodeState::Elementwise(op) if node.base.shape[..] == *self.shape() => {
                let uses: Vec<&NodeInput> = op.inputs.iter().filter(reads).collect();
                if uses.iter().all(reads_target) { uses.len() } else { 0 }
            }
            _ => 0,
        };
        drop(current);
        let view = node.base.clone();
        // Not deferred: the caller checks the floating-point flags now.
        self.store_input(NodeInput::Array(node, view), uses, false)
    }

    /// Writes an input, which reads the written elements at the same positions `uses` times.
    ///
    /// The write is deferred if `may_defer` is true and that is worth it.
    pub(crate) fn store_input(&self, input: NodeInput, uses: usize, may_defer: bool) -> Result<()> {
        let session = self.session();
        if self.view().is_empty() {
            return Ok(());
        }
        self.storage.count_write();
        if let Some(axis) = broadcast_axis(self.view()) {
            // All elements are written to one position: the last one remains.
            let last = |view: &View| view.slice_axis(axis, view.shape[axis] - 1, 1, 1);
            let input = match input {
                NodeInput::Array(node, view) => NodeInput::Array(node, last(&view)),
                scalar => scalar,
            };
            return self.with_view(last(self.view())).store_input(input, 0, may_defer);
        }
        let node = self.storage.current();
        if !node.placement.is_replicated() && axis_mapping(self.view(), &node.base).is_none() {
            return match as_byte_array(&node, self.view()) {
                Some(_) => self.assign_bytes(&node, input),
                None => self.store_reindexed(&node, &input),
            };
        }
        if self.storage.is_lent() {
            return self.store_in_lent_memory(&node, input);
        }
        let (input, uses) = match self.is_replicated_on_ranks(&node) && input.is_distributed() {
            true => (self.gather_input(input)?, 0),
            false => (input, uses),
        };
        let depth = if self.is_replicated_on_ranks(&node) { ALIAS_SEARCH_DEPTH } else { 0 };
        let (input, uses) = match reads_aliased_memory(&input, &node, depth) {
            true => (self.copy_input(&node, input)?, 0),
            false => (input, uses),
        };
        let known = KnownHolders::STORAGE_AND_WRITER.with_reads(uses);
        if node.is_shared(known) {
            // The holder may be a deferred write.
            session.flush_deferred_write(&node)?;
        }
        // Holders may differ between ranks, evaluation may not: a pending array that is
        // overwritten is never evaluated first.
        let is_overwritten = node.placement.is_replicated() && covers_all(self.view(), &node.base);
        let is_dead = is_overwritten && node.state().is_pending();
        // An array filled with one value is filled outside the view only, not where it is
        // overwritten.
        let is_mostly_overwritten =
            matches!(node.state(), NodeState::Full(_)) && covers_most(self.view(), &node.base);
        if !node.is_shared(known) && !is_dead && !is_mostly_overwritten {
            // On other ranks a new version may be created, which redirects holders of the input; do
            // the same here.
            let source = pending_source(&node, self.view(), &input).map(|(root, _)| root.clone());
            let held_source = source.filter(|root| root.is_shared(KnownHolders::INPUT_AND_READER));
            let memory = materialize(session, &node)?;
            write_arg(session, &node, self.view(), &memory, &input)?;
            if let Some(root) = held_source {
                redirect_to_written(&root, &node, self.view());
            }
            return Ok(());
        }
        self.storage.replace(self.next_version(&node, input, may_defer)?);
        Ok(())
    }

    /// Creates the next version: the input in a view, and the old elements elsewhere.
    fn next_version(
        &self,
        old: &Arc<Node>,
        input: NodeInput,
        may_defer: bool,
    ) -> Result<Arc<Node>> {
        let (session, base, placement) = (self.session(), old.base.clone(), old.placement.clone());
        if let Some(next) = next_distributed_version(session, old, self.view(), &input)? {
            return Ok(next);
        }
        let Some(deferred) = DeferredWrite::try_new(session, old, self.view(), &input) else {
            let memory = begin_next_version(session, old, self.view())?;
            let next = Node::new(session, base, placement, NodeState::Stored(memory.clone()));
            let next = next.with_id_of(old);
            write_arg(session, &next, self.view(), &memory, &input)?;
            return Ok(next);
        };
        drop(input);
        let may_defer = may_defer && deferred.can_defer();
        let next = Node::new(session, base, placement, NodeState::Deferred(Arc::new(deferred)));
        match may_defer {
            true => session.defer_write(&next, &self.storage)?,
            false => drop(materialize(session, &next)?),
        }
        Ok(next)
    }

    /// Returns true if the node is replicated on several ranks.
    fn is_replicated_on_ranks(&self, node: &Node) -> bool {
        node.placement.is_replicated() && self.session().fabric().size() > 1
    }

    /// Gathers an input, so that each rank can write a replicated array alone. Collective.
    fn gather_input(&self, input: NodeInput) -> Result<NodeInput> {
        let gathered = materialize_replicated(self.session(), &input, input.dtype(), self.shape())?;
        let view = gathered.base.clone();
        Ok(NodeInput::Array(gathered, view))
    }

    /// Writes to lent memory. The input is copied first, because it may read the written elements.
    fn store_in_lent_memory(&self, node: &Arc<Node>, input: NodeInput) -> Result<()> {
        let session = self.session();
        let memory = materialize(session, node)?;
        let input = self.copy_input(node, input)?;
        write_arg(session, node, self.view(), &memory, &input)
    }

    /// Copies an input to new memory, with the placement of the node that it is written to.
    fn copy_input(&self, node: &Node, input: NodeInput) -> Result<NodeInput> {
        let (session, dtype) = (self.session(), input.dtype());
        if let NodeInput::Scalar(_) = input {
            return Ok(input);
        }
        let placement = match node.placement {
            Placement::Replicated => Placement::Replicated,
            Placement::Distributed(_) => session.default_placement(dtype, self.shape()),
        };
        let copy = materialize_in(session, &input, View::c_order(dtype, self.shape()), placement)?;
        let view = copy.base.clone();
        Ok(NodeInput::Array(copy, view))
    }

    /// Returns a copy that shares memory until either is written.
    pub fn copy(&self) -> Result<Array> {
        let node = self.storage.current();
        match *self.view() == node.base && !self.storage.is_lent() {
            true => Ok(Array::from_node(self.session(), node)),
            false => self.cast_copy(self.dtype()),
        }
    }

    /// Returns a copy in C order, cast to a dtype.
    pub fn cast_copy(&self, dtype: DType) -> Result<Array> {
        let session = self.session();
        let input = self.input();
        let placement = placement_like(session, std::slice::from_ref(&input), dtype, self.shape());
        let base = View::c_order(dtype, self.shape());
        Ok(Array::from_node(session, materialize_in(session, &input, base, placement)?))
    }
}

/// Returns true if an input reads foreign memory that overlaps the memory of a node.
///
/// Searches pending operations up to a depth. On several ranks, NumPy is shown the memory of
/// replicated arrays and may pass it back.
fn reads_aliased_memory(input: &NodeInput, node: &Node, depth: usize) -> bool {
    let (NodeInput::Array(other, _), Some(current)) = (input, node.replicated_buffer()) else {
        return false;
    };
    if let NodeState::Elementwise(op) = other.state()
        && depth > 0
    {
        return op.inputs.iter().any(|input| reads_aliased_memory(input, node, depth - 1));
    }
    let addresses = |memory: &Buffer| {
        let start = memory.as_ptr().addr();
        start..start + memory.len()
    };
    other.replicated_buffer().filter(|memory| memory.is_foreign()).is_some_and(|memory| {
        let (read, written) = (addresses(memory), addresses(current));
        read.start < written.end && written.start < read.end
    })
}

/// An axis with stride 0 and more than one element.
fn broadcast_axis(view: &View) -> Option<usize> {
    view.shape.iter().zip(&view.strides).position(|(&length, &stride)| length > 1 && stride == 0)
}

/// Broadcasts the view of a value to the target's shape. Leading axes of length 1 are dropped, as
/// in NumPy.
pub(crate) fn broadcast_to_target(value: &Array, shape: &[usize]) -> Result<View> {
    let mut view = value.view().clone();
    while view.shape.len() > shape.len() && view.shape[0] == 1 {
        view.shape.remove(0);
        view.strides.remove(0);
    }
    let fail = || Error::AssignmentShape { from: view.shape.to_vec(), to: shape.to_vec() };
    view.broadcast(shape).ok_or_else(fail)
}
