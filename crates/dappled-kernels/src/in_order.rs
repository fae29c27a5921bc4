//! A program whose operands lie one element after the other: the commonest case of small arrays, with the
//! fewest steps before its loop begins.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dappled_base::memory;
use smallvec::SmallVec;

use crate::bind::Operand;
use crate::execute::{Instruction, Interpreter, Source};
use crate::kernels::status;
use crate::plan::{LoopStage, Plan, Stage};
use crate::share::share;
use crate::slot::{self, Slot};
use crate::{Error, Flags, Raised};

/// Elements up to which one operation goes over all of a part at once; with more, asking for what comes next
/// is worth its cost.
const SOME: usize = 1 << 18;

/// A part's length is a multiple of this: whole cache lines, and no fewer than a loop needs.
const GRAIN: usize = 64;

impl Interpreter {
    /// Computes the only output from inputs of as many elements, all of them aligned to their itemsize,
    /// and says what NumPy would warn of.
    pub fn run_in_order(&self, inputs: &[&[u8]], out: &mut [u8]) -> Result<Raised, Error> {
        let len = self.length_of(inputs, out)?;
        let plan = self.plan_in_order(len);
        let quiet = match plan.as_deref().and_then(only_loop) {
            Some(stage) if len >= GRAIN => self.run_loop(stage, inputs, out, len),
            _ => false,
        };
        // A loop is opaque: what has raised a flag in it is found operation by operation.
        Ok(if quiet { Raised::default() } else { self.run_each(inputs, out, len) })
    }

