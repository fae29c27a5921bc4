//! The register machine of one thread: runs a program over one tile at a time.

use std::ops::Range;
use std::slice;

use dappled_base::interrupt;
use smallvec::smallvec;

use super::direct_rows::DirectLoop;
use super::fused_write::RowWriter;
use super::masked_tile::Compactor;
use super::registers::{self, RegisterBuffer};
use super::{Instruction, Interpreter, RegisterRef};
use crate::config::{TILE_ELEMENTS, TILES_PER_INTERRUPT_POLL, VALUE_TILE_ELEMENTS};
use crate::iter::bound_operands::{BoundOperands, PerOperand};
use crate::iter::iteration_space::{IndexExtent, IterationSpace};
use crate::iter::strided_operand::block_row_pitch;
use crate::iter::tiles::ExclusiveTile;
use crate::jit::schedule::TileSchedule;
use crate::loops::fp::status;
use crate::types::fp_flags::{FpFlags, ReduceFlags, StepFlags};

/// The state that one thread needs to run a program.
pub(crate) struct Machine<'a> {
    pub(super) code: &'a Interpreter,
    pub(super) bound: &'a BoundOperands<'a>,
    pub(super) space: &'a IterationSpace,
    /// The schedule of fused loops, if the program has one.
    pub(super) schedule: Option<&'a TileSchedule>,
    /// The single loop that computes everything directly on rows, if there is one.
    pub(super) direct_loop: Option<DirectLoop<'a>>,
    pub(super) slots: Vec<RegisterBuffer>,
    /// The address of each input that is contiguous in its own memory, for the current tile.
    pub(super) contiguous_inputs: PerOperand<Option<*const u8>>,
    /// The first row and column of the block in each input's register.
    pub(super) blocks: Vec<Option<(usize, usize)>>,
    /// The start and length of the elements in each input's register.
    pub(super) gathered_ranges: PerOperand<Option<(*const u8, usize)>>,
    /// The number of elements of each register that already hold a constant or broadcast element.
    pub(super) filled_elements: PerOperand<usize>,
    /// Which outputs of the current tile a step has stored directly.
    pub(super) is_stored: PerOperand<bool>,
    /// The flags that steps raised so far.
    pub(super) step_flags: StepFlags,
    /// True to read the CPU's flags after every step, since one was raised. Otherwise once per tile
    /// suffices.
    pub(super) checks_each_step: bool,
    /// True if no flag was raised since the last tile that raised one.
    pub(super) is_quiet: bool,
    /// Flags raised between tiles, by the reduction of their values.
    pub(super) reduction_flags: FpFlags,
    /// Buffer of selected values.
    pub(super) compactor: Compactor,
    /// The writer that updates an input just before it is read.
    pub(super) writer: Option<Box<RowWriter<'a>>>,
    /// The number of tiles computed.
    pub(super) tile_count: usize,
}

#[allow(unsafe_code)]
impl<'a> Machine<'a> {
    pub fn new(code: &'a Interpreter, bound: &'a BoundOperands<'a>) -> Self {
        let (space, schedule) = (bound.space(), bound.schedule(code));
        let slots = registers::take(schedule.map_or(code.slots, |schedule| schedule.slots));
        let contiguous_inputs: PerOperand<_> = smallvec![None; code.program.inputs.len()];
        let blocks =
            if space.rows_per_block > 1 { vec![None; contiguous_inputs.len()] } else { Vec::new() };
        let gathered_ranges = smallvec![None; contiguous_inputs.len()];
        let filled_elements = smallvec![0; code.program.first_result()];
        let writer = bound.writer.map(RowWriter::new);
        if bound.is_interruptible {
            interrupt::poll();
        }
        status::clear();
        Self {
            code,
            bound,
            space,
            schedule,
            direct_loop: schedule.and_then(|schedule| DirectLoop::new(code, bound, schedule)),
            slots,
            contiguous_inputs,
            blocks,
            gathered_ranges,
            filled_elements,
            is_stored: smallvec![false; code.outputs.len()],
            step_flags: StepFlags::default(),
            checks_each_step: false,
            is_quiet: true,
            reduction_flags: FpFlags::NONE,
            compactor: Compactor::default(),
            writer,
            tile_count: 0,
        }
    }

