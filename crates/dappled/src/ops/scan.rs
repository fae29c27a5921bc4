//! Scans (prefix reductions) of an array, fused with its pending operations.
//!
//! On a distributed axis accumulators pass from rank to rank.

use dappled_fabric::Tag;
use dappled_kernels::{
    Buffer, BufferView as Memory, DType, Error as KernelError, Interpreter, ReduceOp, View, scan,
};

use super::reduce::local_block::{is_block_ordered, is_partition, values_distribution};
use super::reduce::sequential;
use super::reduce::{ReduceInput, report_scan_flags};
use crate::array::Array;
use crate::error::Result;
use crate::plan::reduce::reduction_distribution;
use crate::run::evaluate::{input_buffers, input_operands};
use crate::session::Session;
use crate::session::fingerprint::{Fingerprint, FingerprintField};
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
        let (session, values) = (self.session(), ReduceInput::new(self, dtype)?);
        let tag = match self.is_collective(&values) {
            true => {
                let with = |fingerprint: Fingerprint| {
                    let fingerprint = self
                        .fingerprint_distribution(fingerprint)
                        .with(FingerprintField::Shape, dtype);
                    fingerprint.with(FingerprintField::Operation, (fold, axis))
                };
                Some(values.log_operation(session, "a scan", with)?)
            }
            false => None,
        };
        if let Some(tag) = tag.filter(|_| values.is_distributed() && !self.view().is_empty()) {
            let scanned = scan_distributed(session, values, fold, axis, tag)?;
            if reports {
                session.allreduce_fp_warnings("accumulate", None)?;
            }
            return Ok(scanned);
        }
        let values = values.with_stored_input(self, dtype)?;
        let out = View::c_order(dtype, self.shape());
        let (memory, raised) = run_into_new(session, &values, &out, |engine, inputs, out| {
            scan(engine, inputs, fold, axis, None, out)
        })?;
        report_scan_flags(session, &values, &raised);
        Ok(Array::replicated(session, out, memory))
    }
}

/// Scans distributed values, after a redistribution if necessary.
fn scan_distributed(
    session: &Session,
    values: ReduceInput,
    fold: ReduceOp,
    axis: usize,
    tag: Tag,
) -> Result<Array> {
    let distribution = values_distribution(session, &values);
    let map = &distribution.axes()[axis];
    let target = match is_block_ordered(map) && distribution.axes().iter().all(is_partition) {
        true => distribution,
        false => reduction_distribution(&session.block_distribution(&values.shape), &[axis]),
    };
    sequential::scan_sequential(session, values, fold, (&target, axis), tag)
}

/// Runs a kernel on local values into new memory.
pub(crate) fn run_into_new<T>(
    session: &Session,
    values: &ReduceInput,
    out: &View,
    run: impl FnOnce(&Interpreter, &[Memory<'_>], &Memory<'_>) -> Result<T, KernelError>,
) -> Result<(Buffer, T)> {
    let memory = session.buffer_pool().allocate(out.len() * out.dtype.itemsize(), out);
    let engine = session.interpreter(&values.fused.program)?;
    let buffers = input_buffers(session, &values.fused.inputs)?;
    let inputs = input_operands(&buffers, &values.fused.inputs)?;
    let target = Memory::new(&memory, out)?;
    let output = run(&engine, &inputs, &target)?;
    Ok((memory, output))
}
