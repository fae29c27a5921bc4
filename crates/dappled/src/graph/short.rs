//! Sums along a short axis of what is made of little: a part of what needs them, and never stored.

use std::sync::Arc;

use dappled_kernels::{DType, Fold, Op, Scalar};

use super::node::State;
use super::notice::{Origin, Request};
use super::session::HEAVIEST;
use super::{Array, Folding, GraphError, Operand, map};
use crate::view::memory_order;

/// From this length on NumPy's order of adding has several accumulators.
const SHORT: usize = 8;

impl Array {
    /// A sum along one axis, which stays, with length 1, to be computed when it is needed. None
    /// unless the axis is short and what is summed would take much more memory than it is made of.
    pub fn sum_later(
        &self,
        folding: &Folding,
        origin: &Arc<Origin>,
    ) -> Result<Option<Array>, GraphError> {
        let &[axis] = &folding.axes[..] else { return Ok(None) };
        if !self.is_summed_later(axis, folding) {
            return Ok(None);
        }
        let part = |at: usize| self.with_view(self.view().region(axis, at, 1, 1));
        let mut total = part(0);
        for at in 1..self.shape()[axis] {
            total = self.added(origin, &total, Operand::Array(&part(at)))?;
        }
        // NumPy begins with 0, which shows where all are -0.0.
        let zero = Scalar::new(0.0).cast(folding.dtype);
        self.added(origin, &total, Operand::Scalar(zero)).map(Some)
    }

    fn is_summed_later(&self, axis: usize, folding: &Folding) -> bool {
        let length = self.shape()[axis];
        let plain = folding.fold == Fold::Add
            && folding.initial == folding.fold.identity(folding.dtype)
            && matches!(folding.dtype, DType::Float32 | DType::Float64)
            && folding.dtype == self.dtype();
        let in_order = memory_order(&[self.view()], self.shape().len()).is_none();
        if !plain || !in_order || !(2..SHORT).contains(&length) || self.is_lent() {
            return false;
        }
        let node = self.versions.current();
        let elements = self.view().len();
        match node.state() {
            State::Map(map) => {
                let weight = length * (map.weight + 1);
                !map.is_spread && map.is_of_little(elements) && 4 * weight <= HEAVIEST
            }
            _ => false,
        }
    }

    fn added(
        &self,
        origin: &Arc<Origin>,
        total: &Array,
        other: Operand<'_>,
    ) -> Result<Array, GraphError> {
        let request = Request { op: Op::Add, name: "reduce", origin: Some(origin.clone()) };
        map(self.session(), request, self.dtype(), &[Operand::Array(total), other])
    }
}