    /// Runs a closure with a new machine and returns its result and flags.
    ///
    /// Of the flags that the closure itself raises, those in `counted_flags` count.
    pub fn run_with<T>(
        code: &'a Interpreter,
        bound: &'a BoundOperands<'a>,
        counted_flags: FpFlags,
        work: impl FnOnce(&mut Self) -> T,
    ) -> (T, ReduceFlags) {
        let mut machine = Self::new(code, bound);
        let result = work(&mut machine);
        machine.collect_reduction_flags();
        let folding = machine.reduction_flags & counted_flags;
        (result, ReduceFlags { steps: machine.take_step_flags(), reduction: folding })
    }

    /// Runs work of other machines in the middle of this one's, on any thread.
    pub fn suspend<T>(&mut self, work: impl FnOnce() -> (T, ReduceFlags)) -> T {
        self.collect_reduction_flags();
        let (result, flags) = work();
        status::clear();
        self.step_flags = self.take_step_flags().join(flags.steps);
        self.reduction_flags |= flags.reduction;
        result
    }

    /// Counts a tile and polls for interrupts now and then.
    #[inline]
    pub(super) fn count_tile(&mut self) {
        self.tile_count = self.tile_count.wrapping_add(1);
        if self.tile_count.is_multiple_of(TILES_PER_INTERRUPT_POLL) && self.bound.is_interruptible {
            interrupt::poll();
        }
    }

    /// Computes a tile and stores its outputs.
    pub fn run_tile(&mut self, tile: ExclusiveTile) {
        self.count_tile();
        let len = tile.extent().len();
        match self.usable_schedule(len) {
            Some(schedule) => self.run_stages(schedule, tile),
            None if len > self.code.tile_elements() => {
                tile.split(self.space, TILE_ELEMENTS).for_each(|part| self.run_steps(part))
            }
            None => self.run_steps(tile),
        }
    }

    pub(super) fn run_steps(&mut self, mut tile: ExclusiveTile) {
        self.load_inputs(tile.extent(), None);
        let (code, len) = (self.code, tile.extent().len());
        for (at, step) in code.steps.iter().enumerate() {
            let direct = step.direct.filter(|&output| !self.bound.aliases_input[output]);
            let target = direct.and_then(|output| self.output_bytes(output, &mut tile));
            self.run_step(step, at, len, target);
        }
        self.attribute_flags(len);
        self.store_outputs(&code.outputs, &mut tile);
        self.resume_fused_loops();
    }

    /// Computes these indices, or these selected elements, and returns the bytes of the first
    /// output.
    pub fn compute(&mut self, indices: Range<usize>) -> &[u8] {
        self.count_tile();
        if let Some(selection) = self.bound.selection() {
            return self.compute_selected(selection, indices);
        }
        if self.compute_pairs(&indices) {
            return self.pair_values(&indices);
        }
        self.write_ahead(&indices);
        let extent = self.space.extent(indices);
        self.compute_extent(&extent)
    }

    /// The number of values to compute at a time.
    pub fn value_tile_elements(&self) -> usize {
        // A single loop needs one register only.
        if self.direct_loop.is_some() { VALUE_TILE_ELEMENTS } else { self.code.tile_elements() }
    }

    pub(super) fn compute_extent(&mut self, extent: &IndexExtent) -> &[u8] {
        let len = extent.len();
        if let Some(schedule) = self.usable_schedule(len) {
            return self.compute_stages(schedule, extent);
        }
        self.load_inputs(extent, None);
        if !self.code.steps.is_empty() {
            self.collect_reduction_flags();
            self.run_all_steps(len);
            self.attribute_flags(len);
            self.resume_fused_loops();
        }
        self.register_bytes(self.code.outputs[0], len)
    }

