//! Writes over arrays in pieces, each in the memory that it reads where that may be.

use std::sync::Arc;

use dappled_kernels::View;

use super::fuse::fused;
use super::node::{Arg, Map, Node, State};
use super::patch::{is_better_beside, part_of, uses};
use super::{GraphError, Session, spread};

/// The next version of an array in pieces, with an operation's result written over a view of it; None
/// for what is written as it is. Who holds the argument sees from now on what was written: on every
/// rank, as what they ask of each other may not depend on whose memory was free.
pub(super) fn next_in_pieces(
    session: &Session,
    old: &Arc<Node>,
    view: &View,
    arg: &Arg,
) -> Result<Option<Arc<Node>>, GraphError> {
    let Some((root, map)) = source(old, view, arg) else { return Ok(None) };
    // Two holders: the box, and who writes.
    let is_free = Arc::strong_count(old) == 2 + uses(&map, old) && !is_better_beside(view, old);
    drop(map);
    let fused = fused(session, arg, view.dtype)?;
    let (memory, id) = spread::next_version(session, &fused, (old, view), is_free)?;
    let next = Node::new(session, old.base.clone(), old.layout.clone(), State::Stored(memory));
    next.set_id(id);
    redefine(root, &next, view);
    Ok(Some(next))
}

/// The pending operation whose result is written as it is over a view of an array in pieces, if the
/// argument is one.
pub(super) fn source<'a>(
    old: &Node,
    view: &View,
    arg: &'a Arg,
) -> Option<(&'a Arc<Node>, Arc<Map>)> {
    let Arg::Part(root, seen) = arg else { return None };
    let State::Map(map) = root.state() else { return None };
    let plain = *seen == root.base && seen.shape == view.shape && seen.dtype == view.dtype;
    (plain && !old.layout.is_whole() && old.is_stored()).then_some((root, map))
}

/// Who holds the operation that was written reads from now on what was written.
pub(super) fn redefine(root: &Node, written: &Arc<Node>, view: &View) {
    if !root.is_stored() {
        root.redefine(part_of(written, view));
    }
}
