//! Arrays of bytes: an array seen as the bytes, or as one field, of its elements.
//!
//! Every array is also an array of bytes with one more, undistributed axis: the bytes of an
//! element. A field of every element is an array in the same memory, whose strides are multiples of
//! the itemsize. Views that read other bytes than elements (fields, imaginary parts) are therefore
//! read and written in place.

use std::sync::Arc;

use dappled_kernels::{Buffer, DType, View};
use dappled_protocol::Distribution;

use super::node::{Node, NodeState};
use super::placement::{DistributedPlacement, Placement};
use crate::session::Session;
use crate::view::axis_mapping;

/// Base and placement of an array of some bytes of the elements of another.
pub(crate) struct ByteArray {
    base: View,
    placement: Placement,
}

impl ByteArray {
    /// Creates the node of the byte array, in the memory of `node`.
    pub fn node_over(self, session: &Session, node: &Node, memory: &Buffer) -> Arc<Node> {
        let bytes =
            Node::new(session, self.base, self.placement, NodeState::Stored(memory.clone()));
        bytes.with_id_of(node)
    }
}

/// Expresses a view of bytes or fields as a view of an array of bytes or fields.
///
/// None if the view selects neither whole bytes nor one field along the axes of the node.
pub(crate) fn as_byte_array(node: &Node, view: &View) -> Option<(ByteArray, View)> {
    let Placement::Distributed(placement) = &node.placement else { return None };
    if view.dtype == node.base.dtype {
        return None;
    }
    if view.dtype == DType::UInt8 {
        let distribution = placement.distribution.with_trailing(node.base.dtype.itemsize() as u64);
        let local = byte_view(&placement.local_view);
        let base = byte_view(&node.base);
        return axis_mapping(view, &base)
            .map(|_| (byte_array(base, distribution, local), view.clone()));
    }
    field_array(&node.base, placement, view)
}

fn byte_array(base: View, distribution: Distribution, local: View) -> ByteArray {
    ByteArray {
        base,
        placement: Placement::Distributed(Arc::new(DistributedPlacement {
            distribution,
            local_view: local,
        })),
    }
}

/// The array of one field of every element, and the view relative to it.
fn field_array(
    base: &View,
    placement: &DistributedPlacement,
    view: &View,
) -> Option<(ByteArray, View)> {
    let are_items = base.dtype == DType::UInt8 && !base.shape.is_empty();
    let ndim = base.shape.len() - usize::from(are_items);
    let item = if are_items { base.shape[ndim] } else { base.dtype.itemsize() };
    let is_undivided = !are_items || placement.distribution.axes()[ndim].grid() == 1;
    let (size, at) = (view.dtype.itemsize(), view.offset % item.max(1));
    if !is_undivided || at + size > item {
        return None;
    }
    let field_base = View::c_order(view.dtype, &base.shape[..ndim]);
    let field_view = View {
        dtype: view.dtype,
        offset: view.offset / item * size,
        shape: view.shape.clone(),
        strides: item_strides(view, item)?.map(|step| step * size as isize).collect(),
    };
    axis_mapping(&field_view, &field_base)?;
    let (shape, strides) =
        (&placement.local_view.shape[..ndim], &placement.local_view.strides[..ndim]);
    let offset = placement.local_view.offset + if placement.local_view.is_empty() { 0 } else { at };
    let local = View { dtype: view.dtype, offset, shape: shape.into(), strides: strides.into() };
    let distribution = match are_items {
        true => placement.distribution.without_trailing(),
        false => placement.distribution.clone(),
    };
    Some((byte_array(field_base, distribution, local), field_view))
}

/// The strides of a view in units of items; None if one is not a multiple.
fn item_strides(view: &View, item: usize) -> Option<impl Iterator<Item = isize>> {
    let item = item as isize;
    let axes = view.shape.iter().zip(&view.strides);
    let fits = axes.clone().all(|(&length, &stride)| length == 1 || stride % item == 0);
    fits.then(|| axes.map(move |(&length, &stride)| if length == 1 { 0 } else { stride / item }))
}

fn byte_view(view: &View) -> View {
    let mut bytes = View { dtype: DType::UInt8, ..view.clone() };
    bytes.shape.push(view.dtype.itemsize());
    bytes.strides.push(1);
    bytes
}
