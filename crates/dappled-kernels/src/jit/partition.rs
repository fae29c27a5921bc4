//! Partition of a program's steps into fused loops and single kernels.

use super::fused_loop::Compiler;
use crate::program::{Program, ProgramStep, Reg};
use crate::types::dtype::DType;
use crate::types::op::table::Op;

/// Steps that are executed together, by their indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StepGroup {
    /// Steps of one compiled loop.
    Loop(Vec<usize>),
    /// A step executed by its precompiled kernel.
    Single(usize),
}

/// Assigns each step to a group after all steps it reads from, greedily with few groups.
pub(crate) fn partition(program: &Program, compiler: &dyn Compiler) -> Vec<StepGroup> {
    let mut partitioner =
        Partitioner { program, compiler, is_computed: vec![false; program.len()] };
    partitioner.is_computed[..program.first_result()].fill(true);
    let mut pending: Vec<usize> = (0..program.steps.len()).collect();
    let mut groups = Vec::new();
    while !pending.is_empty() {
        // Single steps come first, so that the steps that read them can join the next loop.
        for at in partitioner
            .ready_steps(&pending, |step| !partitioner.compiler.supports(step.op, step.dtype))
        {
            groups.push(StepGroup::Single(at));
        }
        partitioner.finish(&mut pending, &groups);
        let members = partitioner.loop_steps(&pending);
        match members.len() {
            0 => {}
            count if count >= compiler.min_steps() => groups.push(StepGroup::Loop(members)),
            _ => groups.extend(members.into_iter().map(StepGroup::Single)),
        }
        partitioner.finish(&mut pending, &groups);
    }
    groups
}

struct Partitioner<'a> {
    program: &'a Program,
    compiler: &'a dyn Compiler,
    /// Which registers are computed.
    is_computed: Vec<bool>,
}

impl Partitioner<'_> {
    /// All accepted steps whose arguments are computed, or computed by other accepted steps.
    fn ready_steps(
        &self,
        pending: &[usize],
        mut accepts: impl FnMut(&ProgramStep) -> bool,
    ) -> Vec<usize> {
        let mut done = self.is_computed.clone();
        let mut ready = Vec::new();
        for &at in pending {
            let step = &self.program.steps[at];
            if step.args.iter().all(|arg| done[usize::from(arg.0)]) && accepts(step) {
                done[usize::from(self.program.result(at).0)] = true;
                ready.push(at);
            }
        }
        ready
    }

    /// The steps of the next loop: all elements but bools have one size.
    fn loop_steps(&self, pending: &[usize]) -> Vec<usize> {
        let mut size = None;
        self.ready_steps(pending, |step| {
            let item = element_size(step);
            let fits = self.compiler.supports(step.op, step.dtype)
                && (item.is_none() || size.is_none() || item == size);
            size = if fits { size.or(item) } else { size };
            fits
        })
    }

    fn finish(&mut self, pending: &mut Vec<usize>, groups: &[StepGroup]) {
        let is_new = |at: &usize| {
            groups.iter().any(|group| match group {
                StepGroup::Loop(steps) => steps.contains(at),
                StepGroup::Single(step) => step == at,
            })
        };
        pending
            .iter()
            .filter(|at| is_new(at))
            .for_each(|&at| self.is_computed[usize::from(self.program.result(at).0)] = true);
        pending.retain(|at| !is_new(at));
    }
}

/// The element size of a step; `None` for bools, which fit any loop.
fn element_size(step: &ProgramStep) -> Option<usize> {
    match step.op {
        Op::Cast(to) if step.dtype == DType::Bool => Some(to.itemsize()),
        _ => Some(step.dtype.itemsize()),
    }
    .filter(|_| step.dtype != DType::Bool || matches!(step.op, Op::Cast(to) if to != DType::Bool))
}

/// The registers a group reads from outside, each once, in the order of first use.
pub(crate) fn external_reads(program: &Program, steps: &[usize]) -> Vec<Reg> {
    let mut reads: Vec<Reg> = Vec::new();
    for &arg in steps.iter().flat_map(|&at| &program.steps[at].args) {
        let inside = steps.iter().any(|&at| program.result(at) == arg);
        if !inside && !reads.contains(&arg) {
            reads.push(arg);
        }
    }
    reads
}

