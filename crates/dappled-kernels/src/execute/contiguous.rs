//! Runs a compiled loop, or one operation, over contiguous operands with minimal overhead.
//!
//! Binding operands and starting a [`Machine`](super::machine::Machine) takes about a microsecond,
//! which small arrays would notice.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dappled_base::memory;
use smallvec::SmallVec;

use super::{Instruction, Interpreter};
use crate::config::{CHUNK_GRAIN_ELEMENTS, MAX_SINGLE_OP_ELEMENTS};
use crate::error::Error;
use crate::iter::bound_operands::BufferView;
use crate::jit::schedule::{LoopStage, ScheduleStage, TileSchedule};
use crate::loops::fp::status;
use crate::threads::parallel_map::parallel_map;
use crate::types::fp_flags::{FpFlags, StepFlags};

impl Interpreter {
    /// Runs the compiled loop of the program over contiguous operands in distinct memory.
    ///
    /// Returns false if the program has no such loop yet, or if the loop raised a floating-point
    /// flag, because its flags do not tell which step raised them: [`Engine::run`](super::Engine)
    /// must follow. All operands have the same number of elements and are aligned to their
    /// itemsize.
    pub fn run_compiled(&self, inputs: &[&[u8]], out: &mut [u8]) -> Result<bool, Error> {
        let len = self.element_count(inputs, out)?;
        if len < CHUNK_GRAIN_ELEMENTS {
            return Ok(false);
        }
        let schedule = self.contiguous_schedule(len);
        let stage = schedule.as_deref().and_then(single_loop);
        Ok(stage.is_some_and(|stage| self.run_contiguous_loop(stage, inputs, out, len)))
    }

