//! Values of arrays: evaluation, single elements, gathered copies and loans of memory.

use dappled_kernels::{Buffer, Element, Scalar, View};

use super::evaluate::{materialize, materialize_replicated};
use crate::array::Array;
use crate::array::node::{NodeInput, NodeState};
use crate::array::ownership::KnownHolders;
use crate::array::storage::Loan;
use crate::error::Result;

impl Array {
    /// Evaluates pending operations. Collective.
    pub fn materialize(&self) -> Result<()> {
        materialize(self.session(), &self.storage.current()).map(drop)
    }

    /// This rank's memory. Evaluates pending operations. Collective.
    pub fn local_buffer(&self) -> Result<Buffer> {
        materialize(self.session(), &self.storage.current())
    }

    /// Returns the element at a byte offset of the base.
    pub fn element(&self, offset: usize) -> Result<Scalar> {
        if let Some(value) = self.try_get_element(offset) {
            return Ok(value);
        }
        let view = View {
            offset,
            shape: Default::default(),
            strides: Default::default(),
            dtype: self.view().dtype,
        };
        let node = self.storage.current();
        if let NodeState::Full(value) = node.state()
            && value.dtype() == view.dtype
        {
            return Ok(value);
        }
        let one = materialize_replicated(
            self.session(),
            &NodeInput::Array(node, view),
            self.view().dtype,
            &[],
        )?;
        let memory = materialize(self.session(), &one)?;
        let memory = memory.read()?;
        Ok(Scalar::from_bytes(self.view().dtype, &memory[..self.view().dtype.itemsize()]))
    }

    /// Gathers all elements in C order on every rank. Collective.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let node = materialize_replicated(self.session(), &self.input(), T::DTYPE, self.shape())?;
        Ok(materialize(self.session(), &node)?.to_vec())
    }

    /// Returns a replicated copy in C order. Collective.
    pub fn gather(&self) -> Result<Array> {
        let node =
            materialize_replicated(self.session(), &self.input(), self.view().dtype, self.shape())?;
        Ok(Self::from_node(self.session(), node))
    }

    /// Lends the memory to foreign code, which may read and write it while the loan lives.
    ///
    /// On several ranks, replicated memory may only be read. Pending readers and copy-on-write
    /// copies keep the previous memory.
    pub fn lend(&self) -> Result<Loan> {
        let mut node = self.storage.current();
        let memory = materialize(self.session(), &node)?;
        if node.placement.is_replicated() && self.session().fabric().size() > 1 {
            return Ok(self.storage.lend(memory, true));
        }
        // A deferred write may be another holder.
        if node.is_shared(KnownHolders::STORAGE_AND_WRITER) {
            self.session().flush_deferred_write(&node)?;
        }
        if node.is_shared(KnownHolders::STORAGE_AND_WRITER) && !self.storage.is_lent() {
            node = self.session().copy_node(&node, &memory)?;
            self.storage.replace(node.clone());
            return Ok(self.storage.lend(materialize(self.session(), &node)?, false));
        }
        Ok(self.storage.lend(memory, false))
    }

    /// Lends the replicated memory for writing on this rank. Not collective.
    ///
    /// Other holders keep the previous values; nothing is evaluated.
    pub fn lend_local(&self) -> Result<Loan> {
        let mut node = self.storage.current();
        let memory = materialize(self.session(), &node)?;
        if !node.is_shared(KnownHolders::STORAGE_AND_WRITER) {
            return Ok(self.storage.lend(memory, true));
        }
        node = self.session().copy_node(&node, &memory)?;
        self.storage.replace(node.clone());
        Ok(self.storage.lend(materialize(self.session(), &node)?, true))
    }
}
