//! The array: a box that holds the current version, seen through a view.

use std::sync::Arc;

use dappled_kernels::element::bytes_of;
use dappled_kernels::{Buffer, DType, Element, Scalar, View};

use super::evaluate::{gathered, value};
use super::layout::Layout;
use super::memory::{small_full, small_memory};
use super::node::{Arg, Node, State};
use super::versions::{Loan, Versions};
use super::{GraphError, Session};
use crate::view::{Indexed, indexed, permuted};
use dappled_protocol::slice::Item;

/// An array over the ranks of a session. Parts of it are views: they share its box, and what is
/// written through one is seen through all.
///
/// Every method is collective: all ranks call it, in the same order.
#[derive(Clone)]
pub struct Array {
    pub(super) versions: Arc<Versions>,
    view: View,
}

impl Array {
    /// One value everywhere.
    pub fn full<T: Element>(session: &Session, shape: &[usize], value: T) -> Self {
        Self::filled(session, shape, Scalar::new(value))
    }

    /// One value of any dtype everywhere.
    ///
    /// Unwinds with [`dappled_base::OutOfMemory`] where no rank could ever hold its part.
    pub fn filled(session: &Session, shape: &[usize], value: Scalar) -> Self {
        session.expect_room(value.dtype(), shape);
        let base = View::c_order(value.dtype(), shape);
        let layout = session.layout(value.dtype(), shape);
        let ready = layout.is_whole() && base.len() <= session.limits().at_once;
        let state = match ready {
            true => State::Stored(small_full(value, base.len())),
            false => State::Full(value),
        };
        Self::over(session, Node::new(session, base, layout, state))
    }

    /// An array of these elements, in C order, the same on every rank.
    pub fn from_slice<T: Element>(session: &Session, shape: &[usize], elements: &[T]) -> Self {
        let base = View::c_order(T::DTYPE, shape);
        Self::whole(session, base, Buffer::from_slice(elements))
    }

    /// The same of few elements, in memory used before where there is some.
    pub fn of_small<T: Element>(session: &Session, shape: &[usize], elements: &[T]) -> Self {
        let memory = small_memory(size_of_val(elements));
        memory.write().expect("nobody else has it").copy_from_slice(bytes_of(elements));
        Self::whole(session, View::c_order(T::DTYPE, shape), memory)
    }

    /// An array whose elements lie in this memory, in C order, all of them on every rank.
    pub(super) fn whole(session: &Session, base: View, memory: Buffer) -> Self {
        Self::over(session, Node::new(session, base, Layout::Whole, State::Stored(memory)))
    }

    /// An array to be written, all of it on this rank: what it holds is of no meaning.
    pub fn unwritten(session: &Session, dtype: DType, shape: &[usize]) -> Self {
        session.expect_room(dtype, shape);
        Self::over(session, Node::fresh(session, View::c_order(dtype, shape), Layout::Whole).0)
    }

    /// A view of memory that somebody else owns and may write at any time. On several ranks the
    /// memory must hold the same on each.
    pub fn foreign(session: &Session, memory: Buffer, view: View) -> Self {
        Self::in_memory(session, memory, view, Versions::foreign)
    }

    /// A view of memory that somebody else made, and has given away: nobody else sees it.
    pub fn adopted(session: &Session, memory: Buffer, view: View) -> Self {
        Self::in_memory(session, memory, view, Versions::new)
    }

    fn in_memory(
        session: &Session,
        memory: Buffer,
        view: View,
        versions: fn(&Session, Arc<Node>) -> Arc<Versions>,
    ) -> Self {
        let base = View::c_order(view.dtype, &[memory.len() / view.dtype.itemsize()]);
        let base = if view.is_contiguous() && view.offset == 0 { view.clone() } else { base };
        let node = Node::new(session, base, Layout::Whole, State::Stored(memory));
        Self { versions: versions(session, node), view }
    }

    pub(super) fn over(session: &Session, node: Arc<Node>) -> Self {
        let view = node.base.clone();
        Self { versions: Versions::new(session, node), view }
    }

    /// An array in memory that somebody else owns.
    pub(super) fn over_foreign(session: &Session, node: Arc<Node>) -> Self {
        let view = node.base.clone();
        Self { versions: Versions::foreign(session, node), view }
    }

    /// The ranks that it is shared among.
    pub fn session(&self) -> &Session {
        &self.versions.session
    }

    /// The shape.
    pub fn shape(&self) -> &[usize] {
        &self.view.shape
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.view.dtype
    }

    /// Offset, shape and strides, over the base in C order.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The same memory, seen through another view.
    pub fn with_view(&self, view: View) -> Array {
        Array { versions: self.versions.clone(), view }
    }

