//! Runs a tile in which compiled loops execute several steps each.
//!
//! The flags of a loop do not tell the step. They are read after each tile; if one is raised, this
//! tile and the next ones are repeated one operation at a time, until a tile raises none.

use smallvec::SmallVec;

use super::machine::Machine;
use crate::config::{MAX_LOOP_BLOCK_ELEMENTS, TILE_ELEMENTS};
use crate::iter::iteration_space::IndexExtent;
use crate::iter::tiles::ExclusiveTile;
use crate::jit::schedule::{LoopRead, LoopStage, LoopWrite, ScheduleStage, TileSchedule};
use crate::loops::fp::status;

impl<'a> Machine<'a> {
    /// The schedule, if it can be used for `len` elements now.
    pub(crate) fn usable_schedule(&self, len: usize) -> Option<&'a TileSchedule> {
        self.schedule.filter(|_| !self.checks_each_step && len > 0)
    }

    pub(crate) fn run_stages(&mut self, schedule: &TileSchedule, mut tile: ExclusiveTile) {
        if self.run_direct(&mut tile) {
            return self.attribute_stage_flags(schedule, tile.extent());
        }
        self.load_inputs(tile.extent(), Some(&schedule.materialized));
        for stage in &schedule.stages {
            match stage {
                ScheduleStage::Loop(stage) => {
                    self.run_loop_stage(stage, &mut ResultTarget::Tile(&mut tile))
                }
                ScheduleStage::Step(step, at) => {
                    self.run_step(step, *at, tile.extent().len(), None)
                }
            }
        }
        self.attribute_stage_flags(schedule, tile.extent());
        self.store_outputs(&schedule.outputs, &mut tile);
    }

    /// Computes these indices and returns the bytes of the first output.
    pub(crate) fn compute_stages(
        &mut self,
        schedule: &TileSchedule,
        extent: &IndexExtent,
    ) -> &[u8] {
        let len = extent.len();
        self.collect_reduction_flags();
        if self.compute_direct(extent) {
            self.attribute_stage_flags(schedule, extent);
            return self.slots[schedule.outputs[0].slot].bytes(len * schedule.outputs[0].itemsize);
        }
        self.load_inputs(extent, Some(&schedule.materialized));
        for stage in &schedule.stages {
            match stage {
                ScheduleStage::Loop(stage) => {
                    self.run_loop_stage(stage, &mut ResultTarget::Values(extent))
                }
                ScheduleStage::Step(step, at) => self.run_step(step, *at, len, None),
            }
        }
        self.attribute_stage_flags(schedule, extent);
        self.register_bytes(schedule.outputs[0], len)
    }

    /// If the CPU has raised a flag, repeats the tile step by step to find the steps.
    ///
    /// Must precede stores to outputs that alias an input.
    pub(crate) fn attribute_stage_flags(&mut self, schedule: &TileSchedule, extent: &IndexExtent) {
        if !status::is_raised() {
            return;
        }
        status::clear();
        self.checks_each_step = true;
        for start in extent.indices.clone().step_by(TILE_ELEMENTS) {
            let part = self.space.extent(start..extent.indices.end.min(start + TILE_ELEMENTS));
            self.load_inputs(&part, None);
            self.run_all_steps(part.len());
        }
        self.resume_fused_loops();
        // The registers of blocks now hold single rows.
        self.blocks.fill(None);
        self.load_inputs(extent, Some(&schedule.materialized));
    }

    fn run_loop_stage(&mut self, stage: &LoopStage, target: &mut ResultTarget<'_>) {
        let mut operands: SmallVec<[*mut u8; 16]> = SmallVec::new();
        operands.extend(stage.reads.iter().map(|read| self.input_pointer(read, target.extent())));
        operands.extend(stage.writes.iter().map(|write| self.output_pointer(write, target)));
        let len = target.extent().len();
        if len < stage.code.min_elements() {
            return run_padded(stage, &operands, len);
        }
        // SAFETY: each pointer is to as many elements as the tile has: inputs inside claimed
        // buffers, registers, or constants; outputs that only the owner of the tile writes and that
        // alias no input, or registers of this stage alone.
        unsafe { stage.code.call(&operands, len) };
    }

    fn input_pointer(&self, read: &LoopRead, extent: &IndexExtent) -> *mut u8 {
        let slot = read.from.slot;
        match slot.checked_sub(self.contiguous_inputs.len()) {
            _ if !read.is_broadcast => {
                self.register_bytes(read.from, extent.len()).as_ptr().cast_mut()
            }
            None => self.bound.input(slot).start(extent.first),
            Some(constant) => self.code.program.constants[constant].bytes().as_ptr().cast_mut(),
        }
    }

    fn output_pointer(&mut self, write: &LoopWrite, target: &mut ResultTarget<'_>) -> *mut u8 {
        let direct = write
            .direct
            .filter(|&output| target.stores_outputs() && !self.bound.aliases_input[output]);
        if let (Some(output), ResultTarget::Tile(tile)) = (direct, &mut *target)
            && let Some(bytes) = self.output_bytes(output, tile)
        {
            return bytes.as_mut_ptr();
        }
        let bytes = target.extent().len() * write.to.itemsize;
        self.slots[write.to.slot].bytes_mut(bytes).as_mut_ptr()
    }
}

/// Memory for the minimal block of a loop, with elements of up to 16 bytes.
type PaddedBlock = [u64; 2 * MAX_LOOP_BLOCK_ELEMENTS];

/// Runs a loop on a tile shorter than its minimum, padded with copies of the last element.
///
/// Copies raise no flag that the tile itself does not raise.
fn run_padded(stage: &LoopStage, operands: &[*mut u8], len: usize) {
    let least = stage.code.min_elements();
    let (starts, ends) = operands.split_at(stage.reads.len());
    let mut blocks: SmallVec<[PaddedBlock; 8]> = SmallVec::from_elem([0; _], operands.len());
    let mut padded: SmallVec<[*mut u8; 16]> =
        blocks.iter_mut().map(|block| block.as_mut_ptr().cast()).collect();
    for ((read, &start), block) in stage.reads.iter().zip(starts).zip(&mut padded) {
        let size = read.from.itemsize;
        for at in (0..least).filter(|_| !read.is_broadcast) {
            let from = start.wrapping_add(at.min(len - 1) * size);
            // SAFETY: one of `len` readable elements, into a block with room for `least` of them.
            unsafe { from.copy_to_nonoverlapping(block.add(at * size), size) };
        }
        *block = if read.is_broadcast { start } else { *block };
    }
    // SAFETY: `least` elements in exclusive blocks, and single broadcast elements.
    unsafe { stage.code.call(&padded, least) };
    for ((write, &end), &block) in stage.writes.iter().zip(ends).zip(&padded[starts.len()..]) {
        // SAFETY: `len` writable elements, from a block that has at least as many.
        unsafe { block.copy_to_nonoverlapping(end, len * write.to.itemsize) };
    }
}

/// The destination of results: the outputs of a tile, or registers only.
enum ResultTarget<'t> {
    Tile(&'t mut ExclusiveTile),
    Values(&'t IndexExtent),
}

impl ResultTarget<'_> {
    fn extent(&self) -> &IndexExtent {
        match self {
            Self::Tile(tile) => tile.extent(),
            Self::Values(extent) => extent,
        }
    }

    fn stores_outputs(&self) -> bool {
        matches!(self, Self::Tile(_))
    }
}
