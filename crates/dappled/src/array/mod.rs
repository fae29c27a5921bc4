//! The array: a view of copy-on-write storage.
//!
//! Input: shapes, elements, foreign memory, or nodes of the graph. Output: an [`Array`], which is a
//! handle: clones and views share one storage, and a write through any of them is visible through
//! all. The storage holds the current version as a node of the graph; a write replaces the version,
//! or updates it in place if the version has no other holder. Every method is collective unless it
//! says otherwise.
//!
//! ```text
//! byte_array     an array as an array of bytes or of one field of its elements
//! fingerprint    hashes by which ranks compare arrays
//! node           versions: stored arrays and deferred operations
//! ownership      whether a version may be written in place
//! placement      replicated, or distributed over the ranks
//! scalar_access  reads and writes of one element without a plan
//! storage        the current version, and loans of its memory
//! ```

pub(crate) mod byte_array;
pub(crate) mod fingerprint;
pub(crate) mod node;
pub(crate) mod ownership;
pub(crate) mod placement;
pub(crate) mod scalar_access;
pub(crate) mod storage;

use std::sync::Arc;

use dappled_kernels::element::bytes_of;
use dappled_kernels::{Buffer, DType, Element, Scalar, View};

use crate::array::node::{Node, NodeInput, NodeState};
use crate::array::placement::Placement;
use crate::array::storage::Storage;
use crate::error::Result;
use crate::session::Session;
use crate::session::buffer_pool::{small_buffer_filled, take_small_buffer};
use crate::view::index::{IndexedView, index_view};
use crate::view::memory_order::permute_axes;
use dappled_protocol::slice::KeyItem;

/// A NumPy-like array over the ranks of a session.
///
/// A slice is a view: it shares the storage, so that a write through one is visible through all.
/// Every method is collective: all ranks call it, in the same order.
#[derive(Clone)]
pub struct Array {
    pub(crate) storage: Arc<Storage>,
    view: View,
}

impl Array {
    /// Creates an array filled with one value.
    pub fn full<T: Element>(session: &Session, shape: &[usize], value: T) -> Self {
        Self::filled(session, shape, Scalar::new(value))
    }

    /// Creates an array filled with a scalar of any dtype.
    ///
    /// Unwinds with [`dappled_base::OutOfMemory`] if this rank's piece exceeds the memory of a
    /// rank.
    pub fn filled(session: &Session, shape: &[usize], value: Scalar) -> Self {
        session.check_capacity(value.dtype(), shape);
        let base = View::c_order(value.dtype(), shape);
        let placement = session.default_placement(value.dtype(), shape);
        let ready = placement.is_replicated() && base.len() <= session.limits().eager_max;
        let state = match ready {
            true => NodeState::Stored(small_buffer_filled(value, base.len())),
            false => NodeState::Full(value),
        };
        Self::from_node(session, Node::new(session, base, placement, state))
    }

    /// Creates an array from elements in C order, which must be equal on all ranks.
    pub fn from_slice<T: Element>(session: &Session, shape: &[usize], elements: &[T]) -> Self {
        let base = View::c_order(T::DTYPE, shape);
        Self::replicated(session, base, Buffer::from_slice(elements))
    }

    /// Creates a small array from elements in C order, in a buffer of the pool if there is one.
    pub fn from_small_slice<T: Element>(
        session: &Session,
        shape: &[usize],
        elements: &[T],
    ) -> Self {
        let memory = take_small_buffer(size_of_val(elements));
        memory
            .write()
            .expect("a new buffer has no other holder")
            .copy_from_slice(bytes_of(elements));
        Self::replicated(session, View::c_order(T::DTYPE, shape), memory)
    }

    /// Creates a replicated array from a buffer in C order.
    pub(crate) fn replicated(session: &Session, base: View, memory: Buffer) -> Self {
        Self::from_node(
            session,
            Node::new(session, base, Placement::Replicated, NodeState::Stored(memory)),
        )
    }

    /// Creates a replicated array with unspecified contents, as `numpy.empty` does.
    pub fn empty(session: &Session, dtype: DType, shape: &[usize]) -> Self {
        session.check_capacity(dtype, shape);
        Self::from_node(
            session,
            Node::with_new_buffer(session, View::c_order(dtype, shape), Placement::Replicated).0,
        )
    }

    /// Creates a view of foreign memory, whose owner may write it at any time.
    ///
    /// On several ranks the memory must have equal contents.
    pub fn from_foreign(session: &Session, memory: Buffer, view: View) -> Self {
        Self::from_memory(session, memory, view, Storage::foreign)
    }

    /// Creates a view of a buffer without other holders.
    pub fn from_owned(session: &Session, memory: Buffer, view: View) -> Self {
        Self::from_memory(session, memory, view, Storage::new)
    }

    fn from_memory(
        session: &Session,
        memory: Buffer,
        view: View,
        new_storage: fn(&Session, Arc<Node>) -> Arc<Storage>,
    ) -> Self {
        let base = View::c_order(view.dtype, &[memory.len() / view.dtype.itemsize()]);
        let base = if view.is_contiguous() && view.offset == 0 { view.clone() } else { base };
        let node = Node::new(session, base, Placement::Replicated, NodeState::Stored(memory));
        Self { storage: new_storage(session, node), view }
    }

    pub(crate) fn from_node(session: &Session, node: Arc<Node>) -> Self {
        let view = node.base.clone();
        Self { storage: Storage::new(session, node), view }
    }

    /// Creates an array from a node in foreign memory.
    pub(crate) fn from_foreign_node(session: &Session, node: Arc<Node>) -> Self {
        let view = node.base.clone();
        Self { storage: Storage::foreign(session, node), view }
    }

    /// The session of the array.
    pub fn session(&self) -> &Session {
        &self.storage.session
    }

    /// The shape.
    pub fn shape(&self) -> &[usize] {
        &self.view.shape
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.view.dtype
    }

    /// Offset, shape and strides, relative to the base in C order.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Returns another view of the same storage.
    pub fn with_view(&self, view: View) -> Array {
        Array { storage: self.storage.clone(), view }
    }

    /// Returns true if both arrays share one storage.
    pub fn shares_storage(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// Basic indexing, as in NumPy: integers, slices, Ellipsis and new axes. Returns a view.
    pub fn slice(&self, items: &[KeyItem]) -> Result<Array> {
        let IndexedView { view, .. } = index_view(&self.view, items)?;
        Ok(self.with_view(view))
    }

    /// Returns a view with permuted axes.
    pub fn transposed(&self, axes: &[usize]) -> Array {
        self.with_view(permute_axes(&self.view, axes))
    }

    /// Returns a view broadcast to a shape; None if the shapes are incompatible.
    pub fn broadcast_to(&self, shape: &[usize]) -> Option<Array> {
        Some(self.with_view(self.view.broadcast(shape)?))
    }

    /// Returns true if no operation is pending.
    pub fn is_materialized(&self) -> bool {
        self.storage.with_current(Node::is_materialized)
    }

    /// Returns true if foreign code may access the memory.
    pub fn is_lent(&self) -> bool {
        self.storage.is_lent()
    }

    /// The number of writes to the storage; equal on all ranks.
    ///
    /// None if foreign code may write the memory.
    pub fn write_count(&self) -> Option<u64> {
        self.storage.write_count()
    }

    /// Returns true if every rank holds all elements.
    pub fn is_replicated(&self) -> bool {
        self.storage.with_current(|node| node.placement.is_replicated())
    }

    /// The array as the input of an operation, in its current version.
    pub(crate) fn input(&self) -> NodeInput {
        NodeInput::Array(self.storage.current(), self.view.clone())
    }
}