    /// The same for operands, if it is one operation and they all lie so, in memory apart; None of others.
    /// An operation alone takes little longer than finding out where its tiles lie.
    pub(crate) fn run_one(
        &self,
        inputs: &[Operand<'_>],
        outputs: &[Operand<'_>],
    ) -> Result<Option<Raised>, Error> {
        let ([_], [output]) = (&self.steps[..], outputs) else { return Ok(None) };
        let dtype = self.program.dtype(self.program.outputs[0]);
        let lies = |operand: &Operand<'_>, dtype| {
            operand.view().shape == output.view().shape && operand.is_in_order(dtype)
        };
        let apart = |input: &Operand<'_>| !input.buffer().is_same(output.buffer());
        let mut known = inputs.iter().zip(&self.program.inputs);
        let fits = inputs.len() == self.program.inputs.len()
            && self.outputs.len() == 1
            && (1..=SOME).contains(&output.len())
            && dtype.is_some_and(|dtype| lies(output, dtype))
            && known.all(|(input, &dtype)| apart(input) && lies(input, dtype));
        if !fits {
            return Ok(None);
        }
        let claims = inputs.iter().map(|input| input.buffer().read());
        let claims = claims.collect::<Result<SmallVec<[_; 4]>, _>>()?;
        let elements = claims.iter().zip(inputs).map(|(claim, input)| &claim[input.bytes()]);
        let elements: SmallVec<[&[u8]; 4]> = elements.collect();
        let mut out = output.buffer().write()?;
        Ok(Some(self.run_each_in_parts(&elements, &mut out[output.bytes()], output.len())))
    }

    /// How many elements all operands have.
    fn length_of(&self, inputs: &[&[u8]], out: &[u8]) -> Result<usize, Error> {
        let expected = self.program.inputs.len();
        if inputs.len() != expected {
            return Err(Error::Count { what: "input", expected, found: inputs.len() });
        }
        if self.outputs.len() != 1 {
            return Err(Error::Count { what: "output", expected: self.outputs.len(), found: 1 });
        }
        let len = out.len() / self.outputs[0].itemsize;
        let sizes = self.program.inputs.iter().map(|dtype| dtype.itemsize());
        for (input, size) in inputs.iter().zip(sizes) {
            if input.len() != len * size {
                let (expected, found) = (vec![len], vec![input.len() / size]);
                return Err(Error::Shape { expected, found });
            }
        }
        Ok(len)
    }

    /// What is known of it when it has been run often enough to be worth a loop.
    fn plan_in_order(&self, len: usize) -> Option<Arc<Plan>> {
        if let Some(known) = self.in_order.get() {
            return known.clone();
        }
        let plan = self.plan(len, || vec![false; self.program.inputs.len()]);
        if plan.is_some() || self.is_worth_compiling() {
            let _ = self.in_order.set(plan.clone());
        }
        plan
    }

    fn is_worth_compiling(&self) -> bool {
        let least = self.compiler.as_deref().map_or(0, |compiler| compiler.least_work());
        self.work.load(Ordering::Relaxed) >= least
    }

    /// Runs a loop, in parts where threads are awake; says whether nothing was raised.
    fn run_loop(&self, stage: &LoopStage, inputs: &[&[u8]], out: &mut [u8], len: usize) -> bool {
        let count = self.parts_of(len).min(rayon::current_num_threads());
        let size = self.outputs[0].itemsize;
        let part = len.div_ceil(count).next_multiple_of(GRAIN);
        // What is left over would be too short for a loop of its own.
        if count == 1 || (!len.is_multiple_of(part) && len % part < GRAIN) {
            return self.run_part(stage, inputs, out, 0);
        }
        let parts = memory::collected((0..len).step_by(part).zip(out.chunks_mut(part * size)));
        let run = |(start, out): (usize, &mut [u8])| self.run_part(stage, inputs, out, start);
        share(parts, run).into_iter().all(|quiet| quiet)
    }

    fn run_part(&self, stage: &LoopStage, inputs: &[&[u8]], out: &mut [u8], start: usize) -> bool {
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
        // SAFETY: at least as many elements as a loop needs, in each input and in the output, which is
        // borrowed alone, and shares no byte with what is borrowed to be read; constants are repeated.
        unsafe { stage.code.call(&operands, len) };
        !status::is_raised()
    }

    /// One operation at a time, in parts where threads are awake, or there is much to do.
    fn run_each_in_parts(&self, inputs: &[&[u8]], out: &mut [u8], len: usize) -> Raised {
        let count = self.parts_of(len).min(rayon::current_num_threads());
        if count == 1 {
            return self.run_each(inputs, out, len);
        }
        let (size, part) = (self.outputs[0].itemsize, len.div_ceil(count).next_multiple_of(GRAIN));
        let parts = memory::collected((0..len).step_by(part).zip(out.chunks_mut(part * size)));
        let run = |(start, out): (usize, &mut [u8])| {
            let len = out.len() / size;
            self.run_each(&self.part_of(inputs, start, len), out, len)
        };
        share(parts, run).into_iter().fold(Raised::default(), Raised::join)
    }

    /// Some elements of each input.
    fn part_of<'a>(
        &self,
        inputs: &[&'a [u8]],
        start: usize,
        len: usize,
    ) -> SmallVec<[&'a [u8]; 8]> {
        let items = self.program.inputs.iter().map(|dtype| dtype.itemsize());
        let parts = inputs.iter().zip(items);
        parts.map(|(input, item)| &input[start * item..(start + len) * item]).collect()
    }

    /// One operation at a time, over as many elements as stay in the first cache.
    fn run_each(&self, inputs: &[&[u8]], out: &mut [u8], len: usize) -> Raised {
        let mut each = Each { slots: slot::take(self.slots), filled: 0, raised: Raised::default() };
        // An operation alone, with no number that has to be repeated, leaves nothing for the next one.
        let alone = self.steps.len() == 1 && self.program.constants.is_empty();
        let (most, size) = (if alone { len } else { self.most() }, self.outputs[0].itemsize);
        for (start, out) in (0..len).step_by(most).zip(out.chunks_mut(most * size)) {
            let len = out.len() / size;
            self.run_tile(&mut each, &self.part_of(inputs, start, len), out, len);
        }
        let Each { slots, raised, .. } = each;
        slot::give_back(slots);
        raised
    }

    fn run_tile(&self, each: &mut Each, inputs: &[&[u8]], out: &mut [u8], len: usize) {
        if each.filled < len {
            each.filled = len;
            for (at, constant) in self.program.constants.iter().enumerate() {
                let bytes = len * constant.dtype().itemsize();
                constant.fill(each.slots[inputs.len() + at].bytes_mut(bytes));
            }
        }
        let mut stored = false;
        for (at, step) in self.steps.iter().enumerate() {
            let direct = step.direct.is_some();
            stored |= direct;
            each.step(step, at, inputs, direct.then_some(&mut *out), len);
        }
        if !stored {
            out.copy_from_slice(each.source(self.outputs[0], inputs, len));
        }
    }
}

/// The registers of a run of one operation after the other.
struct Each {
    slots: Vec<Slot>,
    /// How many elements of the constants' registers are filled.
    filled: usize,
    raised: Raised,
}

impl Each {
    fn step(
        &mut self,
        step: &Instruction,
        at: usize,
        inputs: &[&[u8]],
        target: Option<&mut [u8]>,
        len: usize,
    ) {
        let mut own = std::mem::take(&mut self.slots[step.slot]);
        let out = target.unwrap_or_else(|| own.bytes_mut(len * step.itemsize));
        let mut args: [&[u8]; 3] = [&[]; 3];
        for (arg, &source) in args.iter_mut().zip(&step.args) {
            *arg = self.source(source, inputs, len);
        }
        let [a, b, c] = args;
        if !step.hardware.is_empty() {
            status::clear();
        }
        // SAFETY: `kernel` returns only what this CPU can run.
        let flags = unsafe { (step.kernel)(a, b, c, out) };
        let raised = if step.hardware.is_empty() { Flags::NONE } else { status::take() };
        self.slots[step.slot] = own;
        self.raised.add(at, flags | raised & step.hardware);
    }

    fn source<'a>(&'a self, source: Source, inputs: &[&'a [u8]], len: usize) -> &'a [u8] {
        match inputs.get(source.slot) {
            Some(input) => input,
            None => self.slots[source.slot].bytes(len * source.itemsize),
        }
    }
}

/// The loop that makes the output of nothing but inputs and constants, if one does it all.
fn only_loop(plan: &Plan) -> Option<&LoopStage> {
    match &plan.stages[..] {
        [Stage::Loop(stage)] => {
            let is_all = stage.writes.len() == 1 && stage.writes[0].direct.is_some();
            (is_all && stage.code.least() <= GRAIN).then_some(stage)
        }
        _ => None,
    }
}
