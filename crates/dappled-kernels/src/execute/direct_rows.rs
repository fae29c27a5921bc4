//! Runs one compiled loop directly on the rows of contiguous-row operands.
//!
//! The operands are examined once; each tile then costs a few additions and a call.

use dappled_base::interrupt;
use smallvec::SmallVec;

use super::Interpreter;
use super::machine::Machine;
use crate::config::{MIN_ROW_TILE_ELEMENTS, TILES_PER_INTERRUPT_POLL};
use crate::iter::bound_operands::BoundOperands;
use crate::iter::iteration_space::{IndexExtent, RowSpan};
use crate::iter::strided_operand::StridedOperand;
use crate::iter::tiles::{ExclusiveTile, TileIter};
use crate::jit::schedule::{LoopRead, LoopStage, LoopWrite, ScheduleStage, TileSchedule};
use crate::loops::fp::status;

/// A compiled loop with the row pointers of its operands.
pub(crate) struct DirectLoop<'a> {
    stage: &'a LoopStage,
    reads: SmallVec<[RowPointer<'a>; 8]>,
    /// The outputs, if the loop writes all of them in place.
    writes: Option<SmallVec<[RowPointer<'a>; 2]>>,
    /// True if the only result of the loop is the first output.
    is_value: bool,
}

/// Contiguous elements along each row, or one element for all rows.
pub(crate) enum RowPointer<'a> {
    Row(StridedOperand<'a>),
    Scalar(*mut u8),
}

impl RowPointer<'_> {
    #[inline]
    pub fn start(&self, run: RowSpan) -> *mut u8 {
        match self {
            Self::Row(operand) => operand.start(run),
            Self::Scalar(start) => *start,
        }
    }

    /// The distance in bytes between consecutive rows, if it is constant.
    fn row_stride(&self) -> Option<isize> {
        match self {
            Self::Row(operand) => match operand.layout.strides[..] {
                [step, _] => Some(step),
                _ => None,
            },
            Self::Scalar(_) => Some(0),
        }
    }
}

pub(crate) type OperandPointers = SmallVec<[*mut u8; 16]>;

/// The row pointers of a loop's inputs; `None` if rows of an input are not contiguous.
pub(crate) fn row_pointers<'a>(
    stage: &LoopStage,
    code: &'a Interpreter,
    bound: &'a BoundOperands<'_>,
) -> Option<SmallVec<[RowPointer<'a>; 8]>> {
    let inputs = code.program.inputs.len();
    let read = |read: &LoopRead| match read.from.slot.checked_sub(inputs) {
        Some(constant) => {
            let constant = code.program.constants.get(constant)?;
            read.is_broadcast.then(|| RowPointer::Scalar(constant.bytes().as_ptr().cast_mut()))
        }
        None => {
            let operand = bound.input(read.from.slot);
            (read.is_broadcast || operand.has_contiguous_rows()).then_some(RowPointer::Row(operand))
        }
    };
    stage.reads.iter().map(read).collect()
}

impl<'a> DirectLoop<'a> {
    pub fn new(
        code: &'a Interpreter,
        bound: &'a BoundOperands<'_>,
        schedule: &'a TileSchedule,
    ) -> Option<Self> {
        let [ScheduleStage::Loop(stage)] = &schedule.stages[..] else { return None };
        let space = bound.space();
        if space.rows_per_block > 1
            || space.row_len() < MIN_ROW_TILE_ELEMENTS
            || stage.writes.is_empty()
        {
            return None;
        }
        let reads = row_pointers(stage, code, bound)?;
        let write = |write: &LoopWrite| {
            let output =
                write.direct.filter(|&at| bound.has_outputs() && !bound.aliases_input[at])?;
            let operand = bound.output(output);
            operand.has_contiguous_rows().then_some(RowPointer::Row(operand))
        };
        // Outputs that alias an input, or occur twice, cannot be written by the loop.
        let makes_all = stage.writes.len() == schedule.outputs.len();
        let writes = makes_all.then(|| stage.writes.iter().map(write).collect()).flatten();
        let first = schedule.outputs.first().map(|output| output.slot);
        let is_value = stage.writes.len() == 1 && first == Some(stage.writes[0].to.slot);
        Some(Self { stage, reads, writes, is_value })
    }

