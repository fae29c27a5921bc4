//! Reduction of several rows at a time with a compiled loop.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::machine::Machine;
use super::registers::RegisterBuffer;
use crate::iter::iteration_space::{IndexExtent, RowSpan};
use crate::jit::multi_row::{LoopInput, MultiRowLoop, MultiRowPattern};
use crate::loops::fp::status;
use crate::program::reduce_op::ReduceOp;

/// A range of columns of consecutive rows.
#[derive(Clone, Debug)]
pub(crate) struct RowBatch {
    /// The indices in the first row.
    pub first: Range<usize>,
    /// The number of indices from one row to the next.
    pub pitch: usize,
    pub count: usize,
}

impl RowBatch {
    /// The index range of each row.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let Self { first, pitch, count } = self.clone();
        (0..count).map(move |row| first.start + row * pitch..first.end + row * pitch)
    }
}

impl<'a> Machine<'a> {
    /// The memory of the first output at these indices, if it is an unmodified contiguous input.
    /// Ignores the selection.
    pub fn contiguous_values(&self, indices: Range<usize>) -> Option<&[u8]> {
        let source = self.code.outputs[0];
        if !self.code.steps.is_empty() || source.slot >= self.code.program.inputs.len() {
            return None;
        }
        self.bound.contiguous_bytes(source.slot, indices)
    }

    /// A compiled loop for rows like these, if there is one.
    pub fn multi_row_loop(&self, fold: ReduceOp, rows: &RowBatch) -> Option<Arc<MultiRowLoop>> {
        let inputs = self.code.program.inputs.len();
        if self.bound.selection().is_some() || self.code.steps.is_empty() || rows.count < 2 {
            return None;
        }
        let operand = |at: usize| self.bound.input(at);
        let repeated: Vec<bool> =
            (0..inputs).map(|at| operand(at).layout.row_stride() == 0).collect();
        if !(0..inputs).all(|at| repeated[at] || operand(at).has_contiguous_rows()) {
            return None;
        }
        let runs: Vec<RowSpan> =
            rows.ranges().take(2).map(|row| self.space.extent(row).first).collect();
        let invariant =
            (0..inputs).map(|at| operand(at).start(runs[0]) == operand(at).start(runs[1]));
        let invariant = invariant.collect();
        self.code.multi_row_loop(MultiRowPattern { fold, repeated, invariant })
    }

    /// Reduces rows into accumulators.
    ///
    /// Returns false, with the accumulators unchanged, if the rows do not match the loop or a flag
    /// was raised, whose step must then be found. `before` is scratch memory for the accumulators.
    pub fn reduce_rows(
        &mut self,
        multi_row_loop: &MultiRowLoop,
        rows: &RowBatch,
        accs: &mut [u8],
        before: &mut RegisterBuffer,
    ) -> bool {
        let len = rows.first.len();
        if self.checks_each_step
            || rows.count != multi_row_loop.rows
            || len < multi_row_loop.code.min_elements()
        {
            return false;
        }
        let extents = rows.ranges().map(|row| self.space.extent(row));
        let extents: SmallVec<[IndexExtent; 8]> = extents.collect();
        if !self.matches_loop(multi_row_loop, &extents) {
            return false;
        }
        let before = before.bytes_mut(accs.len());
        before.copy_from_slice(accs);
        let operand = |stream: &LoopInput| match *stream {
            LoopInput::Accumulators => before.as_mut_ptr(),
            LoopInput::Input { input, row } => self.bound.input(input).start(extents[row].first),
            LoopInput::Constant(at) => self.code.program.constants[at].bytes().as_ptr().cast_mut(),
        };
        let mut operands: SmallVec<[*mut u8; 16]> =
            multi_row_loop.reads.iter().map(operand).collect();
        operands.push(accs.as_mut_ptr());
        self.collect_reduction_flags();
        // SAFETY: each row of an input has `len` elements, or one, inside claimed buffers; the
        // accumulators and their copy are exclusive memory of the same length.
        unsafe { multi_row_loop.code.call(&operands, len) };
        let raised = status::is_raised();
        if raised {
            status::clear();
            accs.copy_from_slice(before);
        }
        !raised
    }

    /// True if each row is one span and the loop's invariant inputs are the same for all rows.
    fn matches_loop(&self, multi_row_loop: &MultiRowLoop, extents: &[IndexExtent]) -> bool {
        let whole = extents.iter().all(|extent| extent.first.len == extent.len());
        let invariant =
            multi_row_loop.invariant.iter().enumerate().filter(|(_, invariant)| **invariant);
        whole
            && invariant.into_iter().all(|(at, _)| {
                let operand = self.bound.input(at);
                let start = operand.start(extents[0].first);
                extents.iter().all(|extent| operand.start(extent.first) == start)
            })
    }
}
