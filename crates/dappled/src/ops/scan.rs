//! Scans (prefix reductions) of an array, fused with its pending operations.

use dappled_kernels::{DType, ReduceOp, View, scan};

use crate::array::Array;
use crate::error::Result;
use crate::plan::reduce::scan::ScanPlan;
use crate::run::reduce::pipeline::run_scan;
use crate::run::reduce::{report_scan_flags, run_into_new};
use crate::session::fingerprint::FingerprintField;
use crate::view::memory_order::{inverse_permutation, memory_order};

impl Array {
    /// Combines each element with all before it along an axis: NumPy's `ufunc.accumulate`.
    ///
    /// The result is computed at once. With `reports`, all ranks share the floating-point flags.
    /// Collective.
    pub fn scan(&self, fold: ReduceOp, axis: usize, dtype: DType, reports: bool) -> Result<Array> {
        if self.view().is_empty() {
            return Ok(Array::empty(self.session(), dtype, self.shape()));
        }
        // NumPy's result has the memory order of its argument.
        let Some(order) = memory_order(&[self.view()], self.shape().len()) else {
            return self.scan_in_c_order(fold, axis, dtype, reports);
        };
        let inverse = inverse_permutation(&order);
        let scanned =
            self.transposed(&order).scan_in_c_order(fold, inverse[axis], dtype, reports)?;
        Ok(scanned.transposed(&inverse))
    }

    fn scan_in_c_order(
        &self,
        fold: ReduceOp,
        axis: usize,
        dtype: DType,
        reports: bool,
    ) -> Result<Array> {
        let session = self.session();
        let (values, tag) = self.begin_collective("a scan", dtype, |fingerprint| {
            fingerprint
                .with(FingerprintField::Shape, dtype)
                .with(FingerprintField::Operation, (fold, axis))
        })?;
        let request = (fold, axis, dtype);
        session.record_plan("scan", &values, |values, context| {
            let plan = ScanPlan::new(values, request, context);
            (plan.to_string(), plan.values)
        })?;
        if let Some(tag) = tag {
            let plan = ScanPlan::new(&values.plan_values(), request, session.rank_context());
            let scanned = run_scan(session, values, &plan, tag)?;
            if reports {
                session.allreduce_fp_warnings("accumulate", None)?;
            }
            return Ok(scanned);
        }
        let out = View::c_order(dtype, self.shape());
        let (memory, raised) = run_into_new(session, &values, &out, |engine, inputs, out| {
            scan(engine, inputs, fold, axis, None, out)
        })?;
        report_scan_flags(session, &values, &raised);
        Ok(Array::replicated(session, out, memory))
    }
}