    fn input_pointers(&self, run: RowSpan) -> OperandPointers {
        self.reads.iter().map(|line| line.start(run)).collect()
    }

    /// The operands of the first row, and their strides to the next one; `None` if strides vary.
    fn row_operands(&self, first: RowSpan) -> Option<(OperandPointers, SmallVec<[isize; 16]>)> {
        let writes = self.writes.as_ref()?;
        let lines = || self.reads.iter().chain(writes);
        let steps = lines().map(RowPointer::row_stride).collect::<Option<_>>()?;
        Some((lines().map(|line| line.start(first)).collect(), steps))
    }

    /// True if the loop can compute these indices: one row span of sufficient length.
    fn fits(&self, extent: &IndexExtent) -> bool {
        extent.first.len == extent.len() && extent.len() >= self.stage.code.min_elements()
    }
}

impl Machine<'_> {
    /// Computes all tiles and stores the outputs.
    pub fn run_tiles(&mut self, tiles: TileIter<'_>) {
        let left = self.run_rows(tiles);
        left.for_each(|tile| self.run_tile(tile));
    }

    /// Computes leading tiles that are whole rows until one raises a flag, and returns the
    /// remaining tiles.
    fn run_rows<'t>(&mut self, tiles: TileIter<'t>) -> TileIter<'t> {
        let (Some(rows), Some(direct_loop)) = (tiles.whole_rows(), &self.direct_loop) else {
            return tiles;
        };
        let (stage, len) = (direct_loop.stage, self.space.row_len());
        let first = RowSpan { row: rows.start, column: 0, len };
        let Some((mut operands, steps)) = direct_loop.row_operands(first) else { return tiles };
        let Some(schedule) = self.usable_schedule(len).filter(|_| len >= stage.code.min_elements())
        else {
            return tiles;
        };
        for row in rows.clone() {
            if row.is_multiple_of(TILES_PER_INTERRUPT_POLL) && self.bound.is_interruptible {
                interrupt::poll();
            }
            // SAFETY: each pointer is to as many elements as the row has, or to one element if it
            // is broadcast, inside claimed buffers or constants. Only the owner of the tiles writes
            // the outputs, which alias no input.
            unsafe { stage.code.call(&operands, len) };
            if status::is_raised() {
                self.attribute_stage_flags(
                    schedule,
                    &self.space.extent(row * len..(row + 1) * len),
                );
                return tiles.split(row + 1 - rows.start).1;
            }
            for (operand, &step) in operands.iter_mut().zip(&steps) {
                *operand = operand.wrapping_offset(step);
            }
        }
        tiles.split(rows.len()).1
    }

    /// Computes a tile and stores its outputs. Returns false, with nothing done, if the loop
    /// cannot.
    pub(crate) fn run_direct(&mut self, tile: &mut ExclusiveTile) -> bool {
        let extent = tile.extent();
        let Some(direct_loop) = &self.direct_loop else { return false };
        let Some(writes) = direct_loop.writes.as_ref().filter(|_| direct_loop.fits(extent)) else {
            return false;
        };
        let mut operands = direct_loop.input_pointers(extent.first);
        operands.extend(writes.iter().map(|line| line.start(extent.first)));
        // SAFETY: each pointer is to as many elements as the tile has, in one row, or to one
        // element if it is broadcast, inside claimed buffers or constants. Only the owner of the
        // tile writes the outputs, which alias no input.
        unsafe { direct_loop.stage.code.call(&operands, extent.len()) };
        true
    }

    /// Computes these indices to the register of the only result. Returns false, with nothing done,
    /// if the loop cannot.
    pub(crate) fn compute_direct(&mut self, extent: &IndexExtent) -> bool {
        let fits = |direct_loop: &&DirectLoop<'_>| direct_loop.is_value && direct_loop.fits(extent);
        let Some(direct_loop) = self.direct_loop.as_ref().filter(fits) else { return false };
        let write = &direct_loop.stage.writes[0];
        let mut operands = direct_loop.input_pointers(extent.first);
        let bytes = extent.len() * write.to.itemsize;
        operands.push(self.slots[write.to.slot].bytes_mut(bytes).as_mut_ptr());
        // SAFETY: as above; the output is a register of this stage alone.
        unsafe { direct_loop.stage.code.call(&operands, extent.len()) };
        true
    }
}
