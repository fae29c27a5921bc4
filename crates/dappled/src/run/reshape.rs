//! Reshape of distributed arrays without gathering them.
//!
//! If every rank owns full rows of a C-ordered array, the local pieces are consecutive parts of the
//! flattened array. So an array is redistributed by rows, reinterpreted as flat, redistributed to
//! the row boundaries of the new shape, and reinterpreted in that shape. Elements that are in place
//! do not move. If there are fewer rows than ranks, each row is reshaped separately.

use std::sync::Arc;

use dappled_kernels::View;
use dappled_protocol::{AxisMap, AxisSpec, Distribution, Held, Spec};

use crate::array::node::{Node, NodeInput, NodeState};
use crate::array::placement::{DistributedPlacement, Placement};
use crate::error::Result;
use crate::run::complement::copy_to_c_order;
use crate::run::evaluate::{materialize, materialize_in, write_arg};
use crate::session::Session;
use crate::view::reshape::reshape_view;

/// Reshapes a node in C order to a shape of the same size. Collective.
///
/// The result has the given placement, or the one that moves the fewest elements.
pub(crate) fn reshape_distributed(
    session: &Session,
    node: &Arc<Node>,
    shape: &[usize],
    placement: Option<Placement>,
) -> Result<Arc<Node>> {
    let flat = flatten(session, node)?;
    let reshaped = unflatten(session, &flat, shape)?;
    match placement {
        Some(placement) if !has_placement(&reshaped, &placement) => {
            redistribute_node(session, &reshaped, placement)
        }
        _ => Ok(reshaped),
    }
}

/// Copies a node to exclusive memory in C order. Local.
pub(crate) fn copy_to_own_memory(session: &Session, node: &Arc<Node>) -> Result<Arc<Node>> {
    let local = node.placement.local_view(&node.base);
    let memory = copy_to_c_order(session, &materialize(session, node)?, local)?;
    let copy = Node::new(
        session,
        node.base.clone(),
        c_order_placement(session, node),
        NodeState::Stored(memory),
    );
    Ok(copy.with_id_of(node))
}

/// The placement of a node, with local pieces in C order.
pub(crate) fn c_order_placement(session: &Session, node: &Node) -> Placement {
    match &node.placement {
        Placement::Replicated => Placement::Replicated,
        Placement::Distributed(placement) => {
            let rank = session.fabric().rank();
            Placement::distributed(placement.distribution.clone(), node.base.dtype, rank)
        }
    }
}

/// Returns true if a node has this placement.
pub(crate) fn has_placement(node: &Node, placement: &Placement) -> bool {
    match (&node.placement, placement) {
        (Placement::Distributed(current), Placement::Distributed(other)) => {
            current.distribution == other.distribution && current.local_view == other.local_view
        }
        (current, other) => current.is_replicated() && other.is_replicated(),
    }
}

/// Copies a node to new memory with another placement. Collective.
pub(crate) fn redistribute_node(
    session: &Session,
    node: &Arc<Node>,
    placement: Placement,
) -> Result<Arc<Node>> {
    let array = NodeInput::Array(node.clone(), node.base.clone());
    materialize_in(session, &array, node.base.clone(), placement)
}

/// Flattens a node to one axis.
fn flatten(session: &Session, node: &Arc<Node>) -> Result<Arc<Node>> {
    let shape = &node.base.shape;
    if shape.len() == 1 && is_row_partitioned(node) {
        return Ok(node.clone());
    }
    if !has_row_per_rank(session, shape) {
        return flatten_by_rows(session, node);
    }
    let rows = match is_row_partitioned(node) {
        true => node.clone(),
        false => redistribute_node(session, node, row_placement(session, node, None))?,
    };
    let Placement::Distributed(placement) = &rows.placement else {
        return flatten_by_rows(session, &rows);
    };
    let row = shape[1..].iter().product::<usize>() as u64;
    let bounds =
        axis_bounds(&placement.distribution.axes()[0]).iter().map(|bound| bound * row).collect();
    reinterpret_pieces(
        session,
        &rows,
        &[node.base.len()],
        &blocks_with_bounds(&[node.base.len()], bounds),
    )
}

/// Flattens a node that has fewer rows than ranks, row by row.
fn flatten_by_rows(session: &Session, node: &Arc<Node>) -> Result<Arc<Node>> {
    let flat = empty_in_blocks(session, node, &[node.base.len()]);
    for (row, view) in rows_of_view(&node.base).enumerate() {
        let length = view.len();
        let part = NodeInput::Array(node.clone(), view.clone());
        let base = View::c_order(view.dtype, &view.shape);
        let placement = session.distributed_placement(base.dtype, &base.shape);
        let part = flatten(session, &materialize_in(session, &part, base, placement)?)?;
        let view = flat.base.slice_axis(0, row * length, 1, length);
        let memory = materialize(session, &flat)?;
        write_arg(
            session,
            &flat,
            &view,
            &memory,
            &NodeInput::Array(part.clone(), part.base.clone()),
        )?;
    }
    Ok(flat)
}

/// Gives a flat node another shape.
fn unflatten(session: &Session, flat: &Arc<Node>, shape: &[usize]) -> Result<Arc<Node>> {
    if !has_row_per_rank(session, shape) {
        return unflatten_by_rows(session, flat, shape);
    }
    let target = row_blocks(session, shape);
    let row = shape[1..].iter().product::<usize>() as u64;
    let bounds: Vec<u64> = axis_bounds(&target.axes()[0]).iter().map(|bound| bound * row).collect();
    let placement = row_placement(session, flat, Some(bounds));
    let aligned = match has_placement(flat, &placement) {
        true => flat.clone(),
        false => redistribute_node(session, flat, placement)?,
    };
    reinterpret_pieces(session, &aligned, shape, &target)
}

