//! Reductions, fused with the pending operations of their argument so that memory is read once.
//!
//! Input: an array and a [`ReduceRequest`] (operation, axes, dtype, initial value). Output: an array in
//! which the reduced axes have length 1.
//!
//! Guarantees: the bits are NumPy's for C-ordered arrays, on any number of ranks. Floating-point
//! flags are recorded under the name that NumPy uses.
//!
//! ```text
//! eager_first  reductions that are eager if the array is small and local
//! masked       reductions of elements selected by a mask
//! mean_var     means, variances and standard deviations
//! unrolled     deferred sums over a short axis
//! ```

pub(crate) mod eager_first;
pub(crate) mod masked;
pub(crate) mod mean_var;
pub(crate) mod unrolled;

use dappled_fabric::Tag;
use dappled_kernels::{Bool, DType, ReduceOp, Scalar};

use crate::array::Array;
use crate::array::placement::Placement;
use crate::config::EARLY_EXIT_ELEMENTS;
use crate::error::Result;
use crate::graph::reduce_request::ReduceRequest;
use crate::plan::reduce::ReducePlan;
use crate::run::reduce::distributed::run_reduce;
use crate::run::reduce::{ReduceInput, reduce_local};
use crate::session::fingerprint::{Fingerprint, FingerprintField};
use crate::view::memory_order::{inverse_permutation, memory_order};

/// The name of a reduction in error messages.
pub(crate) fn operation_name(fold: ReduceOp) -> &'static str {
    match fold {
        ReduceOp::Add => "a sum",
        ReduceOp::Multiply => "a product",
        ReduceOp::Maximum | ReduceOp::Fmax => "a maximum",
        ReduceOp::Minimum | ReduceOp::Fmin => "a minimum",
        _ => "a reduction",
    }
}

impl Array {
    /// Reduces some axes at once; they are kept with length 1. Collective.
    pub fn reduce(&self, request: &ReduceRequest) -> Result<Array> {
        let logical = request.as_logical(self);
        let request = logical.as_ref().unwrap_or(request);
        if let Some(result) = masked::reduce_masked(self, request)? {
            return Ok(result);
        }
        if let Some(result) = self.reduce_early_exit(request)? {
            return Ok(result);
        }
        // NumPy's result has the memory order of its argument.
        let Some(order) = memory_order(&[self.view()], self.shape().len()) else {
            return self.reduce_in_c_order(request);
        };
        let inverse = inverse_permutation(&order);
        let axes = request.axes.iter().map(|&axis| inverse[axis]).collect();
        let request = ReduceRequest { axes, ..request.clone() };
        Ok(self.transposed(&order).reduce_in_c_order(&request)?.transposed(&inverse))
    }

    /// The result of `any` or `all` over a local array, if the first elements decide it.
    fn reduce_early_exit(&self, request: &ReduceRequest) -> Result<Option<Array>> {
        let deciding_value = match request.fold {
            ReduceOp::Any => Bool(1),
            ReduceOp::All => Bool(0),
            _ => return Ok(None),
        };
        let (len, shape) = (self.view().len(), self.shape());
        if len <= 2 * EARLY_EXIT_ELEMENTS
            || request.axes.len() < shape.len()
            || !self.is_materialized()
        {
            return Ok(None);
        }
        let rows = EARLY_EXIT_ELEMENTS / (len / shape[0]);
        if !self.is_replicated() || rows == 0 {
            return Ok(None);
        }
        let first =
            self.with_view(self.view().slice_axis(0, 0, 1, rows)).reduce_in_c_order(request)?;
        let result = first.try_get_element(first.view().offset);
        Ok(Some(first).filter(|_| result == Some(Scalar::new(deciding_value))))
    }

    /// Reduces an array whose axes are in memory order. Collective.
    fn reduce_in_c_order(&self, request: &ReduceRequest) -> Result<Array> {
        let session = self.session();
        let label = operation_name(request.fold);
        let (values, tag) = self.begin_collective(label, request.dtype, |fingerprint| {
            let ReduceRequest { fold, axes, dtype, initial, .. } = request;
            fingerprint
                .with(FingerprintField::Operation, (fold, axes))
                .with(FingerprintField::Shape, dtype)
                .with(FingerprintField::Scalars, initial)
        })?;
        session.record_plan(request.fold.name(), &values, |values, context| {
            let plan = ReducePlan::new(values, request, context);
            (plan.to_string(), plan.values)
        })?;
        let Some(tag) = tag else {
            return reduce_local(session, &values, request, self.shape());
        };
        let plan = ReducePlan::new(&values.plan_values(), request, session.rank_context());
        let result = run_reduce(session, values, &plan, tag)?;
        if request.reports_flags {
            session.allreduce_fp_warnings("reduce", None)?;
        }
        Ok(result)
    }

    /// Fuses the values of an operation that all ranks perform, and logs it. Collective.
    ///
    /// Returns the tag of the operation if the values are distributed. Otherwise each rank computes
    /// alone, and the program has at least one input.
    pub(crate) fn begin_collective(
        &self,
        label: &str,
        dtype: DType,
        with: impl FnOnce(Fingerprint) -> Fingerprint,
    ) -> Result<(ReduceInput, Option<Tag>)> {
        let (session, values) = (self.session(), ReduceInput::new(self, dtype)?);
        let mut tag = None;
        if self.is_collective(&values) {
            let with = |fingerprint| with(self.fingerprint_distribution(fingerprint));
            tag = Some(values.log_operation(session, label, with)?);
        }
        match values.is_distributed() {
            true => Ok((values, tag)),
            // A constant array has no distributed inputs.
            false => Ok((values.with_stored_input(self, dtype)?, None)),
        }
    }

    /// Adds the distribution to a fingerprint; the inputs of a constant array do not contain it.
    fn fingerprint_distribution(&self, fingerprint: Fingerprint) -> Fingerprint {
        self.storage.with_current(|node| match &node.placement {
            Placement::Distributed(placement) => {
                fingerprint.with(FingerprintField::Distribution, &placement.distribution)
            }
            Placement::Replicated => fingerprint,
        })
    }

    /// Returns true if all ranks take part in an operation on these values.
    ///
    /// An operation on a constant distributed array is collective although no message is sent. A
    /// process inside `local()` may perform it alone.
    fn is_collective(&self, values: &ReduceInput) -> bool {
        let session = self.session();
        let is_shared = session.fabric().size() > 1 && !self.is_replicated();
        values.is_distributed() || (is_shared && session.collective_guard().check("", 2).is_ok())
    }

    /// Removes reduced axes.
    pub fn without_axes(&self, axes: &[usize]) -> Array {
        let kept: Vec<usize> =
            (0..self.shape().len()).filter(|axis| !axes.contains(axis)).collect();
        self.transposed(&kept)
    }
}
