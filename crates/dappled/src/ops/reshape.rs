//! Reshape of arrays that is no view.

use crate::array::Array;
use crate::error::Result;
use crate::run::evaluate::materialize;
use crate::run::reshape::{copy_to_own_memory, reshape_distributed};
use crate::view::reshape::reshape_view;

impl Array {
    /// The array with another shape of the same size, in C order: a view if there is one.
    ///
    /// A copy is collective, unless the array is replicated.
    pub(crate) fn reshaped(&self, shape: &[usize]) -> Result<Array> {
        match reshape_view(self.view(), shape) {
            Some(view) => Ok(self.with_view(view)),
            None => self.reshaped_copy(shape),
        }
    }

    /// Copies the array in C order to another shape of the same size.
    ///
    /// Collective, unless the array is replicated.
    pub fn reshaped_copy(&self, shape: &[usize]) -> Result<Array> {
        let copy = self.copy()?;
        let (session, node) = (self.session(), copy.storage.current());
        if node.placement.is_replicated() || shape.is_empty() || copy.view().is_empty() {
            let view =
                reshape_view(copy.view(), shape).expect("any shape is a view of C-ordered memory");
            return Ok(copy.with_view(view));
        }
        let placement = session.default_placement(self.dtype(), shape);
        let reshaped = reshape_distributed(session, &node, shape, Some(placement))?;
        // If no elements moved, the memory is shared with the copy's node.
        let is_shared = materialize(session, &reshaped)?.is_same(&materialize(session, &node)?);
        Ok(Array::from_node(
            session,
            if is_shared { copy_to_own_memory(session, &reshaped)? } else { reshaped },
        ))
    }
}