/// Gives a flat node a shape with fewer rows than ranks, row by row.
fn unflatten_by_rows(session: &Session, flat: &Arc<Node>, shape: &[usize]) -> Result<Arc<Node>> {
    let result = empty_in_blocks(session, flat, shape);
    for (row, view) in rows_of_view(&result.base).enumerate() {
        let length = view.len();
        let part = NodeInput::Array(flat.clone(), flat.base.slice_axis(0, row * length, 1, length));
        let base = View::c_order(view.dtype, &[length]);
        let placement = session.distributed_placement(base.dtype, &base.shape);
        let part = materialize_in(session, &part, base, placement)?;
        let part = unflatten(session, &part, &view.shape)?;
        let memory = materialize(session, &result)?;
        write_arg(
            session,
            &result,
            &view,
            &memory,
            &NodeInput::Array(part.clone(), part.base.clone()),
        )?;
    }
    Ok(result)
}

/// Creates an unwritten node in blocks, with the dtype of another.
fn empty_in_blocks(session: &Session, like: &Node, shape: &[usize]) -> Arc<Node> {
    let base = View::c_order(like.base.dtype, shape);
    let placement = session.distributed_placement(base.dtype, shape);
    Node::with_new_buffer(session, base, placement).0
}

/// The rows of a view with at least two axes.
fn rows_of_view(view: &View) -> impl Iterator<Item = View> {
    let row = |index: usize| {
        let mut row = view.slice_axis(0, index, 1, 1);
        row.shape.remove(0);
        row.strides.remove(0);
        row
    };
    (0..view.shape[0]).map(row)
}

/// Returns true if there are at least as many rows as ranks.
fn has_row_per_rank(session: &Session, shape: &[usize]) -> bool {
    shape.len() <= 1 || shape[0] as u64 >= session.fabric().size()
}

/// Returns true if each local piece is a range of full rows, in order and without padding.
fn is_row_partitioned(node: &Node) -> bool {
    let Placement::Distributed(placement) = &node.placement else { return false };
    let distribution = &placement.distribution;
    let [first, others @ ..] = distribution.axes() else { return false };
    let is_padded = (0..node.base.shape.len()).any(|axis| distribution.is_padded(axis));
    let is_undistributed = |map: &AxisMap| map.grid() == 1 && map.dist_type() != 'u';
    let ranks = first.grid() == distribution.nprocs();
    distribution.held() == Held::Grid && !is_padded && ranks && {
        others.iter().all(is_undistributed) && is_consecutive(first)
    }
}

/// Returns true if the ranks own consecutive ranges of an axis.
fn is_consecutive(map: &AxisMap) -> bool {
    let mut next = 0;
    let mut follows = |rank: u64| {
        let owned = map.owned(rank);
        let first = map.owned_ranges(rank).next().map(|range| *range.start());
        let fits = owned == 0 || first == Some(next);
        next += owned as i64;
        fits
    };
    matches!(map.dist_type(), 'b' | 'n') && (0..map.grid()).all(&mut follows)
}

/// The first index of each rank's range of an axis, and the length of the axis.
fn axis_bounds(map: &AxisMap) -> Vec<u64> {
    let ends = (0..map.grid()).scan(0, |end, rank| {
        *end += map.owned(rank);
        Some(*end)
    });
    [0].into_iter().chain(ends).collect()
}

/// A placement with full rows on each rank: with these bounds, or balanced.
fn row_placement(session: &Session, node: &Node, bounds: Option<Vec<u64>>) -> Placement {
    let shape = &node.base.shape;
    let distribution = match bounds {
        Some(bounds) => blocks_with_bounds(shape, bounds),
        None => row_blocks(session, shape),
    };
    Placement::distributed(distribution, node.base.dtype, session.fabric().rank())
}

fn row_blocks(session: &Session, shape: &[usize]) -> Distribution {
    let (ranks, rows) = (session.fabric().size(), shape[0] as u64);
    let map = AxisMap::block(rows, ranks);
    blocks_with_bounds(shape, axis_bounds(&map))
}

/// Blocks along the first axis with these bounds.
fn blocks_with_bounds(shape: &[usize], bounds: Vec<u64>) -> Distribution {
    let axis = |(axis, &size): (usize, &usize)| AxisSpec {
        size: size as u64,
        kind: Some(if axis == 0 { 'b' } else { 'n' }),
        bounds: (axis == 0).then(|| bounds.clone()),
        ..AxisSpec::default()
    };
    let axes = shape.iter().enumerate().map(axis).collect();
    Spec { axes, nprocs: None }.build().expect("bounds ascend")
}

/// Reinterprets local pieces as pieces of another shape and distribution. Local.
///
/// The memory is shared if its strides allow the new shape.
fn reinterpret_pieces(
    session: &Session,
    node: &Arc<Node>,
    shape: &[usize],
    distribution: &Distribution,
) -> Result<Arc<Node>> {
    let base = View::c_order(node.base.dtype, shape);
    let local = distribution.local_shape(session.fabric().rank());
    let local: Vec<usize> = local.iter().map(|&length| length as usize).collect();
    let memory = materialize(session, node)?;
    let current = node.placement.local_view(&node.base);
    let (memory, local) = match reshape_view(current, &local) {
        Some(view) => (memory, view),
        None => {
            let view = View::c_order(current.dtype, &local);
            (copy_to_c_order(session, &memory, current)?, view)
        }
    };
    let placement = Placement::Distributed(Arc::new(DistributedPlacement {
        distribution: distribution.clone(),
        local_view: local,
    }));
    Ok(Node::new(session, base, placement, NodeState::Stored(memory)).with_id_of(node))
}