    /// Computes these indices to the memory of the first output, whose old content is discarded.
    pub(super) fn compute_into(&mut self, extent: &IndexExtent, out: &mut RegisterBuffer) {
        let (len, first) = (extent.len(), self.code.program.first_result());
        let outputs =
            self.usable_schedule(len).map_or(&self.code.outputs, |schedule| &schedule.outputs);
        let RegisterRef { slot, itemsize } = outputs[0];
        let values = self.compute_extent(extent);
        if slot < first {
            out.bytes_mut(len * itemsize).copy_from_slice(values);
        } else {
            // The register of a result is not read again.
            std::mem::swap(&mut self.slots[slot], out);
        }
    }

    pub(super) fn run_all_steps(&mut self, len: usize) {
        let code = self.code;
        code.steps.iter().enumerate().for_each(|(at, step)| self.run_step(step, at, len, None));
    }

    /// The flags of the steps since the last call.
    pub fn take_step_flags(&mut self) -> StepFlags {
        std::mem::take(&mut self.step_flags)
    }

    /// Takes the flags raised since the last tile, which belong to no step.
    pub(super) fn collect_reduction_flags(&mut self) {
        self.reduction_flags |= status::take();
    }

    /// After the first flag of the CPU, repeats the tile to find the step.
    ///
    /// Must precede any store, since an output may be an input.
    pub(super) fn attribute_flags(&mut self, len: usize) {
        if !self.checks_each_step && status::is_raised() {
            self.checks_each_step = true;
            status::clear();
            self.run_all_steps(len);
        }
    }

    /// Resumes fused loops after a tile that raised no flag.
    pub(super) fn resume_fused_loops(&mut self) {
        self.checks_each_step &= self.schedule.is_none() || !self.is_quiet;
        self.is_quiet = true;
    }

    /// Makes inputs and constants readable by kernels: all, or those in `wanted`.
    pub(super) fn load_inputs(&mut self, extent: &IndexExtent, wanted: Option<&[bool]>) {
        let len = extent.len();
        let is_wanted = |at: usize| wanted.is_none_or(|wanted| wanted[at]);
        for at in (0..self.contiguous_inputs.len()).filter(|&at| is_wanted(at)) {
            let operand = self.bound.input(at);
            if extent.block.len() > 1 && operand.layout.is_transposed() {
                self.contiguous_inputs[at] = Some(self.load_block(at, extent));
                continue;
            }
            self.contiguous_inputs[at] =
                operand.contiguous_start(extent).map(<*mut u8>::cast_const);
            if self.contiguous_inputs[at].is_none() && self.filled_elements[at] < len {
                self.filled_elements[at] = if operand.layout.is_scalar() { len } else { 0 };
                self.gather_input(at, extent);
            }
        }
        for (at, constant) in self.code.program.constants.iter().enumerate() {
            let at = self.contiguous_inputs.len() + at;
            if self.filled_elements[at] < len && is_wanted(at) {
                self.filled_elements[at] = len;
                constant.fill(self.slots[at].bytes_mut(len * constant.dtype().itemsize()));
            }
        }
    }

    /// Gathers an input's elements to its register, unless they are already there.
    pub(super) fn gather_input(&mut self, at: usize, extent: &IndexExtent) {
        let operand = self.bound.input(at);
        let len = extent.len();
        let in_one_row = extent.first.len == len;
        let range = in_one_row.then(|| (operand.start(extent.first).cast_const(), len));
        if range.is_none() || self.gathered_ranges[at] != range {
            self.gathered_ranges[at] = range;
            operand.gather(extent, self.slots[at].bytes_mut(len * operand.layout.itemsize));
        }
    }

