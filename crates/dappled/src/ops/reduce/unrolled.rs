//! Deferred sums over a short axis, unrolled into additions.
//!
//! The result stays part of the expression that reads it, so that the summands of a broadcast
//! expression are never materialised.

use std::sync::Arc;

use dappled_kernels::{DType, Op, ReduceOp, Scalar};

use super::ReduceRequest;
use crate::array::Array;
use crate::array::node::NodeState;
use crate::config::MAX_FUSED_OPERATIONS;
use crate::config::MIN_PAIRWISE_LENGTH;
use crate::dispatch::elementwise;
use crate::error::Result;
use crate::graph::operand::ElementwiseOperand;
use crate::session::fp_warnings::{OpRequest, RequestContext};
use crate::view::memory_order::memory_order;

impl Array {
    /// Defers a sum along one axis, which is kept with length 1.
    ///
    /// Returns `None` unless the axis is short and the summands would take much more memory than
    /// the arrays they are computed from.
    pub fn defer_unrolled_sum(
        &self,
        request: &ReduceRequest,
        origin: &Arc<RequestContext>,
    ) -> Result<Option<Array>> {
        let &[axis] = &request.axes[..] else { return Ok(None) };
        if !self.is_unrollable(axis, request) {
            return Ok(None);
        }
        let summand = |index: usize| self.with_view(self.view().slice_axis(axis, index, 1, 1));
        let mut sum = summand(0);
        for index in 1..self.shape()[axis] {
            sum = self.add_step(origin, &sum, ElementwiseOperand::Array(&summand(index)))?;
        }
        // NumPy starts with 0, which makes a sum of -0.0 positive.
        let zero = Scalar::new(0.0).cast(request.dtype);
        self.add_step(origin, &sum, ElementwiseOperand::Scalar(zero)).map(Some)
    }

    /// Returns true if the sum can be unrolled and deferred.
    fn is_unrollable(&self, axis: usize, request: &ReduceRequest) -> bool {
        let length = self.shape()[axis];
        let is_plain_sum = request.fold == ReduceOp::Add
            && request.initial == request.fold.identity(request.dtype)
            && matches!(request.dtype, DType::Float32 | DType::Float64)
            && request.dtype == self.dtype();
        let is_c_ordered = memory_order(&[self.view()], self.shape().len()).is_none();
        if !is_plain_sum
            || !is_c_ordered
            || !(2..MIN_PAIRWISE_LENGTH).contains(&length)
            || self.is_lent()
        {
            return false;
        }
        let node = self.storage.current();
        let elements = self.view().len();
        match node.state() {
            NodeState::Elementwise(op) => {
                let weight = length * (op.operations + 1);
                !op.is_distributed
                    && op.expands_few_elements(elements)
                    && 4 * weight <= MAX_FUSED_OPERATIONS
            }
            _ => false,
        }
    }

    fn add_step(
        &self,
        origin: &Arc<RequestContext>,
        sum: &Array,
        other: ElementwiseOperand<'_>,
    ) -> Result<Array> {
        let request = OpRequest { name: "reduce", context: Some(origin.clone()), ..Op::Add.into() };
        elementwise(self.session(), request, self.dtype(), &[ElementwiseOperand::Array(sum), other])
    }
}
