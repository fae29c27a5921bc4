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
    /// Returns true if [`Array::reduce_lazily`] may defer the reduction.
    pub fn may_defer_reduction(&self, request: &ReduceRequest) -> bool {
        let limits = self.session().limits();
        request.fold == ReduceOp::Add
            && request.axes.len() == 1
            && self.view().len() > limits.eager_max
    }

    /// Reduces some axes, which are kept with length 1; defers a sum over a short axis. Collective.
    ///
    /// `context` is the call site of the warnings of a deferred sum.
    pub fn reduce_lazily(
        &self,
        request: &ReduceRequest,
        context: Option<&Arc<RequestContext>>,
    ) -> Result<Array> {
        match self.defer_unrolled_sum(request, context)? {
            Some(sum) => Ok(sum),
            None => self.reduce_eager_first(request),
        }
    }

    /// Defers a sum along one axis, which is kept with length 1.
    ///
    /// Returns `None` unless the axis is short and the summands would take much more memory than
    /// the arrays they are computed from.
    fn defer_unrolled_sum(
        &self,
        request: &ReduceRequest,
        context: Option<&Arc<RequestContext>>,
    ) -> Result<Option<Array>> {
        let &[axis] = &request.axes[..] else { return Ok(None) };
        if !self.may_defer_reduction(request) || !self.is_unrollable(axis, request) {
            return Ok(None);
        }
        let summand = |index: usize| self.with_view(self.view().slice_axis(axis, index, 1, 1));
        let mut sum = summand(0);
        for index in 1..self.shape()[axis] {
            sum = self.add_step(context, &sum, ElementwiseOperand::Array(&summand(index)))?;
        }
        // NumPy starts with 0, which makes a sum of -0.0 positive.
        let zero = Scalar::new(0.0).cast(request.dtype);
        self.add_step(context, &sum, ElementwiseOperand::Scalar(zero)).map(Some)
    }

    /// Returns true if the sum can be unrolled and deferred.
    fn is_unrollable(&self, axis: usize, request: &ReduceRequest) -> bool {
        let length = self.shape()[axis];
        let is_plain_sum = request.initial == request.fold.identity(request.dtype)
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
        context: Option<&Arc<RequestContext>>,
        sum: &Array,
        other: ElementwiseOperand<'_>,
    ) -> Result<Array> {
        let request = OpRequest { name: "reduce", context: context.cloned(), ..Op::Add.into() };
        elementwise(self.session(), request, self.dtype(), &[ElementwiseOperand::Array(sum), other])
    }
}