    /// Do both see the same memory?
    pub fn shares(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.versions, &other.versions)
    }

    /// A part: ints, slices, Ellipsis and new axes, as in NumPy. A view, no copy.
    pub fn part(&self, items: &[Item]) -> Result<Array, GraphError> {
        let Indexed { view, .. } = indexed(&self.view, items)?;
        Ok(self.with_view(view))
    }

    /// The axes in another order: a view.
    pub fn transposed(&self, axes: &[usize]) -> Array {
        self.with_view(permuted(&self.view, axes))
    }

    /// Repeated to a shape: a view.
    pub fn broadcast(&self, shape: &[usize]) -> Option<Array> {
        Some(self.with_view(self.view.broadcast(shape)?))
    }

    /// Computes what is pending. Collective.
    pub fn compute(&self) -> Result<(), GraphError> {
        value(self.session(), &self.versions.current()).map(drop)
    }

    /// Is nothing of it pending?
    pub fn is_stored(&self) -> bool {
        self.versions.with_current(Node::is_stored)
    }

    /// This rank's memory, what is pending being computed. Collective.
    pub fn memory(&self) -> Result<Buffer, GraphError> {
        value(self.session(), &self.versions.current())
    }

    /// One element, by its place in the base.
    pub fn element(&self, offset: usize) -> Result<Scalar, GraphError> {
        if let Some(value) = self.ready_element(offset) {
            return Ok(value);
        }
        let view = View {
            offset,
            shape: Default::default(),
            strides: Default::default(),
            dtype: self.view.dtype,
        };
        let node = self.versions.current();
        if let State::Full(value) = node.state()
            && value.dtype() == view.dtype
        {
            return Ok(value);
        }
        let one = gathered(self.session(), &Arg::Part(node, view), self.view.dtype, &[])?;
        let memory = value(self.session(), &one)?;
        let memory = memory.read().map_err(crate::run::RunError::from)?;
        Ok(Scalar::from_bytes(self.view.dtype, &memory[..self.view.dtype.itemsize()]))
    }

    /// All elements in C order, the same on every rank.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, GraphError> {
        let node = gathered(self.session(), &self.arg(), T::DTYPE, self.shape())?;
        Ok(value(self.session(), &node)?.to_vec())
    }

    /// All elements in C order in memory of their own, the same on every rank.
    pub fn gathered(&self) -> Result<Array, GraphError> {
        let node = gathered(self.session(), &self.arg(), self.view.dtype, self.shape())?;
        Ok(Self::over(self.session(), node))
    }

    /// Does somebody outside see the memory?
    pub fn is_lent(&self) -> bool {
        self.versions.is_lent()
    }

    /// A number that changes whenever this array or any view of it is written, alike on all ranks.
    /// None if somebody outside may write the memory.
    pub fn writes(&self) -> Option<u64> {
        self.versions.writes()
    }

    /// Is all of it on this rank?
    pub fn is_whole(&self) -> bool {
        self.versions.with_current(|node| node.layout.is_whole())
    }

    /// Lends the memory to somebody outside, who may read and write it there as long as the loan
    /// lives; of a whole array on several ranks only read it. Whoever was asked before, or copied
    /// without a copy, keeps the old memory.
    pub fn lend(&self) -> Result<Loan, GraphError> {
        let mut node = self.versions.current();
        let memory = value(self.session(), &node)?;
        if node.layout.is_whole() && self.session().fabric().size() > 1 {
            return Ok(self.versions.lend(memory, true));
        }
        // Two holders: the box and this function. A write that waits may be one more.
        if Arc::strong_count(&node) > 2 {
            self.session().settle(&node)?;
        }
        if Arc::strong_count(&node) > 2 && !self.versions.is_lent() {
            node = self.session().copy_of(&node, &memory)?;
            self.versions.replace(node.clone());
            return Ok(self.versions.lend(value(self.session(), &node)?, false));
        }
        Ok(self.versions.lend(memory, false))
    }

    /// The same of what is whole on several ranks, to be written there: values that others hold are kept
    /// for them, and nothing is computed for it, so that ranks need not do so at the same time.
    pub fn lend_apart(&self) -> Result<Loan, GraphError> {
        let mut node = self.versions.current();
        let memory = value(self.session(), &node)?;
        // Two holders: the box and this function.
        if Arc::strong_count(&node) == 2 {
            return Ok(self.versions.lend(memory, true));
        }
        node = self.session().copy_of(&node, &memory)?;
        self.versions.replace(node.clone());
        Ok(self.versions.lend(value(self.session(), &node)?, true))
    }

    /// What is read, as it is now.
    pub(super) fn arg(&self) -> Arg {
        Arg::Part(self.versions.current(), self.view.clone())
    }
}
