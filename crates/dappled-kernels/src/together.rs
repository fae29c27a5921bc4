//! Rows of a program's values that are folded several at a time, by one compiled loop: accumulators
//! are read and written once for all of them, values are never stored, and memory is read in several
//! streams at once.

use std::sync::Arc;

use crate::fused::{Compiler, FusedLoop};
use crate::groups::{Group, groups, own_program, reads, writes};
use crate::{Fold, Op, Program, Reg, Step};

/// The most rows.
const ROWS: usize = 8;

/// The most rows of all inputs, with those that are the same for all rows: so many general registers
/// a loop has for them.
const STREAMS: usize = 11;

/// The most steps of all rows: a longer loop takes longer to compile than it saves.
const STEPS: usize = 64;

/// What such a loop depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub fold: Fold,
    /// Which inputs are one element in every row.
    pub repeated: Vec<bool>,
    /// Which are the same for all rows.
    pub steady: Vec<bool>,
}

/// A loop that folds so many rows.
pub(crate) struct Together {
    pub code: Arc<FusedLoop>,
    pub rows: usize,
    pub reads: Vec<Stream>,
    /// Which inputs are the same for all rows.
    pub steady: Vec<bool>,
}

/// Something that the loop reads.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    Accumulators,
    Input { input: usize, row: usize },
    Constant(usize),
}

impl Pattern {
    /// How many rows one loop can do, of so many steps each; None if it is not worth while.
    fn rows(&self, steps: usize) -> Option<usize> {
        let inputs = || self.steady.iter().zip(&self.repeated).filter(|(_, repeated)| !**repeated);
        let steady = inputs().filter(|(steady, _)| **steady).count();
        let changing = inputs().count() - steady;
        let most = STREAMS.saturating_sub(steady).checked_div(changing)?.min(ROWS);
        let most = most.min(STEPS / steps.max(1));
        (most >= 2).then(|| 1 << most.ilog2())
    }

    fn is_repeated(&self, stream: &Stream) -> bool {
        match stream {
            Stream::Accumulators => false,
            Stream::Input { input, .. } => self.repeated[*input],
            Stream::Constant(_) => true,
        }
    }
}

impl Together {
    /// None where not all of it can be one loop.
    pub fn new(program: &Program, compiler: &dyn Compiler, pattern: &Pattern) -> Option<Self> {
        let (op, rows) = (pattern.fold.op()?, pattern.rows(program.steps.len())?);
        let (folding, inputs) = unrolled(program, op, rows, &pattern.steady);
        let dtype = program.dtype(program.outputs[0])?;
        let all_can = || folding.steps.iter().all(|step| compiler.has(step.op, step.dtype));
        if program.outputs.len() != 1 || !compiler.has(op, dtype) || !all_can() {
            return None;
        }
        let [Group::Loop(steps)] = &groups(&folding, compiler)[..] else { return None };
        if writes(&folding, steps).len() != 1 {
            return None;
        }
        let stream = |reg: Reg| match usize::from(reg.0).checked_sub(inputs.len()) {
            None => inputs[usize::from(reg.0)],
            Some(constant) => Stream::Constant(constant),
        };
        let reads: Vec<Stream> = reads(&folding, steps).into_iter().map(stream).collect();
        let repeated: Vec<bool> = reads.iter().map(|read| pattern.is_repeated(read)).collect();
        let code = compiler.compile(&own_program(&folding, steps), &repeated)?;
        Some(Self { code, rows, reads, steady: pattern.steady.clone() })
    }
}

/// A program of accumulators and so many rows, in order: that the values of each are folded into
/// them. And what its inputs are.
fn unrolled(program: &Program, op: Op, rows: usize, steady: &[bool]) -> (Program, Vec<Stream>) {
    let output = program.outputs[0];
    let dtype = program.dtype(output).expect("checked");
    let (mut dtypes, mut streams) = (vec![dtype], vec![Stream::Accumulators]);
    let mut registers: Vec<Vec<Reg>> = vec![Vec::new(); rows];
    for row in 0..rows {
        for (input, &dtype) in program.inputs.iter().enumerate() {
            let known = registers[0].get(input).filter(|_| steady[input]).copied();
            registers[row].push(known.unwrap_or(Reg(dtypes.len() as u16)));
            if known.is_none() {
                dtypes.push(dtype);
                streams.push(Stream::Input { input, row });
            }
        }
    }
    let mut made = Program::new(dtypes, program.constants.clone());
    let mut accumulators = made.input(0);
    for mut registers in registers {
        registers.extend((0..program.constants.len()).map(|at| made.constant(at)));
        for step in &program.steps {
            let args = step.args.iter().map(|arg| registers[usize::from(arg.0)]).collect();
            let step = Step { args, ..*step };
            let is_same = |at: &usize| made.steps[*at] == step;
            // What is the same for all rows is computed once.
            let known = (0..made.steps.len()).find(is_same).map(|at| made.result(at));
            registers.push(known.unwrap_or_else(|| made.push(step.op, step.dtype, &step.args)));
        }
        accumulators = made.push(op, dtype, &[accumulators, registers[usize::from(output.0)]]);
    }
    made.outputs.push(accumulators);
    (made, streams)
}
