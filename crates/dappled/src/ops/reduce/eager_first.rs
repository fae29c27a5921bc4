//! Reductions that are eager if the array is small and local.

use dappled_kernels::element::word_bytes;
use dappled_kernels::{DType, Op, ReduceLayout, Scalar, View};

use super::ReduceRequest;
use crate::array::Array;
use crate::dispatch::cast_in_c_order;
use crate::eager::reduce::{is_small, is_small_contiguous, reduce_strided};
use crate::error::Result;
use crate::session::buffer_pool::take_small_buffer;
use crate::view::memory_order::{is_f_ordered, memory_order};

impl Array {
    /// Reduces over axes, in a few steps if the array is small and local.
    pub fn reduce_eager_first(&self, folding: &ReduceRequest) -> Result<Array> {
        if self.session().plan_log().is_recording() {
            return self.reduce(folding);
        }
        if let Some(cast) = self.cast_if_exact(folding)? {
            return cast.reduce_eager_first(folding);
        }
        // The memory order of NumPy's result follows the array: here C order.
        let permuted = memory_order(&[self.view()], self.shape().len()).is_some();
        if permuted {
            return self.reduce(folding);
        }
        let base = View::c_order(folding.dtype, &folding.reduced_shape(self.shape()));
        if let Some(memory) = self.reduce_contiguous(folding, &base)? {
            return Ok(Array::replicated(self.session(), base, memory));
        }
        if !is_small(self, folding.dtype) {
            return self.reduce(folding);
        }
        let buffer = self.storage.with_current(|node| node.replicated_buffer().cloned());
        let Some(memory) = buffer else { return self.reduce(folding) };
        let out = take_small_buffer(base.len() * folding.dtype.itemsize());
        reduce_strided(self, folding, &memory, (&out, &base))?;
        Ok(Array::replicated(self.session(), base, out))
    }

    /// Reduces over all axes to a scalar. Collective.
    pub fn reduce_all(&self, folding: &ReduceRequest) -> Result<Scalar> {
        if self.session().plan_log().is_recording() {
            let folded = self.reduce(folding)?;
            return folded.element(folded.view().offset);
        }
        let mut total = [0u64; 2];
        let bytes = &mut word_bytes(&mut total)[..folding.dtype.itemsize()];
        if self.reduce_contiguous_into(folding, ReduceLayout::Runs, bytes)? {
            return Ok(Scalar::from_bytes(folding.dtype, bytes));
        }
        // The order of the axes has no effect if all are reduced.
        let permuted = || self.with_view(self.view().transposed());
        if is_f_ordered(self.view())
            && permuted().reduce_contiguous_into(folding, ReduceLayout::Runs, bytes)?
        {
            return Ok(Scalar::from_bytes(folding.dtype, bytes));
        }
        let folded = self.reduce_eager_first(folding)?;
        folded.element(folded.view().offset)
    }

    /// Casts a small contiguous array to the dtype of the reduction, if the cast is exact.
    ///
    /// An inexact cast must happen in NumPy's buffers, since its rounding order is visible.
    fn cast_if_exact(&self, folding: &ReduceRequest) -> Result<Option<Array>> {
        let (from, to) = (self.dtype(), folding.dtype);
        let exact = to == DType::Bool || from.is_integral() && to.is_integral();
        let ready =
            || is_small_contiguous(self, from) && self.is_replicated() && self.is_materialized();
        if from == to || !exact || !ready() {
            return Ok(None);
        }
        cast_in_c_order(self, Op::Cast(to).into()).map(Some)
    }
}
