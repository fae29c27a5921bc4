//! Writes to overlapping windows (`as_strided`): sequential, so that the last one remains.

use std::iter;

use dappled_kernels::is_injective;

use super::broadcast_to_target;
use crate::array::Array;
use crate::error::Result;
use crate::graph::operand::ElementwiseOperand;
use crate::protocol::slice::KeyItem;

impl Array {
    /// Assigns a value index by index along one axis.
    pub(crate) fn assign_sequentially(&self, value: ElementwiseOperand<'_>) -> Result<()> {
        let axis = self.sequential_axis()?;
        let array = match value {
            // The value may read the written elements.
            ElementwiseOperand::Array(array) => {
                Some(array.with_view(broadcast_to_target(array, self.shape())?).copy()?)
            }
            ElementwiseOperand::Scalar(_) => None,
        };
        for at in 0..self.shape()[axis] {
            let row = array.as_ref().map(|array| array.index_axis(axis, at)).transpose()?;
            self.index_axis(axis, at)?
                .assign(row.as_ref().map_or(value, ElementwiseOperand::Array))?;
        }
        Ok(())
    }

    /// The shortest axis without which nothing overlaps, or the shortest axis.
    fn sequential_axis(&self) -> Result<usize> {
        let mut best = (true, usize::MAX, 0);
        for (axis, &length) in self.shape().iter().enumerate().filter(|&(_, &length)| length > 1) {
            let overlaps = !is_injective(self.index_axis(axis, 0)?.view());
            best = best.min((overlaps, length, axis));
        }
        Ok(best.2)
    }

    /// The subarray at an index along an axis.
    fn index_axis(&self, axis: usize, at: usize) -> Result<Array> {
        let before = iter::repeat_n(KeyItem::Slice(None, None, None), axis);
        self.slice(&before.chain([KeyItem::Index(at as i64)]).collect::<Vec<_>>())
    }
}