    /// Transposes an input's part of a block to its register, unless it is already there. Returns
    /// the address of the extent's row.
    pub(super) fn load_block(&mut self, at: usize, extent: &IndexExtent) -> *const u8 {
        let operand = self.bound.input(at);
        let (len, position) = (extent.len(), (extent.block.start, extent.first.column));
        let pitch = block_row_pitch(len, operand.layout.itemsize);
        let register = self.slots[at].bytes_mut(extent.block.len() * pitch);
        if self.blocks[at] != Some(position) {
            self.blocks[at] = Some(position);
            self.gathered_ranges[at] = None;
            operand.gather_block(extent, register);
        }
        register[(extent.first.row - extent.block.start) * pitch..].as_ptr()
    }

    /// Runs one operation into `target`, or into the register of the step.
    pub(super) fn run_step(
        &mut self,
        step: &Instruction,
        at: usize,
        len: usize,
        target: Option<&mut [u8]>,
    ) {
        let mut register = std::mem::take(&mut self.slots[step.slot]);
        let out = match target {
            Some(target) => target,
            None => register.bytes_mut(len * step.itemsize),
        };
        let mut args: [&[u8]; 3] = [&[]; 3];
        for (arg, &source) in args.iter_mut().zip(&step.args) {
            *arg = self.register_bytes(source, len);
        }
        let [a, b, c] = args;
        // SAFETY: `kernel` returns only loops that this CPU can run.
        let mut flags = unsafe { (step.kernel)(a, b, c, out) };
        if self.checks_each_step {
            let raised = status::take();
            self.is_quiet &= raised.is_empty();
            flags |= raised & step.cpu_flags;
        }
        self.slots[step.slot] = register;
        self.record_flags(at, flags);
    }

    #[inline]
    pub(super) fn record_flags(&mut self, step: usize, flags: FpFlags) {
        if !flags.is_empty() {
            self.is_quiet = false;
            self.step_flags.add(step, flags);
        }
    }

    pub(super) fn register_bytes(&self, source: RegisterRef, len: usize) -> &[u8] {
        let bytes = len * source.itemsize;
        match self.contiguous_inputs.get(source.slot).copied().flatten() {
            // SAFETY: contiguous, aligned and inside the claimed buffer, as `contiguous_start`
            // checked; an output that shares this memory is written by `store_outputs` only, after
            // the last read.
            Some(start) => unsafe { slice::from_raw_parts(start, bytes) },
            None => self.slots[source.slot].bytes(bytes),
        }
    }

    /// The memory of an output in this tile, if it is contiguous and aligned.
    pub(super) fn output_bytes<'t>(
        &mut self,
        output: usize,
        tile: &'t mut ExclusiveTile,
    ) -> Option<&'t mut [u8]> {
        let operand = self.bound.output(output);
        let start = operand.contiguous_start(tile.extent())?;
        let bytes = tile.extent().len() * operand.layout.itemsize;
        self.is_stored[output] = true;
        // SAFETY: inside the claimed buffer; only the owner of the tile writes these indices,
        // outputs share no byte with each other, and callers exclude outputs that alias an input.
        Some(unsafe { slice::from_raw_parts_mut(start, bytes) })
    }

    /// Copies the outputs that no step stored directly from their registers.
    pub(super) fn store_outputs(&mut self, outputs: &[RegisterRef], tile: &mut ExclusiveTile) {
        for (output, &source) in outputs.iter().enumerate() {
            if !std::mem::take(&mut self.is_stored[output]) {
                let from = self.register_bytes(source, tile.extent().len()).as_ptr();
                let operand = self.bound.output(output);
                // SAFETY: the caller owns the tile. `from` is a register, or an input's memory if
                // the program stores an input unchanged: then both are the same view, or share no
                // byte.
                unsafe { operand.scatter(tile.extent(), from) };
            }
        }
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        registers::recycle(std::mem::take(&mut self.slots));
    }
}
