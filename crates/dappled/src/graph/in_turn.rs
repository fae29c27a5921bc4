//! Writes over windows that overlap, as only strides make them: one after the other, the last one stays.

use std::iter;

use dappled_kernels::is_injective;

use super::assign::fitted;
use super::map::Operand;
use super::{Array, GraphError};
use crate::protocol::slice::Item;

impl Array {
    /// Writes a value place by place along one axis.
    pub(super) fn assign_in_turn(&self, value: Operand<'_>) -> Result<(), GraphError> {
        let axis = self.parting_axis()?;
        let array = match value {
            // What is read may be what is written.
            Operand::Array(array) => Some(array.with_view(fitted(array, self.shape())?).copied()?),
            Operand::Scalar(_) => None,
        };
        for at in 0..self.shape()[axis] {
            let row = array.as_ref().map(|array| array.at(axis, at)).transpose()?;
            self.at(axis, at)?.assign(row.as_ref().map_or(value, Operand::Array))?;
        }
        Ok(())
    }

    /// The shortest axis without which nothing overlaps, or the shortest.
    fn parting_axis(&self) -> Result<usize, GraphError> {
        let mut found = (true, usize::MAX, 0);
        for (axis, &length) in self.shape().iter().enumerate().filter(|&(_, &length)| length > 1) {
            let overlaps = !is_injective(self.at(axis, 0)?.view());
            found = found.min((overlaps, length, axis));
        }
        Ok(found.2)
    }

    /// The part at one place along an axis.
    fn at(&self, axis: usize, at: usize) -> Result<Array, GraphError> {
        let before = iter::repeat_n(Item::Slice(None, None, None), axis);
        self.part(&before.chain([Item::Index(at as i64)]).collect::<Vec<_>>())
    }
}
