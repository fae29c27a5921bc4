//! Where the values of a program lie, and what this rank has of them: parts of arrays in pieces are
//! read where they are.

use std::sync::Arc;

use dappled_kernels::View;
use dappled_protocol::slice::{Item, Key};
use dappled_protocol::{AxisMap, Distribution, Held};

use super::evaluate::value;
use super::fold::Values;
use super::fuse::{Fused, fused};
use super::layout::{Layout, Split};
use super::node::{Arg, Node, State};
use super::spread::computed;
use super::{GraphError, Session};
use crate::plan::{Operand, Through};
use crate::run::Piece;
use crate::view::through;

/// Where the values lie, padding left out: as the first array in pieces that they are made of does,
/// seen through its view.
pub(super) fn lies(session: &Session, values: &Values) -> Distribution {
    let shape: Vec<u64> = values.shape.iter().map(|&length| length as u64).collect();
    let mut found = values.fused.inputs.iter().filter_map(|(node, view)| match &node.layout {
        Layout::Split(split) => Some(part_of(split, &through(view, &node.base)?)?),
        Layout::Whole => None,
    });
    let found = found.find(|found| found.held() == Held::Grid && found.shape() == shape);
    found.unwrap_or_else(|| session.blocks(&values.shape))
}

/// The shape of a rank's piece.
pub(super) fn local_shape(target: &Distribution, rank: u64) -> Vec<usize> {
    target.local_shape(rank).iter().map(|&length| length as usize).collect()
}

/// Are the parts of an axis one behind the other, in the order of the ranks?
pub(super) fn is_in_order(map: &AxisMap) -> bool {
    let parts = (0..map.grid()).flat_map(|rank| map.owned_ranges(rank));
    matches!(map.dist_type(), 'b' | 'n')
        && !map.is_padded()
        && parts.is_sorted_by_key(|part| *part.start())
        && ascends(map)
}

/// Has no element of an axis more than one owner?
pub(super) fn is_owned_once(map: &AxisMap) -> bool {
    (0..map.grid()).map(|rank| map.owned(rank)).sum::<u64>() == map.size()
}

/// Has each rank what it has of an axis in its order?
pub(super) fn ascends(map: &AxisMap) -> bool {
    let ascends = |rank: u64| map.owned(rank) < 2 || map.global(rank, 0) < map.global(rank, 1);
    map.dist_type() != 'u' && (0..map.grid()).all(ascends)
}

/// How the elements that a view sees are shared; None where its axes are not in the base's order.
fn part_of(split: &Split, through: &Through) -> Option<Distribution> {
    let base = &split.distribution;
    let key = key_of(through, &base.shape())?;
    Some(base.slice(&key).ok()?.without_padding())
}

/// The key that selects what a view sees.
fn key_of(through: &Through, shape: &[u64]) -> Option<Key> {
    let (mut items, mut next) = (Vec::new(), 0);
    for along in &through.axes {
        let Some((axis, step)) = along.base else {
            (along.length == 1).then(|| items.push(Item::NewAxis))?;
            continue;
        };
        let skipped = through.starts.get(next..axis)?;
        items.extend(skipped.iter().map(|&start| Item::Index(start as i64)));
        let start = through.starts[axis] as i64;
        let stop = start + step * along.length as i64;
        items.push(Item::Slice(Some(start), (stop >= 0).then_some(stop), Some(step)));
        next = axis + 1;
    }
    items.extend(through.starts[next..].iter().map(|&start| Item::Index(start as i64)));
    Key::new(&items, shape).ok()
}

/// This rank's part of the values in a distribution without padding: what lies so is read as it is,
/// else they are computed there first. Collective.
pub(super) fn here(
    session: &Session,
    values: Values,
    target: &Distribution,
) -> Result<Values, GraphError> {
    let all = values.fused.inputs.iter();
    let fused = match all.clone().all(|(node, view)| is_here(node, view, target)) {
        true => {
            let inputs = all.map(|(node, view)| part_here(session, node, view, target));
            Fused { inputs: inputs.collect::<Result<_, _>>()?, ..values.fused }
        }
        false => {
            let dtype = values.dtype();
            let layout = Layout::split(target.clone(), dtype, session.fabric().rank());
            let base = View::c_order(dtype, &values.shape);
            let node = computed(session, &values.fused, base, layout)?;
            let (node, view) = part_here(session, &node, &node.base, target)?;
            fused(session, &Arg::Part(node, view), dtype)?
        }
    };
    Ok(Values { fused, ..values })
}

/// Is each rank's part of a view evenly spaced in its memory? The same on every rank.
fn is_here(node: &Node, view: &View, target: &Distribution) -> bool {
    let blocks = target.axes().iter().all(|map| matches!(map.dist_type(), 'b' | 'n'));
    match &node.layout {
        Layout::Whole => target.axes().iter().all(is_in_order),
        Layout::Split(split) => {
            let found = through(view, &node.base).and_then(|through| part_of(split, &through));
            (blocks || *view == node.base) && found.as_ref() == Some(target)
        }
    }
}

/// This rank's part of a view, as an array by itself.
fn part_here(
    session: &Session,
    node: &Arc<Node>,
    view: &View,
    target: &Distribution,
) -> Result<(Arc<Node>, View), GraphError> {
    let (rank, memory) = (session.fabric().rank(), value(session, node)?);
    let local = local_shape(target, rank);
    let part = match &node.layout {
        _ if local.contains(&0) => View::c_order(view.dtype, &local),
        Layout::Whole => cut(view, target, rank),
        Layout::Split(split) => {
            let through = through(view, &node.base).ok_or(GraphError::Target)?;
            let operand = Operand::new(&split.distribution, through)?;
            let (cells, lengths) = operand.straight_cells(rank).ok_or(GraphError::Target)?;
            let piece = Piece { buffer: memory.clone(), view: split.local.clone() };
            piece.cells(&cells, &lengths)
        }
    };
    Ok((Node::new(session, part.clone(), Layout::Whole, State::Stored(memory)), part))
}

/// The block of a view that a rank has.
fn cut(view: &View, target: &Distribution, rank: u64) -> View {
    let coords = target.coords(rank);
    let parts = target.axes().iter().zip(coords).map(|(map, at)| owned(map, at));
    parts.enumerate().fold(view.clone(), |view, (axis, part)| {
        view.region(axis, part.start as usize, 1, (part.end - part.start) as usize)
    })
}

/// What a rank of the axis owns of a block axis in order.
pub(super) fn owned(map: &AxisMap, rank: u64) -> std::ops::Range<u64> {
    let part = map.owned_ranges(rank).next();
    part.map_or(0..0, |part| *part.start() as u64..*part.end() as u64 + 1)
}
