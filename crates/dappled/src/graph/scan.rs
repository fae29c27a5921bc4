//! Scans: the pending operations below them are folded in, as into reductions. Of arrays in pieces,
//! each rank does its part, from rank to rank where the axis is cut.

use dappled_fabric::Tag;
use dappled_kernels::{Buffer, DType, Error, Fold, Interpreter, Operand as Memory, View, scan};

use super::evaluate::{buffers, operands};
use super::fold::{Values, note_scan};
use super::lies::{is_in_order, is_owned_once, lies};
use super::tag::{Aspect, Fingerprint};
use super::{Array, GraphError, Session, relay};
use crate::plan::for_reduction;
use crate::run::RunError;
use crate::view::{memory_order, moved};

impl Array {
    /// Each element folded with all before it along an axis, in a dtype, at once: NumPy's
    /// `ufunc.accumulate`. If it `reports`, every rank knows what it signals. Collective.
    pub fn scan(
        &self,
        fold: Fold,
        axis: usize,
        dtype: DType,
        reports: bool,
    ) -> Result<Array, GraphError> {
        if self.view().is_empty() {
            return Ok(Array::unwritten(self.session(), dtype, self.shape()));
        }
        // NumPy's result lies as its argument does.
        let Some(order) = memory_order(&[self.view()], self.shape().len()) else {
            return self.scan_in_c_order(fold, axis, dtype, reports);
        };
        let back = moved(&order);
        let turned = self.transposed(&order).scan_in_c_order(fold, back[axis], dtype, reports)?;
        Ok(turned.transposed(&back))
    }

    fn scan_in_c_order(
        &self,
        fold: Fold,
        axis: usize,
        dtype: DType,
        reports: bool,
    ) -> Result<Array, GraphError> {
        let (session, values) = (self.session(), Values::new(self, dtype)?);
        let tag = match self.is_collective(&values) {
            true => {
                let with = |print: Fingerprint| {
                    let print = self.with_distribution(print).with(Aspect::Shape, dtype);
                    print.with(Aspect::Operation, (fold, axis))
                };
                Some(values.noted(session, "a scan", with)?)
            }
            false => None,
        };
        if let Some(tag) = tag.filter(|_| values.is_spread() && !self.view().is_empty()) {
            let scanned = scanned(session, values, fold, axis, tag)?;
            if reports {
                session.share_notices("accumulate", None)?;
            }
            return Ok(scanned);
        }
        let values = values.somewhere(self, dtype)?;
        let out = View::c_order(dtype, self.shape());
        let (memory, folded) = written(session, &values, &out, |code, inputs, out| {
            scan(code, inputs, fold, axis, None, out)
        })?;
        note_scan(session, &values, &folded);
        Ok(Array::whole(session, out, memory))
    }
}

fn scanned(
    session: &Session,
    values: Values,
    fold: Fold,
    axis: usize,
    tag: Tag,
) -> Result<Array, GraphError> {
    let lies = lies(session, &values);
    let map = &lies.axes()[axis];
    let target = match is_in_order(map) && lies.axes().iter().all(is_owned_once) {
        true => lies,
        false => for_reduction(&session.blocks(&values.shape), &[axis]),
    };
    relay::scanned(session, values, fold, (&target, axis), tag)
}

/// Runs a kernel over values that are here into new memory.
pub(super) fn written<T>(
    session: &Session,
    values: &Values,
    out: &View,
    run: impl FnOnce(&Interpreter, &[Memory<'_>], &Memory<'_>) -> Result<T, Error>,
) -> Result<(Buffer, T), GraphError> {
    let memory = session.freed().array(out.len() * out.dtype.itemsize(), out);
    let engine = session.engine(&values.fused.program)?;
    let buffers = buffers(session, &values.fused.inputs)?;
    let inputs = operands(&buffers, &values.fused.inputs)?;
    let target = Memory::new(&memory, out).map_err(RunError::from)?;
    let told = run(&engine, &inputs, &target).map_err(RunError::from)?;
    Ok((memory, told))
}
