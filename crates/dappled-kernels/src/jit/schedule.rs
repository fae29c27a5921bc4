//! The stages a tile passes through when compiled loops execute some of the steps.

use std::sync::Arc;

use super::fused_loop::{Compiler, FusedLoop};
use super::partition::{
    StepGroup, direct_output, external_reads, external_writes, extract_program, partition,
};
use crate::config::{
    FUSED_TILE_ELEMENTS, MAX_LOOP_BLOCK_ELEMENTS, MIN_ROW_TILE_ELEMENTS, TILE_ELEMENTS,
};
use crate::execute::{Instruction, Interpreter, RegisterRef};
use crate::iter::iteration_space::IterationSpace;
use crate::program::{Program, Reg};

/// The stages of a tile, in order.
pub(crate) struct TileSchedule {
    pub stages: Vec<ScheduleStage>,
    pub outputs: Vec<RegisterRef>,
    /// The number of registers: those of the interpreter, then those of results passed between
    /// stages.
    pub slots: usize,
    /// Which inputs and constants must be in memory element by element.
    pub materialized: Vec<bool>,
    /// The maximal number of elements of a tile.
    pub tile_elements: usize,
}

pub(crate) enum ScheduleStage {
    Loop(LoopStage),
    /// A step executed by its own kernel, with its index.
    Step(Instruction, usize),
}

pub(crate) struct LoopStage {
    pub code: Arc<FusedLoop>,
    pub reads: Vec<LoopRead>,
    pub writes: Vec<LoopWrite>,
}

pub(crate) struct LoopRead {
    pub from: RegisterRef,
    /// True if the operand is one element for the whole tile.
    pub is_broadcast: bool,
}

pub(crate) struct LoopWrite {
    pub to: RegisterRef,
    /// The output that the loop may write directly.
    pub direct: Option<usize>,
}

/// Which inputs are one element in every tile: scalars, or one element per row if tiles stay within
/// rows.
pub(crate) fn broadcast_inputs(
    space: &IterationSpace,
    inputs: usize,
    within_rows: bool,
) -> Vec<bool> {
    let within_rows = within_rows && space.row_len() >= MIN_ROW_TILE_ELEMENTS;
    let layouts = space.layouts[..inputs].iter();
    layouts.map(|layout| layout.is_scalar() || (within_rows && layout.row_stride() == 0)).collect()
}

impl TileSchedule {
    /// Compiles the loops of a program; `None` if no two steps share a loop.
    pub fn new(code: &Interpreter, compiler: &dyn Compiler, repeated: &[bool]) -> Option<Self> {
        let mut builder = ScheduleBuilder::new(code, repeated);
        for group in partition(&code.program, compiler) {
            match &group {
                StepGroup::Loop(steps) => builder.add_loop(compiler, steps),
                StepGroup::Single(at) => builder.add_step(*at),
            }
            builder.release_registers(group);
        }
        builder.build()
    }
}

/// A schedule under construction.
struct ScheduleBuilder<'a> {
    code: &'a Interpreter,
    program: &'a Program,
    repeated: &'a [bool],
    stages: Vec<ScheduleStage>,
    /// The slot of each register that has one.
    slots: Vec<Option<usize>>,
    slot_count: usize,
    /// Slots of registers that are not read again; reusing them keeps the tile in the L1 cache.
    free: Vec<usize>,
    /// The number of steps that still read each register; outputs count once more.
    reads_left: Vec<usize>,
}

impl<'a> ScheduleBuilder<'a> {
    fn new(code: &'a Interpreter, repeated: &'a [bool]) -> Self {
        let program = &code.program;
        let first = program.first_result();
        let slots = (0..program.len()).map(|at| (at < first).then_some(at)).collect();
        let mut reads_left = vec![0; program.len()];
        let args = program.steps.iter().flat_map(|step| &step.args);
        args.chain(&program.outputs).for_each(|reg| reads_left[usize::from(reg.0)] += 1);
        let (stages, free) = (Vec::new(), Vec::new());
        Self { code, program, repeated, stages, slots, slot_count: code.slots, free, reads_left }
    }

