//! Reduction of several rows at a time by one compiled loop.
//!
//! Accumulators are read and written once for all rows, values are never stored, and memory is read
//! in several streams at once.

use std::sync::Arc;

use super::fused_loop::{Compiler, FusedLoop};
use super::partition::{StepGroup, external_reads, external_writes, extract_program, partition};
use crate::config::{MAX_LOOP_ROWS, MAX_LOOP_STREAMS, MAX_UNROLLED_STEPS};
use crate::program::reduce_op::ReduceOp;
use crate::program::{Program, ProgramStep, Reg};
use crate::types::op::table::Op;

/// The properties of operands that a multi-row loop is compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MultiRowPattern {
    pub fold: ReduceOp,
    /// Which inputs are one element in every row.
    pub repeated: Vec<bool>,
    /// Which inputs are the same for all rows.
    pub invariant: Vec<bool>,
}

/// A compiled loop that reduces `rows` rows into accumulators.
pub(crate) struct MultiRowLoop {
    pub code: Arc<FusedLoop>,
    pub rows: usize,
    pub reads: Vec<LoopInput>,
    /// Which inputs are the same for all rows.
    pub invariant: Vec<bool>,
}

/// An operand that the loop reads.
#[derive(Clone, Copy)]
pub(crate) enum LoopInput {
    Accumulators,
    Input { input: usize, row: usize },
    Constant(usize),
}

impl MultiRowPattern {
    /// The number of rows one loop can process, with `steps` steps each; `None` if fewer than two.
    fn row_count(&self, steps: usize) -> Option<usize> {
        let inputs =
            || self.invariant.iter().zip(&self.repeated).filter(|(_, repeated)| !**repeated);
        let invariant = inputs().filter(|(invariant, _)| **invariant).count();
        let changing = inputs().count() - invariant;
        let most =
            MAX_LOOP_STREAMS.saturating_sub(invariant).checked_div(changing)?.min(MAX_LOOP_ROWS);
        let most = most.min(MAX_UNROLLED_STEPS / steps.max(1));
        (most >= 2).then(|| 1 << most.ilog2())
    }

    fn is_repeated(&self, stream: &LoopInput) -> bool {
        match stream {
            LoopInput::Accumulators => false,
            LoopInput::Input { input, .. } => self.repeated[*input],
            LoopInput::Constant(_) => true,
        }
    }
}

impl MultiRowLoop {
    /// Compiles the loop; `None` if not all of it fits in one loop.
    pub fn new(
        program: &Program,
        compiler: &dyn Compiler,
        pattern: &MultiRowPattern,
    ) -> Option<Self> {
        let (op, rows) = (pattern.fold.op()?, pattern.row_count(program.steps.len())?);
        let (unrolled, inputs) = unroll(program, op, rows, &pattern.invariant);
        let dtype = program.dtype(program.outputs[0])?;
        let all_can = || unrolled.steps.iter().all(|step| compiler.supports(step.op, step.dtype));
        if program.outputs.len() != 1 || !compiler.supports(op, dtype) || !all_can() {
            return None;
        }
        let [StepGroup::Loop(steps)] = &partition(&unrolled, compiler)[..] else { return None };
        if external_writes(&unrolled, steps).len() != 1 {
            return None;
        }
        let stream = |reg: Reg| match usize::from(reg.0).checked_sub(inputs.len()) {
            None => inputs[usize::from(reg.0)],
            Some(constant) => LoopInput::Constant(constant),
        };
        let reads: Vec<LoopInput> =
            external_reads(&unrolled, steps).into_iter().map(stream).collect();
        let repeated: Vec<bool> = reads.iter().map(|read| pattern.is_repeated(read)).collect();
        let code = compiler.compile(&extract_program(&unrolled, steps), &repeated)?;
        Some(Self { code, rows, reads, invariant: pattern.invariant.clone() })
    }
}

/// Unrolls a program over `rows` rows whose values are reduced into accumulators, in order.
///
/// Returns the unrolled program and the meaning of its inputs.
fn unroll(program: &Program, op: Op, rows: usize, invariant: &[bool]) -> (Program, Vec<LoopInput>) {
    let output = program.outputs[0];
    let dtype = program.dtype(output).expect("checked");
    let (mut dtypes, mut streams) = (vec![dtype], vec![LoopInput::Accumulators]);
    let mut registers: Vec<Vec<Reg>> = vec![Vec::new(); rows];
    for row in 0..rows {
        for (input, &dtype) in program.inputs.iter().enumerate() {
            let existing = registers[0].get(input).filter(|_| invariant[input]).copied();
            registers[row].push(existing.unwrap_or(Reg(dtypes.len() as u16)));
            if existing.is_none() {
                dtypes.push(dtype);
                streams.push(LoopInput::Input { input, row });
            }
        }
    }
    let mut unrolled = Program::new(dtypes, program.constants.clone());
    let mut accumulators = unrolled.input(0);
    for mut registers in registers {
        registers.extend((0..program.constants.len()).map(|at| unrolled.constant(at)));
        for step in &program.steps {
            let args = step.args.iter().map(|arg| registers[usize::from(arg.0)]).collect();
            let step = ProgramStep { args, ..*step };
            let is_same = |at: &usize| unrolled.steps[*at] == step;
            // Steps that are the same for all rows are computed once.
            let existing = (0..unrolled.steps.len()).find(is_same).map(|at| unrolled.result(at));
            registers
                .push(existing.unwrap_or_else(|| unrolled.push(step.op, step.dtype, &step.args)));
        }
        accumulators = unrolled.push(op, dtype, &[accumulators, registers[usize::from(output.0)]]);
    }
    unrolled.outputs.push(accumulators);
    (unrolled, streams)
}
