//! The distribution of a program's values, and this rank's block of them.
//!
//! Blocks of distributed arrays are read in place where possible.

use std::sync::Arc;

use dappled_kernels::View;
use dappled_protocol::slice::{KeyItem, SliceKey};
use dappled_protocol::{AxisMap, Distribution, Held};

use super::ReduceInput;
use crate::array::node::{Node, NodeInput, NodeState};
use crate::array::placement::{DistributedPlacement, Placement};
use crate::error::{Error, Result};
use crate::graph::fusion::{FusedProgram, fuse};
use crate::plan::operand::PlanOperand;
use crate::run::distributed::materialize_program;
use crate::run::evaluate::materialize;
use crate::run::piece::LocalPiece;
use crate::session::Session;
use crate::view::axis_mapping;
use crate::view::axis_mapping::AxisMapping;

/// The distribution of the values, without padding: that of the first distributed input, seen
/// through its view.
pub(crate) fn values_distribution(session: &Session, values: &ReduceInput) -> Distribution {
    let shape: Vec<u64> = values.shape.iter().map(|&length| length as u64).collect();
    let mut candidates =
        values.fused.inputs.iter().filter_map(|(node, view)| match &node.placement {
            Placement::Distributed(placement) => {
                Some(view_distribution(placement, &axis_mapping(view, &node.base)?)?)
            }
            Placement::Replicated => None,
        });
    let distribution =
        candidates.find(|candidate| candidate.held() == Held::Grid && candidate.shape() == shape);
    distribution.unwrap_or_else(|| session.block_distribution(&values.shape))
}

/// The shape of a rank's local piece.
pub(crate) fn local_shape(target: &Distribution, rank: u64) -> Vec<usize> {
    target.local_shape(rank).iter().map(|&length| length as usize).collect()
}

/// Returns true if the blocks of an axis ascend in the order of the ranks.
pub(crate) fn is_block_ordered(map: &AxisMap) -> bool {
    let blocks = (0..map.grid()).flat_map(|rank| map.owned_ranges(rank));
    matches!(map.dist_type(), 'b' | 'n')
        && !map.is_padded()
        && blocks.is_sorted_by_key(|block| *block.start())
        && is_ascending(map)
}

/// Returns true if each element of an axis has one owner.
pub(crate) fn is_partition(map: &AxisMap) -> bool {
    (0..map.grid()).map(|rank| map.owned(rank)).sum::<u64>() == map.size()
}

/// Returns true if each rank's elements of an axis ascend.
pub(crate) fn is_ascending(map: &AxisMap) -> bool {
    let is_ascending = |rank: u64| map.owned(rank) < 2 || map.global(rank, 0) < map.global(rank, 1);
    map.dist_type() != 'u' && (0..map.grid()).all(is_ascending)
}

/// The distribution of the elements of a view; `None` if its axes are permuted.
fn view_distribution(
    placement: &DistributedPlacement,
    mapping: &AxisMapping,
) -> Option<Distribution> {
    let base = &placement.distribution;
    let key = key_of_mapping(mapping, &base.shape())?;
    Some(base.slice(&key).ok()?.without_padding())
}

/// The key that selects the elements of a view.
fn key_of_mapping(mapping: &AxisMapping, shape: &[u64]) -> Option<SliceKey> {
    let (mut items, mut next) = (Vec::new(), 0);
    for along in &mapping.axes {
        let Some((axis, step)) = along.base_axis else {
            (along.length == 1).then(|| items.push(KeyItem::NewAxis))?;
            continue;
        };
        let skipped = mapping.starts.get(next..axis)?;
        items.extend(skipped.iter().map(|&start| KeyItem::Index(start as i64)));
        let start = mapping.starts[axis] as i64;
        let stop = start + step * along.length as i64;
        items.push(KeyItem::Slice(Some(start), (stop >= 0).then_some(stop), Some(step)));
        next = axis + 1;
    }
    items.extend(mapping.starts[next..].iter().map(|&start| KeyItem::Index(start as i64)));
    SliceKey::new(&items, shape).ok()
}

/// This rank's part of the values in a distribution without padding. Collective.
///
/// Values that have this distribution are read in place; others are materialised in it first.
pub(crate) fn local_values(
    session: &Session,
    values: ReduceInput,
    target: &Distribution,
) -> Result<ReduceInput> {
    let inputs = values.fused.inputs.iter();
    let fused = match inputs.clone().all(|(node, view)| is_local(node, view, target)) {
        true => {
            let inputs = inputs.map(|(node, view)| local_input(session, node, view, target));
            FusedProgram { inputs: inputs.collect::<Result<_, _>>()?, ..values.fused }
        }
        false => {
            let dtype = values.dtype();
            let placement = Placement::distributed(target.clone(), dtype, session.fabric().rank());
            let base = View::c_order(dtype, &values.shape);
            let node = materialize_program(session, &values.fused, base, placement)?;
            let (node, view) = local_input(session, &node, &node.base, target)?;
            fuse(&NodeInput::Array(node, view), dtype)
        }
    };
    Ok(ReduceInput { fused, ..values })
}

/// Returns true if each rank's part of a view is evenly spaced in its memory; equal on all ranks.
fn is_local(node: &Node, view: &View, target: &Distribution) -> bool {
    let is_in_blocks = target.axes().iter().all(|map| matches!(map.dist_type(), 'b' | 'n'));
    match &node.placement {
        Placement::Replicated => target.axes().iter().all(is_block_ordered),
        Placement::Distributed(placement) => {
            let distribution = axis_mapping(view, &node.base)
                .and_then(|mapping| view_distribution(placement, &mapping));
            (is_in_blocks || *view == node.base) && distribution.as_ref() == Some(target)
        }
    }
}

/// This rank's part of a view, as a replicated array.
fn local_input(
    session: &Session,
    node: &Arc<Node>,
    view: &View,
    target: &Distribution,
) -> Result<(Arc<Node>, View)> {
    let (rank, memory) = (session.fabric().rank(), materialize(session, node)?);
    let local = local_shape(target, rank);
    let part = match &node.placement {
        _ if local.contains(&0) => View::c_order(view.dtype, &local),
        Placement::Replicated => local_slice(view, target, rank),
        Placement::Distributed(placement) => {
            let mapping = axis_mapping(view, &node.base).ok_or(Error::UnmappedTarget)?;
            let operand = PlanOperand::new(&placement.distribution, mapping)?;
            let (cells, lengths) = operand.strided_cells(rank).ok_or(Error::UnmappedTarget)?;
            let piece = LocalPiece { buffer: memory.clone(), view: placement.local_view.clone() };
            piece.cells_view(&cells, &lengths)
        }
    };
    Ok((Node::new(session, part.clone(), Placement::Replicated, NodeState::Stored(memory)), part))
}

/// The block of a view that a rank owns.
fn local_slice(view: &View, target: &Distribution, rank: u64) -> View {
    let coords = target.coords(rank);
    let ranges = target.axes().iter().zip(coords).map(|(map, coord)| owned_range(map, coord));
    ranges.enumerate().fold(view.clone(), |view, (axis, range)| {
        view.slice_axis(axis, range.start as usize, 1, (range.end - range.start) as usize)
    })
}

/// The range of a block axis that the ranks at a grid coordinate own.
pub(crate) fn owned_range(map: &AxisMap, coord: u64) -> std::ops::Range<u64> {
    let range = map.owned_ranges(coord).next();
    range.map_or(0..0, |range| *range.start() as u64..*range.end() as u64 + 1)
}
