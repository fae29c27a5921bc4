//! Argmin and argmax.

use dappled_kernels::{ArgReduceOp, DType, View};

use crate::array::Array;
use crate::error::Result;
use crate::plan::reduce::argminmax::{ArgReducePlan, searched_shape};
use crate::run::argminmax::{arg_reduce_local, run_arg_reduce};
use crate::session::fingerprint::FingerprintField;

impl Array {
    /// The index of the smallest or largest element along an axis, which is kept with length 1.
    ///
    /// Without an axis it is the flat index in C order. Collective.
    pub fn arg_reduce(&self, extreme: ArgReduceOp, axis: Option<usize>) -> Result<Array> {
        let (session, dtype) = (self.session(), self.dtype());
        let (values, tag) = self.begin_collective("argmin or argmax", dtype, |fingerprint| {
            fingerprint.with(FingerprintField::Operation, (extreme, axis))
        })?;
        let request = (extreme, axis, dtype);
        if !self.view().is_empty() {
            session.record_plan("argmin or argmax", &values, |values, context| {
                let plan = ArgReducePlan::new(values, request, context);
                (plan.to_string(), plan.values)
            })?;
        }
        if tag.is_some() && !self.view().is_empty() {
            let plan = ArgReducePlan::new(&values.plan_values(), request, session.rank_context());
            return run_arg_reduce(session, values, &plan);
        }
        let out = View::c_order(DType::Int64, &searched_shape(self.shape(), axis));
        let memory = arg_reduce_local(session, &values, extreme, axis, &out)?;
        Ok(Array::replicated(session, out, memory))
    }
}
