//! A tile where several steps have a loop together.
//!
//! Loops are opaque: whether one has raised a flag is asked when the tile is done. If so, the tile is
//! computed again, one operation at a time, to name the steps; and so are the next ones, until one
//! raises nothing.

use smallvec::SmallVec;

use super::Machine;
use crate::kernels::status;
use crate::plan::{BLOCK, LoopStage, Plan, Read, Stage, Write};
use crate::space::Extent;
use crate::tiles::{TILE, Tile};

impl<'a> Machine<'a> {
    /// The plan, if it can do so many elements now.
    pub(super) fn usable_plan(&self, len: usize) -> Option<&'a Plan> {
        self.plan.filter(|_| !self.attentive && len > 0)
    }

    pub(super) fn run_stages(&mut self, plan: &Plan, mut tile: Tile) {
        if self.run_straight(&mut tile) {
            return self.attribute_stages(plan, tile.extent());
        }
        self.load(tile.extent(), Some(&plan.spread));
        for stage in &plan.stages {
            match stage {
                Stage::Loop(stage) => self.run_loop(stage, &mut Memory::Tile(&mut tile)),
                Stage::Step(step, at) => self.step(step, *at, tile.extent().len(), None),
            }
        }
        self.attribute_stages(plan, tile.extent());
        self.store(&plan.outputs, &mut tile);
    }

    /// Computes these indices and gives the bytes of the first output.
    pub(super) fn value_of_stages(&mut self, plan: &Plan, extent: &Extent) -> &[u8] {
        let len = extent.len();
        self.settle();
        if self.value_straight(extent) {
            self.attribute_stages(plan, extent);
            return self.slots[plan.outputs[0].slot].bytes(len * plan.outputs[0].itemsize);
        }
        self.load(extent, Some(&plan.spread));
        for stage in &plan.stages {
            match stage {
                Stage::Loop(stage) => self.run_loop(stage, &mut Memory::Values(extent)),
                Stage::Step(step, at) => self.step(step, *at, len, None),
            }
        }
        self.attribute_stages(plan, extent);
        self.source(plan.outputs[0], len)
    }

    /// If the CPU has raised a flag, computes the tile again to find the steps. Before anything is
    /// stored over an input.
    pub(super) fn attribute_stages(&mut self, plan: &Plan, extent: &Extent) {
        if !status::is_raised() {
            return;
        }
        status::clear();
        self.attentive = true;
        for start in extent.indices.clone().step_by(TILE) {
            let part = self.space.extent(start..extent.indices.end.min(start + TILE));
            self.load(&part, None);
            self.all_steps(part.len());
        }
        self.relax();
        // The registers of blocks hold single rows now.
        self.blocks.fill(None);
        self.load(extent, Some(&plan.spread));
    }

    fn run_loop(&mut self, stage: &LoopStage, memory: &mut Memory<'_>) {
        let mut operands: SmallVec<[*mut u8; 16]> = SmallVec::new();
        operands.extend(stage.reads.iter().map(|read| self.read(read, memory.extent())));
        operands.extend(stage.writes.iter().map(|write| self.target(write, memory)));
        let len = memory.extent().len();
        if len < stage.code.least() {
            return run_short(stage, &operands, len);
        }
        // SAFETY: the pointers are to as many elements as the tile has: inputs inside claimed
        // buffers, registers, constants; and outputs that only the holder of the tile writes and
        // that are no inputs, or registers of this stage alone.
        unsafe { stage.code.call(&operands, len) };
    }

    fn read(&self, read: &Read, extent: &Extent) -> *mut u8 {
        let slot = read.from.slot;
        match slot.checked_sub(self.in_place.len()) {
            _ if !read.repeated => self.source(read.from, extent.len()).as_ptr().cast_mut(),
            None => self.bound.input(slot).start(extent.first),
            Some(constant) => self.code.program.constants[constant].bytes().as_ptr().cast_mut(),
        }
    }

    fn target(&mut self, write: &Write, memory: &mut Memory<'_>) -> *mut u8 {
        let direct =
            write.direct.filter(|&output| memory.is_stored() && !self.bound.shared[output]);
        if let (Some(output), Memory::Tile(tile)) = (direct, &mut *memory)
            && let Some(bytes) = self.destination(output, tile)
        {
            return bytes.as_mut_ptr();
        }
        let bytes = memory.extent().len() * write.to.itemsize;
        self.slots[write.to.slot].bytes_mut(bytes).as_mut_ptr()
    }
}

/// Memory for as many elements as a loop may need, of up to 16 bytes.
type Block = [u64; 2 * BLOCK];

/// The elements of a tile that is too short, and the last of them again and again: so nothing is
/// signalled that the tile does not.
fn run_short(stage: &LoopStage, operands: &[*mut u8], len: usize) {
    let least = stage.code.least();
    let (starts, ends) = operands.split_at(stage.reads.len());
    let mut blocks: SmallVec<[Block; 8]> = SmallVec::from_elem([0; _], operands.len());
    let mut padded: SmallVec<[*mut u8; 16]> =
        blocks.iter_mut().map(|block| block.as_mut_ptr().cast()).collect();
    for ((read, &start), block) in stage.reads.iter().zip(starts).zip(&mut padded) {
        let size = read.from.itemsize;
        for at in (0..least).filter(|_| !read.repeated) {
            let from = start.wrapping_add(at.min(len - 1) * size);
            // SAFETY: one of `len` elements that may be read, into a block that has room.
            unsafe { from.copy_to_nonoverlapping(block.add(at * size), size) };
        }
        *block = if read.repeated { start } else { *block };
    }
    // SAFETY: as many elements as it needs, in blocks of our own, and single ones.
    unsafe { stage.code.call(&padded, least) };
    for ((write, &end), &block) in stage.writes.iter().zip(ends).zip(&padded[starts.len()..]) {
        // SAFETY: `len` elements that may be written, from a block that has more.
        unsafe { block.copy_to_nonoverlapping(end, len * write.to.itemsize) };
    }
}

/// Where results go: to the outputs, or nowhere but into registers.
enum Memory<'t> {
    Tile(&'t mut Tile),
    Values(&'t Extent),
}

impl Memory<'_> {
    fn extent(&self) -> &Extent {
        match self {
            Self::Tile(tile) => tile.extent(),
            Self::Values(extent) => extent,
        }
    }

    fn is_stored(&self) -> bool {
        matches!(self, Self::Tile(_))
    }
}
