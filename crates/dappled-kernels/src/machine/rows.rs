//! Rows that are folded several at a time.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::Machine;
use crate::Fold;
use crate::kernels::status;
use crate::slot::Slot;
use crate::space::{Extent, Run};
use crate::together::{Pattern, Stream, Together};

/// The same columns of rows that follow one another.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// The indices in the first.
    pub first: Range<usize>,
    /// From one row to the next.
    pub pitch: usize,
    pub count: usize,
}

impl Rows {
    /// The indices of each.
    pub fn each(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let Self { first, pitch, count } = self.clone();
        (0..count).map(move |row| first.start + row * pitch..first.end + row * pitch)
    }
}

impl<'a> Machine<'a> {
    /// The first output at these indices, where it is memory that is read as it lies; all of it,
    /// whatever is chosen.
    pub fn in_memory(&self, indices: Range<usize>) -> Option<&[u8]> {
        let source = self.code.outputs[0];
        if !self.code.steps.is_empty() || source.slot >= self.code.program.inputs.len() {
            return None;
        }
        self.bound.read(source.slot, indices)
    }

    /// A loop that folds rows like these, if there is one.
    pub fn together(&self, fold: Fold, rows: &Rows) -> Option<Arc<Together>> {
        let inputs = self.code.program.inputs.len();
        if self.bound.chosen().is_some() || self.code.steps.is_empty() || rows.count < 2 {
            return None;
        }
        let lane = |at: usize| self.bound.input(at);
        let repeated: Vec<bool> = (0..inputs).map(|at| lane(at).track.row_stride() == 0).collect();
        if !(0..inputs).all(|at| repeated[at] || lane(at).is_straight()) {
            return None;
        }
        let runs: Vec<Run> = rows.each().take(2).map(|row| self.space.extent(row).first).collect();
        let steady = (0..inputs).map(|at| lane(at).start(runs[0]) == lane(at).start(runs[1]));
        let steady = steady.collect();
        self.code.together(Pattern { fold, repeated, steady })
    }

    /// Folds rows into accumulators; false, with nothing done, where they do not lie so or a flag is
    /// raised, whose step is then to be found. `before` is memory for what accumulators were.
    pub fn fold_together(
        &mut self,
        together: &Together,
        rows: &Rows,
        accs: &mut [u8],
        before: &mut Slot,
    ) -> bool {
        let len = rows.first.len();
        if self.attentive || rows.count != together.rows || len < together.code.least() {
            return false;
        }
        let extents = rows.each().map(|row| self.space.extent(row));
        let extents: SmallVec<[Extent; 8]> = extents.collect();
        if !self.lie_so(together, &extents) {
            return false;
        }
        let before = before.bytes_mut(accs.len());
        before.copy_from_slice(accs);
        let operand = |stream: &Stream| match *stream {
            Stream::Accumulators => before.as_mut_ptr(),
            Stream::Input { input, row } => self.bound.input(input).start(extents[row].first),
            Stream::Constant(at) => self.code.program.constants[at].bytes().as_ptr().cast_mut(),
        };
        let mut operands: SmallVec<[*mut u8; 16]> = together.reads.iter().map(operand).collect();
        operands.push(accs.as_mut_ptr());
        self.settle();
        // SAFETY: each row of an input is as long, or one element, inside claimed buffers; the
        // accumulators, and what they were, are memory of our own of the same length.
        unsafe { together.code.call(&operands, len) };
        let raised = status::is_raised();
        if raised {
            status::clear();
            accs.copy_from_slice(before);
        }
        !raised
    }

    /// Is each row in one piece, and are inputs the same for all where the loop takes them so?
    fn lie_so(&self, together: &Together, extents: &[Extent]) -> bool {
        let whole = extents.iter().all(|extent| extent.first.len == extent.len());
        let steady = together.steady.iter().enumerate().filter(|(_, steady)| **steady);
        whole
            && steady.into_iter().all(|(at, _)| {
                let lane = self.bound.input(at);
                let start = lane.start(extents[0].first);
                extents.iter().all(|extent| lane.start(extent.first) == start)
            })
    }
}
