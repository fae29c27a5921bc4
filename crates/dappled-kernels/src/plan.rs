//! How a program is run where some of its steps have a loop together.

use std::sync::Arc;

use crate::execute::{Instruction, Interpreter, Source};
use crate::fused::{Compiler, FusedLoop};
use crate::groups::{Group, direct_output, groups, own_program, reads, writes};
use crate::space::Space;
use crate::tiles::{SHORT_ROW, TILE};
use crate::{Program, Reg};

/// Elements of a tile, at most, where one loop does all: nothing but inputs and outputs is in
/// memory, and a row that lies in one piece is best left so.
const LONG: usize = 4096;

/// The most elements that a loop may need.
pub(crate) const BLOCK: usize = 16;

/// What is done with a tile, in order.
pub(crate) struct Plan {
    pub stages: Vec<Stage>,
    pub outputs: Vec<Source>,
    /// Those of the interpreter, and behind them those of results that stages hand on.
    pub slots: usize,
    /// Which inputs and constants must lie in memory element by element.
    pub spread: Vec<bool>,
    /// Elements of a tile, at most.
    pub tile: usize,
}

pub(crate) enum Stage {
    Loop(LoopStage),
    /// A step by its own kernel, and its number.
    Step(Instruction, usize),
}

pub(crate) struct LoopStage {
    pub code: Arc<FusedLoop>,
    pub reads: Vec<Read>,
    pub writes: Vec<Write>,
}

pub(crate) struct Read {
    pub from: Source,
    /// One element for all.
    pub repeated: bool,
}

pub(crate) struct Write {
    pub to: Source,
    /// The output that it may be written to at once.
    pub direct: Option<usize>,
}

/// Which inputs are one element in every tile: in all of them, or in each row if tiles lie in rows.
pub(crate) fn repeated(space: &Space, inputs: usize, in_rows: bool) -> Vec<bool> {
    let in_rows = in_rows && space.row() >= SHORT_ROW;
    let tracks = space.tracks[..inputs].iter();
    tracks.map(|track| track.is_single() || (in_rows && track.row_stride() == 0)).collect()
}

impl Plan {
    /// None where no two steps have a loop together.
    pub fn new(code: &Interpreter, compiler: &dyn Compiler, repeated: &[bool]) -> Option<Self> {
        let mut draft = Draft::new(code, repeated);
        for group in groups(&code.program, compiler) {
            match &group {
                Group::Loop(steps) => draft.add_loop(compiler, steps),
                Group::Alone(at) => draft.add_step(*at),
            }
            draft.finish(group);
        }
        draft.finished()
    }
}

/// A plan under construction.
struct Draft<'a> {
    code: &'a Interpreter,
    program: &'a Program,
    repeated: &'a [bool],
    stages: Vec<Stage>,
    /// The slot of each register, where it has one.
    slots: Vec<Option<usize>>,
    count: usize,
    /// Slots whose registers are not read any more: what is in the first cache stays there.
    free: Vec<usize>,
    /// How many steps will read each register, outputs being read for ever.
    left: Vec<usize>,
}

impl<'a> Draft<'a> {
    fn new(code: &'a Interpreter, repeated: &'a [bool]) -> Self {
        let program = &code.program;
        let first = program.first_result();
        let slots = (0..program.len()).map(|at| (at < first).then_some(at)).collect();
        let mut left = vec![0; program.len()];
        let args = program.steps.iter().flat_map(|step| &step.args);
        args.chain(&program.outputs).for_each(|reg| left[usize::from(reg.0)] += 1);
        let (stages, free) = (Vec::new(), Vec::new());
        Self { code, program, repeated, stages, slots, count: code.slots, free, left }
    }

    /// Frees the slots that nobody reads after these steps.
    fn finish(&mut self, group: Group) {
        let steps = match group {
            Group::Loop(steps) => steps,
            Group::Alone(at) => vec![at],
        };
        let first = self.program.first_result();
        for arg in steps.iter().flat_map(|&at| &self.program.steps[at].args) {
            let at = usize::from(arg.0);
            self.left[at] -= 1;
            if self.left[at] == 0 && at >= first {
                self.free.extend(self.slots[at].take());
            }
        }
    }

    fn add_loop(&mut self, compiler: &dyn Compiler, steps: &[usize]) {
        let reads = reads(self.program, steps);
        let repeated: Vec<bool> = reads.iter().map(|&reg| self.is_repeated(reg)).collect();
        let code = compiler.compile(&own_program(self.program, steps), &repeated);
        let Some(code) = code.filter(|code| code.least() <= BLOCK) else {
            return steps.iter().for_each(|&at| self.add_step(at));
        };
        let reads = reads.iter().zip(repeated);
        let reads = reads.map(|(&reg, repeated)| Read { from: self.source(reg), repeated });
        let reads = reads.collect();
        let writes = writes(self.program, steps).into_iter();
        let writes = writes.map(|reg| Write {
            to: self.target(reg),
            direct: direct_output(self.program, steps, reg),
        });
        let writes = writes.collect();
        self.stages.push(Stage::Loop(LoopStage { code, reads, writes }));
    }

    fn add_step(&mut self, at: usize) {
        let known = &self.code.steps[at];
        let args = self.program.steps[at].args.iter().map(|&arg| self.source(arg)).collect();
        let slot = self.target(self.program.result(at)).slot;
        self.stages.push(Stage::Step(Instruction { args, slot, ..known.clone() }, at));
    }

    fn is_repeated(&self, reg: Reg) -> bool {
        let at = usize::from(reg.0);
        self.repeated.get(at).copied().unwrap_or(at < self.program.first_result())
    }

    fn source(&self, reg: Reg) -> Source {
        let slot = self.slots[usize::from(reg.0)].expect("made before it is read");
        Source { slot, itemsize: self.program.dtype(reg).expect("checked").itemsize() }
    }

    fn target(&mut self, reg: Reg) -> Source {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        self.slots[usize::from(reg.0)] = Some(slot);
        self.source(reg)
    }

    fn finished(self) -> Option<Plan> {
        if !self.stages.iter().any(|stage| matches!(stage, Stage::Loop(_))) {
            return None;
        }
        let tile = if self.stages.len() == 1 { LONG } else { TILE };
        let outputs: Vec<Source> =
            self.program.outputs.iter().map(|&reg| self.source(reg)).collect();
        let spread = self.spread(&outputs);
        Some(Plan { outputs, spread, tile, slots: self.count, stages: self.stages })
    }

    fn spread(&self, outputs: &[Source]) -> Vec<bool> {
        let mut spread = vec![false; self.program.first_result()];
        let mut mark = |slot: usize| spread.get_mut(slot).into_iter().for_each(|at| *at = true);
        outputs.iter().for_each(|source| mark(source.slot));
        for stage in &self.stages {
            match stage {
                Stage::Step(step, _) => step.args.iter().for_each(|arg| mark(arg.slot)),
                Stage::Loop(stage) => stage
                    .reads
                    .iter()
                    .filter(|read| !read.repeated)
                    .for_each(|read| mark(read.from.slot)),
            }
        }
        spread
    }
}
