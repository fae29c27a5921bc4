//! Arrays of bytes, for fields and for dtypes without kernels.
//!
//! Every array is also an array of bytes with one more, undistributed axis: the bytes of an
//! element. A field of every element is an array in the same memory, whose strides are multiples of
//! the itemsize. Views that read other bytes than elements (fields, imaginary parts) are therefore
//! read and written in place. Elements of opaque dtypes (*items*: dates, strings, structures) are
//! stored as arrays of bytes, and move between ranks as bytes.

use std::sync::Arc;

use dappled_kernels::{Buffer, DType, Scalar, View};
use dappled_protocol::Distribution;

use super::Array;
use super::placement::{DistributedPlacement, Placement};
use crate::error::{Error, Result};
use crate::graph::node::{Node, NodeInput, NodeState};
use crate::ops::redistribute::LentPiece;
use crate::run::evaluate::{materialize, materialize_in, write_arg};
use crate::session::Session;
use crate::view::axis_mapping;

impl Array {
    /// Creates an array of zeroed items. The last axis of every array of items is the bytes of an
    /// item.
    pub fn zero_items(session: &Session, shape: &[usize], item: usize) -> Array {
        let bytes = [shape, &[item]].concat();
        session.check_capacity(DType::UInt8, &bytes);
        let placement = item_placement(session, shape, item);
        let base = View::c_order(DType::UInt8, &bytes);
        Array::from_node(
            session,
            Node::new(session, base, placement, NodeState::Full(Scalar::new(0u8))),
        )
    }

    /// Returns a copy of the items in C order.
    pub fn copy_items(&self) -> Result<Array> {
        let node = self.storage.current();
        if *self.view() == node.base && !self.storage.is_lent() {
            return Ok(Array::from_node(self.session(), node));
        }
        let (item, shape) =
            self.shape().split_last().expect("the last axis is the bytes of an item");
        let copy = Array::zero_items(self.session(), shape, *item);
        copy.assign(self)?;
        Ok(copy)
    }

    /// The distribution of the items.
    pub fn item_distribution(&self) -> Result<Distribution> {
        Ok(self.distribution()?.without_trailing())
    }

    /// Returns the items in another distribution. Collective.
    pub fn redistribute_items(&self, distribution: &Distribution) -> Result<Array> {
        self.redistribute(&distribution.with_trailing(self.itemsize()))
    }

    /// Lends this rank's piece, with undivided items; see [`Array::local_piece`].
    pub fn item_piece(&self) -> Result<LentPiece> {
        let shape = &self.shape()[..self.shape().len() - 1];
        self.local_piece_in(|| {
            self.session().block_distribution(shape).with_trailing(self.itemsize())
        })
    }

    fn itemsize(&self) -> u64 {
        *self.shape().last().expect("the last axis is the bytes of an item") as u64
    }

    /// Writes to a view of some bytes of each element.
    pub(crate) fn assign_bytes(&self, node: &Arc<Node>, input: NodeInput) -> Result<()> {
        let (session, dtype, shape) = (self.session(), self.dtype(), self.shape());
        let input = match input {
            NodeInput::Array(..) => {
                // The input may read the bytes that are written.
                let placement = session.default_placement(dtype, shape);
                let copy = materialize_in(session, &input, View::c_order(dtype, shape), placement)?;
                let view = copy.base.clone();
                NodeInput::Array(copy, view)
            }
            scalar => scalar,
        };
        let next = self.writable_version(node)?;
        let memory = materialize(session, &next)?;
        let (target, view) = as_byte_array(&next, self.view()).ok_or(Error::UnmappedTarget)?;
        let target = target.node_over(session, &next, &memory);
        write_arg(session, &target, &view, &memory, &input)?;
        next.set_id(target.id());
        Ok(())
    }

    /// The current version for writing: a copy if there are other holders.
    fn writable_version(&self, node: &Arc<Node>) -> Result<Arc<Node>> {
        let session = self.session();
        let memory = materialize(session, node)?;
        // Two holders: the storage and the caller.
        if Arc::strong_count(node) <= 2 || self.storage.is_lent() {
            return Ok(node.clone());
        }
        let next = session.copy_node(node, &memory)?;
        self.storage.replace(next.clone());
        Ok(next)
    }
}

/// The default placement of items.
fn item_placement(session: &Session, shape: &[usize], item: usize) -> Placement {
    if session.should_replicate(shape, item) {
        return Placement::Replicated;
    }
    let blocks = session.block_distribution(shape).with_trailing(item as u64);
    Placement::distributed(blocks, DType::UInt8, session.fabric().rank())
}

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
