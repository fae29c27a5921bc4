//! One compiled loop for a write and the values of its reduction.
//!
//! For `u[1:-1] = f(u)`, then a sum over `g(u, old)`, one loop computes `f` and `g`: one result
//! goes to `u`, the other to the reduction, and what was just written is not read again.

use std::ops::Range;

use smallvec::SmallVec;

use super::RowWriter;
use super::region::RegionSpan;
use crate::config::{MAX_LOOP_BLOCK_ELEMENTS, MIN_ROW_TILE_ELEMENTS};
use crate::error::Error;
use crate::execute::Interpreter;
use crate::execute::direct_rows::{OperandPointers, RowPointer, row_pointers};
use crate::execute::machine::Machine;
use crate::iter::bound_operands::{BoundOperands, BufferView};
use crate::iter::iteration_space::IterationSpace;
use crate::jit::schedule::{LoopStage, ScheduleStage};
use crate::loops::fp::status;

/// A program with two outputs, the written elements and the values, over the written region.
pub(crate) struct FusedProgram<'a> {
    code: &'a Interpreter,
    bound: BoundOperands<'a>,
}

impl<'a> FusedProgram<'a> {
    /// Binds operands without claiming their memory.
    ///
    /// # Safety
    /// As for [`BoundOperands::claimed_elsewhere`].
    pub unsafe fn new(
        code: &'a Interpreter,
        inputs: &[BufferView<'a>],
        target: &BufferView<'a>,
    ) -> Result<Self, Error> {
        // SAFETY: guaranteed by the caller.
        let bound = unsafe { BoundOperands::claimed_elsewhere(&code.program, inputs, target)? };
        Ok(Self { code, bound })
    }
}

/// The compiled loop with the row pointers of its operands.
pub(crate) struct PairLoop<'a> {
    stage: &'a LoopStage,
    space: &'a IterationSpace,
    reads: SmallVec<[RowPointer<'a>; 8]>,
    target: RowPointer<'a>,
}

impl<'a> PairLoop<'a> {
    /// Builds the loop; `None` if the program does not compile to one loop or rows of an operand
    /// are not contiguous.
    pub fn new(fused: &'a FusedProgram<'a>) -> Option<Self> {
        let FusedProgram { code, bound } = fused;
        let (space, schedule) = (bound.space(), bound.schedule(code)?);
        let [ScheduleStage::Loop(stage)] = &schedule.stages[..] else { return None };
        let results = stage.writes.iter().map(|write| write.to.slot);
        let is_pair = results.eq(schedule.outputs.iter().map(|output| output.slot));
        if !is_pair
            || stage.writes.len() != 2
            || space.rows_per_block > 1
            || space.row_len() < MIN_ROW_TILE_ELEMENTS
        {
            return None;
        }
        let (reads, operand) = (row_pointers(stage, code, bound)?, bound.output(0));
        operand.has_contiguous_rows().then_some(Self {
            stage,
            space,
            reads,
            target: RowPointer::Row(operand),
        })
    }

    /// The number of bytes of a value.
    fn itemsize(&self) -> usize {
        self.stage.writes[1].to.itemsize
    }

