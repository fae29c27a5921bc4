//! Placement of element-wise results, which follows that of the operands.

use std::sync::Arc;

use dappled_kernels::{DType, View};
use dappled_protocol::slice::{KeyItem, SliceKey};
use dappled_protocol::{Distribution, Held};

use crate::array::node::{Node, NodeInput};
use crate::array::placement::{DistributedPlacement, Placement};
use crate::session::Session;
use crate::view::axis_mapping;
use crate::view::axis_mapping::MappedAxis;

/// Chooses the placement of an element-wise result, so that little communication is needed.
///
/// The first rule that applies: the distribution of a distributed operand that is read in full; the
/// middle of the slices of a distributed operand, if they cover at least half of it; the default
/// placement.
pub(crate) fn placement_like(
    session: &Session,
    inputs: &[NodeInput],
    dtype: DType,
    shape: &[usize],
) -> Placement {
    if session.fabric().size() == 1 {
        return session.default_placement(dtype, shape);
    }
    let views = inputs.iter().filter_map(|input| match input {
        NodeInput::Array(node, view) if view.shape[..] == *shape => Some((node, view)),
        _ => None,
    });
    let views: Vec<(&Arc<Node>, &View)> = views.collect();
    let rank = session.fabric().rank();
    if let Some(placement) = views.iter().find_map(|(node, view)| full_read(node, view)) {
        let c_order = placement.local_view.offset == 0 && placement.local_view.is_contiguous();
        return match placement.local_view.dtype == dtype && c_order {
            true => Placement::Distributed(placement.clone()),
            false => Placement::distributed(placement.distribution.clone(), dtype, rank),
        };
    }
    match middle_of_slices(&views) {
        Some(distribution) => Placement::distributed(distribution, dtype, rank),
        None => session.default_placement(dtype, shape),
    }
}

/// The placement of a distributed array that is read in full.
fn full_read<'a>(node: &'a Node, view: &View) -> Option<&'a Arc<DistributedPlacement>> {
    match &node.placement {
        Placement::Distributed(placement)
            if *view == node.base && is_unpadded_grid(&placement.distribution) =>
        {
            Some(placement)
        }
        _ => None,
    }
}

/// The distribution of the mean position of shifted slices of one distributed array.
fn middle_of_slices(views: &[(&Arc<Node>, &View)]) -> Option<Distribution> {
    let mut slices: Vec<(&Arc<Node>, Vec<u64>)> = Vec::new();
    for (node, view) in views {
        if let Placement::Distributed(placement) = &node.placement
            && is_unpadded_grid(&placement.distribution)
            && let Some(starts) = slice_starts(view, &node.base)
        {
            slices.push((node, starts));
        }
    }
    let (node, _) = slices.first()?;
    let same =
        slices.iter().filter(|(other, _)| Arc::ptr_eq(node, other)).map(|(_, starts)| starts);
    let count = same.clone().count() as u64;
    let middle = |axis: usize| same.clone().map(|starts| starts[axis]).sum::<u64>() / count;
    let shape = &views.first()?.1.shape;
    let item = |(axis, &length): (usize, &usize)| {
        let start = middle(axis) as i64;
        KeyItem::Slice(Some(start), Some(start + length as i64), None)
    };
    let items: Vec<KeyItem> = shape.iter().enumerate().map(item).collect();
    let Placement::Distributed(placement) = &node.placement else { return None };
    let key = SliceKey::new(&items, &placement.distribution.shape()).ok()?;
    placement.distribution.slice(&key).ok()
}

/// The start of a slice with unit steps that covers at least half of its base; None for other
/// views.
fn slice_starts(view: &View, base: &View) -> Option<Vec<u64>> {
    let mapping = axis_mapping(view, base)?;
    let follows = |(axis, mapped): (usize, &MappedAxis)| match mapped.base_axis {
        Some(followed) => followed == (axis, 1),
        None => mapped.length == 1,
    };
    let is_large_slice = view.shape.len() == base.shape.len()
        && 2 * view.len() >= base.len()
        && mapping.axes.iter().enumerate().all(follows);
    is_large_slice.then_some(mapping.starts)
}

/// Returns true if every element has exactly one owner and no copies.
fn is_unpadded_grid(distribution: &Distribution) -> bool {
    let is_padded = (0..distribution.axes().len()).any(|axis| distribution.is_padded(axis));
    distribution.held() == Held::Grid && !is_padded
}
