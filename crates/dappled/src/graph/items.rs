//! Elements as their bytes. Every array is also one of bytes, with one more axis that is never
//! split: the bytes of one element; and of each field of an element there is an array in the same
//! memory, with strides as long as elements. So views of other bytes than elements (fields, imaginary
//! parts) are read and written where they lie, and elements that no kernel knows (*items*: dates,
//! texts, structures) are arrays of bytes from the start, and moved as any others are.

use std::sync::Arc;

use dappled_kernels::{Buffer, DType, Scalar, View};
use dappled_protocol::Distribution;

use super::evaluate::{laid_out, value, write};
use super::layout::{Layout, Split};
use super::node::{Arg, Node, State};
use super::{Array, GraphError, LentPiece, Session};
use crate::view::through;

impl Array {
    /// Items of so many bytes, all of them 0. As in every array of items, the last axis is one item.
    pub fn zero_items(session: &Session, shape: &[usize], item: usize) -> Array {
        let bytes = [shape, &[item]].concat();
        session.expect_room(DType::UInt8, &bytes);
        let layout = item_layout(session, shape, item);
        let base = View::c_order(DType::UInt8, &bytes);
        Array::over(session, Node::new(session, base, layout, State::Full(Scalar::new(0u8))))
    }

    /// A copy of items, in C order.
    pub fn copied_items(&self) -> Result<Array, GraphError> {
        let node = self.versions.current();
        if *self.view() == node.base && !self.versions.is_lent() {
            return Ok(Array::over(self.session(), node));
        }
        let (item, shape) = self.shape().split_last().expect("the bytes of an item");
        let copy = Array::zero_items(self.session(), shape, *item);
        copy.assign(self)?;
        Ok(copy)
    }

    /// How items are shared among the ranks.
    pub fn item_distribution(&self) -> Result<Distribution, GraphError> {
        Ok(self.distribution()?.without_trailing())
    }

    /// The same items in another distribution.
    pub fn redistributed_items(&self, distribution: &Distribution) -> Result<Array, GraphError> {
        self.redistributed(&distribution.with_trailing(self.item()))
    }

    /// As [`Array::piece`], where items are whole.
    pub fn item_piece(&self) -> Result<LentPiece, GraphError> {
        let shape = &self.shape()[..self.shape().len() - 1];
        self.piece_of(|| self.session().blocks(shape).with_trailing(self.item()))
    }

    fn item(&self) -> u64 {
        *self.shape().last().expect("the bytes of an item") as u64
    }

    /// Writes over a view of some bytes of each element.
    pub(super) fn store_bytes(&self, node: &Arc<Node>, arg: Arg) -> Result<(), GraphError> {
        let (session, dtype, shape) = (self.session(), self.dtype(), self.shape());
        let arg = match arg {
            Arg::Part(..) => {
                // It may read what is written.
                let layout = session.layout(dtype, shape);
                let aside = laid_out(session, &arg, View::c_order(dtype, shape), layout)?;
                let view = aside.base.clone();
                Arg::Part(aside, view)
            }
            scalar => scalar,
        };
        let next = self.own_version(node)?;
        let memory = value(session, &next)?;
        let (target, view) = in_bytes(&next, self.view()).ok_or(GraphError::Target)?;
        let target = target.over(session, &next, &memory);
        write(session, &target, &view, &memory, &arg)?;
        next.set_id(target.id());
        Ok(())
    }

    /// The current version in memory that may be written: a copy, if somebody else reads it.
    fn own_version(&self, node: &Arc<Node>) -> Result<Arc<Node>, GraphError> {
        let session = self.session();
        let memory = value(session, node)?;
        // Two holders: the box and who writes.
        if Arc::strong_count(node) <= 2 || self.versions.is_lent() {
            return Ok(node.clone());
        }
        let next = session.copy_of(node, &memory)?;
        self.versions.replace(next.clone());
        Ok(next)
    }
}

/// Where items lie if nobody says.
fn item_layout(session: &Session, shape: &[usize], item: usize) -> Layout {
    if session.replicates(shape, item) {
        return Layout::Whole;
    }
    let blocks = session.blocks(shape).with_trailing(item as u64);
    Layout::split(blocks, DType::UInt8, session.fabric().rank())
}

/// An array in the same memory as another, of some bytes of its elements.
pub(super) struct Bytes {
    base: View,
    layout: Layout,
}

impl Bytes {
    /// The bytes of this node, whose memory is given.
    pub fn over(self, session: &Session, node: &Node, memory: &Buffer) -> Arc<Node> {
        let bytes = Node::new(session, self.base, self.layout, State::Stored(memory.clone()));
        bytes.as_version_of(node)
    }
}

/// A view of other bytes than a node's elements as a view of an array in the same memory: of all the
/// bytes, or of a field of every element. None where it follows neither.
pub(super) fn in_bytes(node: &Node, view: &View) -> Option<(Bytes, View)> {
    let Layout::Split(split) = &node.layout else { return None };
    if view.dtype == node.base.dtype {
        return None;
    }
    if view.dtype == DType::UInt8 {
        let distribution = split.distribution.with_trailing(node.base.dtype.itemsize() as u64);
        let local = view_of_bytes(&split.local);
        let base = view_of_bytes(&node.base);
        return through(view, &base).map(|_| (bytes(base, distribution, local), view.clone()));
    }
    field(&node.base, split, view)
}

fn bytes(base: View, distribution: Distribution, local: View) -> Bytes {
    Bytes { base, layout: Layout::Split(Arc::new(Split { distribution, local })) }
}

/// The array of one field of every element, and a view as a part of it.
fn field(base: &View, split: &Split, view: &View) -> Option<(Bytes, View)> {
    let are_items = base.dtype == DType::UInt8 && !base.shape.is_empty();
    let ndim = base.shape.len() - usize::from(are_items);
    let item = if are_items { base.shape[ndim] } else { base.dtype.itemsize() };
    let whole_items = !are_items || split.distribution.axes()[ndim].grid() == 1;
    let (size, at) = (view.dtype.itemsize(), view.offset % item.max(1));
    if !whole_items || at + size > item {
        return None;
    }
    let whole = View::c_order(view.dtype, &base.shape[..ndim]);
    let seen = View {
        dtype: view.dtype,
        offset: view.offset / item * size,
        shape: view.shape.clone(),
        strides: steps(view, item)?.map(|step| step * size as isize).collect(),
    };
    through(&seen, &whole)?;
    let (shape, strides) = (&split.local.shape[..ndim], &split.local.strides[..ndim]);
    let offset = split.local.offset + if split.local.is_empty() { 0 } else { at };
    let local = View { dtype: view.dtype, offset, shape: shape.into(), strides: strides.into() };
    let distribution = match are_items {
        true => split.distribution.without_trailing(),
        false => split.distribution.clone(),
    };
    Some((bytes(whole, distribution, local), seen))
}

/// The strides of a view in items of so many bytes, if they are whole ones.
fn steps(view: &View, item: usize) -> Option<impl Iterator<Item = isize>> {
    let item = item as isize;
    let axes = view.shape.iter().zip(&view.strides);
    let fits = axes.clone().all(|(&length, &stride)| length == 1 || stride % item == 0);
    fits.then(|| axes.map(move |(&length, &stride)| if length == 1 { 0 } else { stride / item }))
}

fn view_of_bytes(view: &View) -> View {
    let mut bytes = View { dtype: DType::UInt8, ..view.clone() };
    bytes.shape.push(view.dtype.itemsize());
    bytes.strides.push(1);
    bytes
}
