//! Writes to distributed arrays, in place where possible.

use std::sync::Arc;

use dappled_kernels::View;

use super::deferred::{count_uses, prefers_copy, view_of_node};
use crate::array::node::{ElementwiseOp, Node, NodeInput, NodeState};
use crate::array::ownership::KnownHolders;
use crate::error::Result;
use crate::graph::fusion::fuse;
use crate::run::distributed;
use crate::session::Session;

/// Creates the next version of a distributed array, with a pending result written to a view.
///
/// None if the input is not a pending result. Holders of the input read the written array from now
/// on, on every rank: later communication must not depend on which ranks could write in place.
pub(crate) fn next_distributed_version(
    session: &Session,
    old: &Arc<Node>,
    view: &View,
    input: &NodeInput,
) -> Result<Option<Arc<Node>>> {
    let Some((root, op)) = pending_source(old, view, input) else { return Ok(None) };
    let known = KnownHolders::STORAGE_AND_WRITER.with_reads(count_uses(&op, old));
    let is_free = !old.is_shared(known) && !prefers_copy(view, old);
    drop(op);
    let fused = fuse(input, view.dtype);
    let (memory, id) = distributed::write_next_version(session, &fused, (old, view), is_free)?;
    let next =
        Node::new(session, old.base.clone(), old.placement.clone(), NodeState::Stored(memory));
    next.set_id(id);
    redirect_to_written(root, &next, view);
    Ok(Some(next))
}

/// The pending operation whose result is written unchanged to a view of a distributed array.
pub(crate) fn pending_source<'a>(
    old: &Node,
    view: &View,
    input: &'a NodeInput,
) -> Option<(&'a Arc<Node>, Arc<ElementwiseOp>)> {
    let NodeInput::Array(root, source_view) = input else { return None };
    let NodeState::Elementwise(op) = root.state() else { return None };
    let is_unchanged = *source_view == root.base
        && source_view.shape == view.shape
        && source_view.dtype == view.dtype;
    (is_unchanged && !old.placement.is_replicated() && old.is_materialized()).then_some((root, op))
}

/// Makes holders of the written operation read the written array.
pub(crate) fn redirect_to_written(root: &Node, written: &Arc<Node>, view: &View) {
    if !root.is_materialized() {
        root.redefine(view_of_node(written, view));
    }
}
