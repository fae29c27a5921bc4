//! Writes to some bytes of each element, as to fields and imaginary parts.

use std::sync::Arc;

use dappled_kernels::View;

use crate::array::Array;
use crate::array::byte_array::as_byte_array;
use crate::array::node::{Node, NodeInput};
use crate::array::ownership::KnownHolders;
use crate::error::{Error, Result};
use crate::run::evaluate::{materialize, materialize_in, write_arg};

impl Array {
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
        if !node.is_shared(KnownHolders::STORAGE_AND_WRITER) || self.storage.is_lent() {
            return Ok(node.clone());
        }
        let next = session.copy_node(node, &memory)?;
        self.storage.replace(next.clone());
        Ok(next)
    }
}