    /// Runs a program of a single operation on contiguous operands in distinct buffers; `None` for
    /// any other.
    pub(crate) fn run_single_op(
        &self,
        inputs: &[BufferView<'_>],
        outputs: &[BufferView<'_>],
    ) -> Result<Option<StepFlags>, Error> {
        let ([step], [output]) = (&self.steps[..], outputs) else { return Ok(None) };
        let dtype = self.program.dtype(self.program.outputs[0]);
        let matches = |operand: &BufferView<'_>, dtype| {
            operand.view().shape == output.view().shape && operand.is_contiguous_of(dtype)
        };
        let is_disjoint = |input: &BufferView<'_>| !input.buffer().is_same(output.buffer());
        let mut typed_inputs = inputs.iter().zip(&self.program.inputs);
        let fits = inputs.len() == self.program.inputs.len()
            && self.outputs.len() == 1
            && self.program.constants.is_empty()
            && step.direct.is_some()
            && (1..=MAX_SINGLE_OP_ELEMENTS).contains(&output.len())
            && dtype.is_some_and(|dtype| matches(output, dtype))
            && typed_inputs.all(|(input, &dtype)| is_disjoint(input) && matches(input, dtype));
        if !fits {
            return Ok(None);
        }
        let claims = inputs.iter().map(|input| input.buffer().read());
        let claims = claims.collect::<Result<SmallVec<[_; 4]>, _>>()?;
        let elements = claims.iter().zip(inputs).map(|(claim, input)| &claim[input.bytes()]);
        let elements: SmallVec<[&[u8]; 4]> = elements.collect();
        let mut out = output.buffer().write()?;
        let flags = self.run_step_parallel(step, &elements, &mut out[output.bytes()], output.len());
        let mut raised = StepFlags::default();
        raised.add(0, flags);
        Ok(Some(raised))
    }

    /// The common number of elements of all operands.
    fn element_count(&self, inputs: &[&[u8]], out: &[u8]) -> Result<usize, Error> {
        let expected = self.program.inputs.len();
        if inputs.len() != expected {
            return Err(Error::OperandCount { what: "input", expected, found: inputs.len() });
        }
        if self.outputs.len() != 1 {
            return Err(Error::OperandCount {
                what: "output",
                expected: self.outputs.len(),
                found: 1,
            });
        }
        let len = out.len() / self.outputs[0].itemsize;
        let sizes = self.program.inputs.iter().map(|dtype| dtype.itemsize());
        for (input, size) in inputs.iter().zip(sizes) {
            if input.len() != len * size {
                let (expected, found) = (vec![len], vec![input.len() / size]);
                return Err(Error::ShapeMismatch { expected, found });
            }
        }
        Ok(len)
    }

    /// The schedule for contiguous operands, cached once the program is worth compiling.
    fn contiguous_schedule(&self, len: usize) -> Option<Arc<TileSchedule>> {
        if let Some(cached) = self.contiguous_schedule.get() {
            return cached.clone();
        }
        let schedule = self.schedule(len, || vec![false; self.program.inputs.len()]);
        if schedule.is_some() || self.is_worth_compiling() {
            let _ = self.contiguous_schedule.set(schedule.clone());
        }
        schedule
    }

    fn is_worth_compiling(&self) -> bool {
        let least = self.compiler.as_deref().map_or(0, |compiler| compiler.min_work());
        self.work.load(Ordering::Relaxed) >= least
    }

    /// Runs a fused loop, in parallel if workers are awake. Returns true if no flag was raised.
    fn run_contiguous_loop(
        &self,
        stage: &LoopStage,
        inputs: &[&[u8]],
        out: &mut [u8],
        len: usize,
    ) -> bool {
        let count = self.chunks_for(len).min(rayon::current_num_threads());
        let size = self.outputs[0].itemsize;
        let part = len.div_ceil(count).next_multiple_of(CHUNK_GRAIN_ELEMENTS);
        // The last chunk would be shorter than the loop's minimum.
        if count == 1 || (!len.is_multiple_of(part) && len % part < CHUNK_GRAIN_ELEMENTS) {
            return self.run_loop_chunk(stage, inputs, out, 0);
        }
        let parts = memory::collect((0..len).step_by(part).zip(out.chunks_mut(part * size)));
        let run = |(start, out): (usize, &mut [u8])| self.run_loop_chunk(stage, inputs, out, start);
        parallel_map(parts, run).into_iter().all(|is_quiet| is_quiet)
    }

    fn run_loop_chunk(
        &self,
        stage: &LoopStage,
        inputs: &[&[u8]],
        out: &mut [u8],
        start: usize,
    ) -> bool {
        let len = out.len() / self.outputs[0].itemsize;
        let mut operands: SmallVec<[*mut u8; 16]> = SmallVec::new();
        operands.extend(stage.reads.iter().map(|read| match inputs.get(read.from.slot) {
            Some(input) => {
                input[start * read.from.itemsize..][..len * read.from.itemsize].as_ptr().cast_mut()
            }
            None => {
                let constant = read.from.slot - inputs.len();
                self.program.constants[constant].bytes().as_ptr().cast_mut()
            }
        }));
        operands.push(out.as_mut_ptr());
        status::clear();
        // SAFETY: every input and the output have at least the loop's minimum of elements; the
        // output is borrowed exclusively, so it shares no byte with the inputs; constants are
        // broadcast.
        unsafe { stage.code.call(&operands, len) };
        !status::is_raised()
    }

    /// Runs one operation, in parallel if workers are awake or the work is large.
    fn run_step_parallel(
        &self,
        step: &Instruction,
        inputs: &[&[u8]],
        out: &mut [u8],
        len: usize,
    ) -> FpFlags {
        let count = self.chunks_for(len).min(rayon::current_num_threads());
        if count == 1 {
            return run_step_chunk(step, inputs, out, 0);
        }
        let part = len.div_ceil(count).next_multiple_of(CHUNK_GRAIN_ELEMENTS);
        let chunks = out.chunks_mut(part * step.itemsize);
        let parts = memory::collect((0..len).step_by(part).zip(chunks));
        let run = |(start, out): (usize, &mut [u8])| run_step_chunk(step, inputs, out, start);
        parallel_map(parts, run).into_iter().fold(FpFlags::NONE, |all, flags| all | flags)
    }
}

/// Runs one operation over the elements of `out`, which begin at index `start` of the inputs.
fn run_step_chunk(step: &Instruction, inputs: &[&[u8]], out: &mut [u8], start: usize) -> FpFlags {
    let len = out.len() / step.itemsize;
    let mut args: [&[u8]; 3] = [&[]; 3];
    for (arg, source) in args.iter_mut().zip(&step.args) {
        *arg = &inputs[source.slot][start * source.itemsize..][..len * source.itemsize];
    }
    let [a, b, c] = args;
    if !step.cpu_flags.is_empty() {
        status::clear();
    }
    // SAFETY: `kernel` returns only loops that this CPU can run.
    let flags = unsafe { (step.kernel)(a, b, c, out) };
    if step.cpu_flags.is_empty() { flags } else { flags | status::take() & step.cpu_flags }
}

/// The loop of the schedule, if it alone computes the output from inputs and constants.
fn single_loop(schedule: &TileSchedule) -> Option<&LoopStage> {
    match &schedule.stages[..] {
        [ScheduleStage::Loop(stage)] => {
            let is_all = stage.writes.len() == 1 && stage.writes[0].direct.is_some();
            (is_all && stage.code.min_elements() <= CHUNK_GRAIN_ELEMENTS).then_some(stage)
        }
        _ => None,
    }
}