/// The results of a group that are read outside, or not at all.
///
/// Results that nothing reads are computed too, since their flags count.
pub(crate) fn external_writes(program: &Program, steps: &[usize]) -> Vec<Reg> {
    let is_read = |reg: Reg, at: &usize| program.steps[*at].args.contains(&reg);
    let is_written = |&reg: &Reg| {
        let inside = steps.iter().any(|at| is_read(reg, at));
        let outside = (0..program.steps.len()).any(|at| is_read(reg, &at) && !steps.contains(&at));
        program.outputs.contains(&reg) || outside || !inside
    };
    steps.iter().map(|&at| program.result(at)).filter(is_written).collect()
}

/// The output that a group's result is, if it is exactly one output and no other step reads it.
pub(crate) fn direct_output(program: &Program, steps: &[usize], reg: Reg) -> Option<usize> {
    let others = (0..program.steps.len()).filter(|at| !steps.contains(at));
    let is_read = others.into_iter().any(|at| program.steps[at].args.contains(&reg));
    let mut outputs = program.outputs.iter().enumerate().filter(|&(_, &output)| output == reg);
    let first = outputs.next().map(|(at, _)| at);
    first.filter(|_| !is_read && outputs.next().is_none())
}

/// The steps of a group as a program of its own, with constants as inputs.
pub(crate) fn extract_program(program: &Program, steps: &[usize]) -> Program {
    let (reads, writes) = (external_reads(program, steps), external_writes(program, steps));
    let dtype = |&reg: &Reg| program.dtype(reg).expect("checked");
    let mut extracted = Program::new(reads.iter().map(dtype).collect(), Vec::new());
    let register = |extracted: &Program, reg: Reg| {
        let read = reads.iter().position(|&read| read == reg).map(|at| extracted.input(at));
        let result = steps.iter().position(|&at| program.result(at) == reg);
        read.or(result.map(|at| extracted.result(at))).expect("read or computed by the group")
    };
    for &at in steps {
        let step = &program.steps[at];
        let args: Vec<Reg> = step.args.iter().map(|&arg| register(&extracted, arg)).collect();
        extracted.push(step.op, step.dtype, &args);
    }
    extracted.outputs = writes.iter().map(|&reg| register(&extracted, reg)).collect();
    extracted
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::jit::fused_loop::FusedLoop;

    /// A compiler of everything but exponentials.
    struct AllButExp;

    impl Compiler for AllButExp {
        fn supports(&self, op: Op, _: DType) -> bool {
            op != Op::Exp
        }
        fn min_work(&self) -> usize {
            0
        }
        fn min_steps(&self) -> usize {
            2
        }
        fn compile(&self, _: &Program, _: &[bool]) -> Option<Arc<FusedLoop>> {
            None
        }
    }

    /// `exp(a + b) * (a - b)`, and an unused comparison with `b`.
    #[test]
    fn a_kernel_between_two_loops() {
        let f = DType::Float64;
        let mut program = Program::new(vec![f, f], vec![]);
        let sum = program.push(Op::Add, f, &[Reg(0), Reg(1)]);
        let difference = program.push(Op::Subtract, f, &[Reg(0), Reg(1)]);
        let power = program.push(Op::Exp, f, &[sum]);
        let product = program.push(Op::Multiply, f, &[power, difference]);
        program.push(Op::Less, f, &[Reg(1), product]);
        program.outputs.push(product);
        let groups = partition(&program, &AllButExp);
        assert_eq!(
            groups,
            [StepGroup::Loop(vec![0, 1]), StepGroup::Single(2), StepGroup::Loop(vec![3, 4])]
        );
        assert_eq!(external_writes(&program, &[0, 1]), [sum, difference]);
        assert_eq!(external_writes(&program, &[3, 4]), [product, Reg(6)]);
        let expected = "\
%0 = input float64
%1 = input float64
%2 = input float64
%3 = multiply float64 %0 %1
%4 = less float64 %2 %3
output %3
output %4
";
        assert_eq!(extract_program(&program, &[3, 4]).to_string(), expected);
    }

    /// The elements of a loop have one size; bools fit anywhere.
    #[test]
    fn sizes_do_not_mix() {
        let (f, s) = (DType::Float64, DType::Float32);
        let mut program = Program::new(vec![f, s], vec![]);
        program.push(Op::Isnan, f, &[Reg(0)]);
        program.push(Op::Isnan, s, &[Reg(1)]);
        program.push(Op::Or, DType::Bool, &[Reg(2), Reg(3)]);
        program.push(Op::Select, f, &[Reg(4), Reg(0), Reg(0)]);
        program.outputs.push(Reg(5));
        let groups = partition(&program, &AllButExp);
        assert_eq!(
            groups,
            [StepGroup::Single(0), StepGroup::Loop(vec![1, 2]), StepGroup::Single(3)]
        );
    }
}