    /// Frees the slots of registers that no step after these reads.
    fn release_registers(&mut self, group: StepGroup) {
        let steps = match group {
            StepGroup::Loop(steps) => steps,
            StepGroup::Single(at) => vec![at],
        };
        let first = self.program.first_result();
        for arg in steps.iter().flat_map(|&at| &self.program.steps[at].args) {
            let at = usize::from(arg.0);
            self.reads_left[at] -= 1;
            if self.reads_left[at] == 0 && at >= first {
                self.free.extend(self.slots[at].take());
            }
        }
    }

    fn add_loop(&mut self, compiler: &dyn Compiler, steps: &[usize]) {
        let reads = external_reads(self.program, steps);
        let repeated: Vec<bool> = reads.iter().map(|&reg| self.is_repeated(reg)).collect();
        let code = compiler.compile(&extract_program(self.program, steps), &repeated);
        let Some(code) = code.filter(|code| code.min_elements() <= MAX_LOOP_BLOCK_ELEMENTS) else {
            return steps.iter().for_each(|&at| self.add_step(at));
        };
        let reads = reads.iter().zip(repeated);
        let reads =
            reads.map(|(&reg, is_broadcast)| LoopRead { from: self.source(reg), is_broadcast });
        let reads = reads.collect();
        let writes = external_writes(self.program, steps).into_iter();
        let writes = writes.map(|reg| LoopWrite {
            to: self.target(reg),
            direct: direct_output(self.program, steps, reg),
        });
        let writes = writes.collect();
        self.stages.push(ScheduleStage::Loop(LoopStage { code, reads, writes }));
    }

    fn add_step(&mut self, at: usize) {
        let instruction = &self.code.steps[at];
        let args = self.program.steps[at].args.iter().map(|&arg| self.source(arg)).collect();
        let slot = self.target(self.program.result(at)).slot;
        self.stages
            .push(ScheduleStage::Step(Instruction { args, slot, ..instruction.clone() }, at));
    }

    fn is_repeated(&self, reg: Reg) -> bool {
        let at = usize::from(reg.0);
        self.repeated.get(at).copied().unwrap_or(at < self.program.first_result())
    }

    fn source(&self, reg: Reg) -> RegisterRef {
        let slot = self.slots[usize::from(reg.0)].expect("computed before it is read");
        RegisterRef { slot, itemsize: self.program.dtype(reg).expect("checked").itemsize() }
    }

    fn target(&mut self, reg: Reg) -> RegisterRef {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slot_count += 1;
            self.slot_count - 1
        });
        self.slots[usize::from(reg.0)] = Some(slot);
        self.source(reg)
    }

    fn build(self) -> Option<TileSchedule> {
        if !self.stages.iter().any(|stage| matches!(stage, ScheduleStage::Loop(_))) {
            return None;
        }
        let tile_elements =
            if self.stages.len() == 1 { FUSED_TILE_ELEMENTS } else { TILE_ELEMENTS };
        let outputs: Vec<RegisterRef> =
            self.program.outputs.iter().map(|&reg| self.source(reg)).collect();
        let materialized = self.materialized(&outputs);
        Some(TileSchedule {
            outputs,
            materialized,
            tile_elements,
            slots: self.slot_count,
            stages: self.stages,
        })
    }

    fn materialized(&self, outputs: &[RegisterRef]) -> Vec<bool> {
        let mut materialized = vec![false; self.program.first_result()];
        let mut mark =
            |slot: usize| materialized.get_mut(slot).into_iter().for_each(|at| *at = true);
        outputs.iter().for_each(|source| mark(source.slot));
        for stage in &self.stages {
            match stage {
                ScheduleStage::Step(step, _) => step.args.iter().for_each(|arg| mark(arg.slot)),
                ScheduleStage::Loop(stage) => stage
                    .reads
                    .iter()
                    .filter(|read| !read.is_broadcast)
                    .for_each(|read| mark(read.from.slot)),
            }
        }
        materialized
    }
}
