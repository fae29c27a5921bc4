//! A write fused with the reduction that follows: `u[1:-1] = f(u)`, then a sum over `u`.
//!
//! Each part of the array is written just before it is reduced, while it is in the cache, so memory
//! is traversed once. `region` maps the written box to the array, `pair_loop` computes both with
//! one compiled loop. Guarantee: an element is written and reduced by the same thread.

#[allow(unsafe_code)]
pub(crate) mod pair_loop;
pub(crate) mod region;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use self::pair_loop::{FusedProgram, PairLoop};
use self::region::{ArrayRegion, RegionSpan};
use crate::config::{FUSED_WRITE_ELEMENTS, MIN_ROW_TILE_ELEMENTS};
use crate::error::Error;
use crate::execute::Interpreter;
use crate::execute::machine::Machine;
use crate::execute::registers::{self, RegisterBuffer};
use crate::iter::bound_operands::{BoundOperands, BufferView, IterationOrder};
use crate::iter::tiles::ExclusiveTile;
use crate::loops::fp::status;
use crate::types::fp_flags::StepFlags;

/// A program and the region of an array that it writes.
pub(crate) struct FusedWrite<'a> {
    code: &'a Interpreter,
    bound: BoundOperands<'a>,
    region: &'a ArrayRegion,
    /// The composition of the write and the reduced values, if there is one.
    fused: Option<FusedProgram<'a>>,
    /// The number of elements written.
    written: AtomicUsize,
    raised: Mutex<StepFlags>,
}

#[allow(unsafe_code)]
impl<'a> FusedWrite<'a> {
    /// Binds the write; `None` unless its rows are long.
    pub fn new(
        code: &'a Interpreter,
        inputs: &[BufferView<'a>],
        target: &BufferView<'a>,
        region: &'a ArrayRegion,
    ) -> Result<Option<Self>, Error> {
        let targets = std::slice::from_ref(target);
        let bound = BoundOperands::new(&code.program, inputs, targets, IterationOrder::Output)?;
        let space = bound.space();
        if space.rows_per_block > 1 || space.is_rotated || space.row_len() < MIN_ROW_TILE_ELEMENTS {
            return Ok(None);
        }
        let (written, raised) = (AtomicUsize::new(0), Mutex::default());
        Ok(Some(Self { code, bound, region, fused: None, written, raised }))
    }

    /// Adds a program with two outputs, the written elements and the reduced values, over the
    /// region.
    ///
    /// # Safety
    /// `target` must be that of [`Self::new`]. The reduction must hold read claims on all inputs
    /// that are not inputs of this write, and no input may be in the target's buffer.
    pub unsafe fn with_fused_program(
        self,
        code: &'a Interpreter,
        inputs: &[BufferView<'a>],
        target: &BufferView<'a>,
    ) -> Result<Self, Error> {
        // SAFETY: `self.bound` holds the claims on its inputs and on the target as long as this
        // exists; the caller guarantees those on the others.
        let fused = unsafe { FusedProgram::new(code, inputs, target)? };
        Ok(Self { fused: Some(fused), ..self })
    }

    /// True if every element was written, and the flags of the steps.
    pub fn finish(self) -> (bool, StepFlags) {
        let all = self.written.into_inner() == self.bound.space().len();
        (all, self.raised.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The writer of one thread.
pub(crate) struct RowWriter<'a> {
    write: &'a FusedWrite<'a>,
    machine: Machine<'a>,
    /// The loop that computes written elements and values together.
    pub pair_loop: Option<PairLoop<'a>>,
    /// The values of the last pair loop.
    pub values: RegisterBuffer,
    /// The number of elements written.
    written: usize,
    /// The elements of the array written last.
    written_range: Range<usize>,
    /// The end of the elements that only this thread reduces.
    write_limit: usize,
}

#[allow(unsafe_code)]
impl<'a> RowWriter<'a> {
    pub fn new(write: &'a FusedWrite<'a>) -> Box<Self> {
        let machine = Machine::new(write.code, &write.bound);
        let pair_loop = write.fused.as_ref().and_then(PairLoop::new);
        let values = registers::take(1).pop().unwrap_or_default();
        Box::new(Self {
            write,
            machine,
            pair_loop,
            values,
            written: 0,
            written_range: 0..0,
            write_limit: 0,
        })
    }

    pub fn region(&self) -> &'a ArrayRegion {
        self.write.region
    }

    /// Adds to the number of elements written.
    pub fn count(&mut self, written: usize) {
        self.written += written;
    }

    /// Writes these elements of the array, unless they were written last.
    fn write_up_to(&mut self, elements: &Range<usize>) {
        if !(self.written_range.start..=self.written_range.end).contains(&elements.start) {
            self.written_range = elements.start..elements.start;
        }
        let until = self.write_limit.max(elements.end);
        while self.written_range.end < elements.end {
            let (start, row) = (self.written_range.end, self.write.region.row_len);
            let end = until.min((start / row + 1) * row).min(start + FUSED_WRITE_ELEMENTS);
            self.write(start..end);
            self.written_range.end = end;
        }
    }

    /// Writes these elements of the array, row by row.
    pub fn write_rows(&mut self, elements: Range<usize>) {
        let (mut start, row) = (elements.start, self.write.region.row_len);
        while start < elements.end {
            let end = elements.end.min((start / row + 1) * row);
            self.write(start..end);
            start = end;
        }
    }

    fn write(&mut self, elements: Range<usize>) {
        let Some(RegionSpan { region_indices, .. }) = self.write.region.span_within(elements)
        else {
            return;
        };
        self.count(region_indices.len());
        // SAFETY: each element is reduced by one thread, and only that thread writes it.
        self.machine
            .run_tile(unsafe { ExclusiveTile::claim(self.write.bound.space(), region_indices) });
    }
}

impl Drop for RowWriter<'_> {
    fn drop(&mut self) {
        let mut raised = self.write.raised.lock().unwrap_or_else(PoisonError::into_inner);
        *raised = std::mem::take(&mut *raised).join(self.machine.take_step_flags());
        self.write.written.fetch_add(self.written, Ordering::Relaxed);
        registers::recycle(vec![std::mem::take(&mut self.values)]);
    }
}

impl Machine<'_> {
    /// Declares that this machine, and no other, reduces the elements before `end`.
    pub fn set_write_limit(&mut self, end: usize) {
        self.writer.iter_mut().for_each(|writer| writer.write_limit = end);
    }

    /// Writes the elements that these indices read.
    pub(crate) fn write_ahead(&mut self, indices: &Range<usize>) {
        if self
            .writer
            .as_ref()
            .is_none_or(|writer| writer.written_range.contains(&(indices.end - 1)))
        {
            return;
        }
        self.collect_reduction_flags();
        self.writer.iter_mut().for_each(|writer| writer.write_up_to(indices));
        status::clear();
    }
}
