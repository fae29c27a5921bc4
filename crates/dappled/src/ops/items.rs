//! Items: elements of dtypes without kernels (dates, strings, structures), stored as bytes.
//!
//! Items move between ranks as bytes. The last axis of every array of items is the bytes of an item.

use dappled_kernels::{DType, Scalar, View};
use dappled_protocol::Distribution;

use super::redistribute::LentPiece;
use crate::array::Array;
use crate::array::node::{Node, NodeState};
use crate::array::placement::Placement;
use crate::error::Result;
use crate::session::Session;

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
}

/// The default placement of items.
pub(super) fn item_placement(session: &Session, shape: &[usize], item: usize) -> Placement {
    if session.should_replicate(shape, item) {
        return Placement::Replicated;
    }
    let blocks = session.block_distribution(shape).with_trailing(item as u64);
    Placement::distributed(blocks, DType::UInt8, session.fabric().rank())
}