    /// Writes a span and computes its values. Returns false, with nothing done, if the span is too
    /// short.
    fn run(&self, span: &RegionSpan, values: &mut [u8]) -> bool {
        let run = self.space.extent(span.region_indices.clone()).first;
        let len = span.region_indices.len();
        if run.len < len || len < self.stage.code.min_elements() {
            return false;
        }
        assert_eq!(values.len(), len * self.itemsize());
        let mut operands: OperandPointers = self.reads.iter().map(|line| line.start(run)).collect();
        operands.extend([self.target.start(run), values.as_mut_ptr()]);
        // SAFETY: each pointer is to as many elements in one row, or to one element if it is
        // broadcast: inside claimed buffers, constants, and the values. The target aliases no
        // input, and only the thread that reduces these elements writes them.
        unsafe { self.stage.code.call(&operands, len) };
        true
    }
}

impl RowWriter<'_> {
    /// Writes the part of these elements in the region and computes its values.
    ///
    /// Returns the elements that remain; `None` if a flag was raised, and the results are void.
    fn run_pair_loop(
        &mut self,
        elements: &Range<usize>,
        values: &mut [u8],
    ) -> Option<RemainingRanges> {
        let (region, mut remaining, mut start) =
            (self.region(), RemainingRanges::new(), elements.start);
        let pair_loop = self.pair_loop.as_ref()?;
        let (size, mut written) = (pair_loop.itemsize(), 0);
        while start < elements.end {
            let end = elements.end.min((start / region.row_len + 1) * region.row_len);
            let Some(span) = region.span_within(start..end) else {
                push_range(&mut remaining, start..end);
                start = end;
                continue;
            };
            let byte = |at: usize| (at - elements.start) * size;
            let bytes = byte(span.array_indices.start)..byte(span.array_indices.end);
            if pair_loop.run(&span, &mut values[bytes]) {
                written += span.region_indices.len();
                push_range(&mut remaining, start..span.array_indices.start);
                push_range(&mut remaining, span.array_indices.end..end);
            } else {
                push_range(&mut remaining, start..end);
            }
            start = end;
        }
        if status::is_raised() {
            return None;
        }
        self.count(written);
        Some(remaining)
    }
}

/// Elements that the pair loop did not compute.
type RemainingRanges = SmallVec<[Range<usize>; 8]>;

/// Appends a range, merged with the last one if they touch.
fn push_range(remaining: &mut RemainingRanges, elements: Range<usize>) {
    match remaining.last_mut() {
        _ if elements.is_empty() => {}
        Some(last) if last.end == elements.start => last.end = elements.end,
        _ => remaining.push(elements),
    }
}

impl Machine<'_> {
    /// Writes the elements that these indices read and computes the first output, together.
    ///
    /// Returns false, with no valid result, if there is no pair loop or it raised a flag.
    pub(crate) fn compute_pairs(&mut self, indices: &Range<usize>) -> bool {
        let Some(mut writer) = self.writer.take_if(|writer| writer.pair_loop.is_some()) else {
            return false;
        };
        self.collect_reduction_flags();
        let mut values = std::mem::take(&mut writer.values);
        let size = writer.pair_loop.as_ref().map_or(0, PairLoop::itemsize);
        let bytes = values.bytes_mut(indices.len() * size);
        let remaining = writer.run_pair_loop(indices, bytes);
        match &remaining {
            Some(remaining) => self.compute_remaining(&mut writer, remaining, indices, bytes, size),
            None => {
                // From now on write and values are computed separately, to attribute the flags.
                writer.pair_loop = None;
                status::clear();
            }
        }
        writer.values = values;
        self.writer = Some(writer);
        remaining.is_some()
    }

    /// The values that `compute_pairs` computed.
    pub(crate) fn pair_values(&self, indices: &Range<usize>) -> &[u8] {
        let writer = self.writer.as_ref().expect("compute_pairs succeeded");
        let size = writer.pair_loop.as_ref().map_or(0, PairLoop::itemsize);
        writer.values.bytes(indices.len() * size)
    }

    /// Computes the values that the pair loop did not, after writing the elements they read.
    fn compute_remaining(
        &mut self,
        writer: &mut RowWriter<'_>,
        remaining: &RemainingRanges,
        all: &Range<usize>,
        values: &mut [u8],
        size: usize,
    ) {
        remaining.iter().for_each(|elements| writer.write_rows(elements.clone()));
        status::clear();
        for elements in remaining {
            // Recomputing a few neighbours is faster than a tile shorter than the loop's minimum.
            let start = elements
                .start
                .min(elements.end.saturating_sub(MAX_LOOP_BLOCK_ELEMENTS))
                .max(all.start);
            let computed = self.compute_extent(&self.space.extent(start..elements.end));
            let byte = (start - all.start) * size;
            values[byte..byte + computed.len()].copy_from_slice(computed);
        }
    }
}
