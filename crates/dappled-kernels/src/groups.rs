//! A program's steps in groups: those that one loop can do together, and those that stay alone.

use crate::fused::Compiler;
use crate::{DType, Op, Program, Reg, Step};

/// Steps that are done together, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// In one loop.
    Loop(Vec<usize>),
    /// By its precompiled kernel.
    Alone(usize),
}

/// Each step once, after all that it reads, in as few groups as can be found from first to last.
pub(crate) fn groups(program: &Program, compiler: &dyn Compiler) -> Vec<Group> {
    let mut search = Search { program, compiler, done: vec![false; program.len()] };
    search.done[..program.first_result()].fill(true);
    let mut left: Vec<usize> = (0..program.steps.len()).collect();
    let mut groups = Vec::new();
    while !left.is_empty() {
        // Those alone first: what waits for them can then join the loop.
        for at in search.ready(&left, |step| !search.compiler.has(step.op, step.dtype)) {
            groups.push(Group::Alone(at));
        }
        search.finish(&mut left, &groups);
        let members = search.members(&left);
        match members.len() {
            0 => {}
            count if count >= compiler.least_steps() => groups.push(Group::Loop(members)),
            _ => groups.extend(members.into_iter().map(Group::Alone)),
        }
        search.finish(&mut left, &groups);
    }
    groups
}

struct Search<'a> {
    program: &'a Program,
    compiler: &'a dyn Compiler,
    /// Which registers are known.
    done: Vec<bool>,
}

impl Search<'_> {
    /// All steps of a kind that need nothing but what is done, or each other.
    fn ready(&self, left: &[usize], mut wanted: impl FnMut(&Step) -> bool) -> Vec<usize> {
        let mut done = self.done.clone();
        let mut found = Vec::new();
        for &at in left {
            let step = &self.program.steps[at];
            if step.args.iter().all(|arg| done[usize::from(arg.0)]) && wanted(step) {
                done[usize::from(self.program.result(at).0)] = true;
                found.push(at);
            }
        }
        found
    }

    /// The steps of the next loop: all elements of a loop but bools have one size.
    fn members(&self, left: &[usize]) -> Vec<usize> {
        let mut size = None;
        self.ready(left, |step| {
            let own = element_size(step);
            let fits = self.compiler.has(step.op, step.dtype)
                && (own.is_none() || size.is_none() || own == size);
            size = if fits { size.or(own) } else { size };
            fits
        })
    }

    fn finish(&mut self, left: &mut Vec<usize>, groups: &[Group]) {
        let is_new = |at: &usize| {
            groups.iter().any(|group| match group {
                Group::Loop(steps) => steps.contains(at),
                Group::Alone(step) => step == at,
            })
        };
        left.iter()
            .filter(|at| is_new(at))
            .for_each(|&at| self.done[usize::from(self.program.result(at).0)] = true);
        left.retain(|at| !is_new(at));
    }
}

/// The size of a step's elements; None if they are bools, which take any.
fn element_size(step: &Step) -> Option<usize> {
    match step.op {
        Op::Cast(to) if step.dtype == DType::Bool => Some(to.itemsize()),
        _ => Some(step.dtype.itemsize()),
    }
    .filter(|_| step.dtype != DType::Bool || matches!(step.op, Op::Cast(to) if to != DType::Bool))
}

/// What a group reads from outside, each once, in the order of first use.
pub(crate) fn reads(program: &Program, steps: &[usize]) -> Vec<Reg> {
    let mut reads: Vec<Reg> = Vec::new();
    for &arg in steps.iter().flat_map(|&at| &program.steps[at].args) {
        let inside = steps.iter().any(|&at| program.result(at) == arg);
        if !inside && !reads.contains(&arg) {
            reads.push(arg);
        }
    }
    reads
}

/// What somebody outside reads of a group's results; and what nobody reads at all, so that it is
/// computed all the same, and signals what it does.
pub(crate) fn writes(program: &Program, steps: &[usize]) -> Vec<Reg> {
    let is_read = |reg: Reg, at: &usize| program.steps[*at].args.contains(&reg);
    let is_written = |&reg: &Reg| {
        let inside = steps.iter().any(|at| is_read(reg, at));
        let outside = (0..program.steps.len()).any(|at| is_read(reg, &at) && !steps.contains(&at));
        program.outputs.contains(&reg) || outside || !inside
    };
    steps.iter().map(|&at| program.result(at)).filter(is_written).collect()
}

/// The output that a group's result is, if it is one output and nobody outside reads it.
pub(crate) fn direct_output(program: &Program, steps: &[usize], reg: Reg) -> Option<usize> {
    let others = (0..program.steps.len()).filter(|at| !steps.contains(at));
    let is_read = others.into_iter().any(|at| program.steps[at].args.contains(&reg));
    let mut outputs = program.outputs.iter().enumerate().filter(|&(_, &output)| output == reg);
    let first = outputs.next().map(|(at, _)| at);
    first.filter(|_| !is_read && outputs.next().is_none())
}

/// A group as a program of its own, without constants: it reads them as inputs.
pub(crate) fn own_program(program: &Program, steps: &[usize]) -> Program {
    let (reads, writes) = (reads(program, steps), writes(program, steps));
    let dtype = |&reg: &Reg| program.dtype(reg).expect("checked");
    let mut own = Program::new(reads.iter().map(dtype).collect(), Vec::new());
    let register = |own: &Program, reg: Reg| {
        let read = reads.iter().position(|&read| read == reg).map(|at| own.input(at));
        let made = steps.iter().position(|&at| program.result(at) == reg);
        read.or(made.map(|at| own.result(at))).expect("read or made")
    };
    for &at in steps {
        let step = &program.steps[at];
        let args: Vec<Reg> = step.args.iter().map(|&arg| register(&own, arg)).collect();
        own.push(step.op, step.dtype, &args);
    }
    own.outputs = writes.iter().map(|&reg| register(&own, reg)).collect();
    own
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::FusedLoop;

    /// One that can do all but exponentials.
    struct Most;

    impl Compiler for Most {
        fn has(&self, op: Op, _: DType) -> bool {
            op != Op::Exp
        }
        fn least_work(&self) -> usize {
            0
        }
        fn least_steps(&self) -> usize {
            2
        }
        fn compile(&self, _: &Program, _: &[bool]) -> Option<Arc<FusedLoop>> {
            None
        }
    }

    /// `exp(a + b) * (a - b)`, and whether it is more than b, which nobody asked for.
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
        let found = groups(&program, &Most);
        assert_eq!(found, [Group::Loop(vec![0, 1]), Group::Alone(2), Group::Loop(vec![3, 4])]);
        assert_eq!(writes(&program, &[0, 1]), [sum, difference]);
        assert_eq!(writes(&program, &[3, 4]), [product, Reg(6)]);
        let own = "\
%0 = input float64
%1 = input float64
%2 = input float64
%3 = multiply float64 %0 %1
%4 = less float64 %2 %3
output %3
output %4
";
        assert_eq!(own_program(&program, &[3, 4]).to_string(), own);
    }

    /// Elements of one size to a loop; bools fit anywhere.
    #[test]
    fn sizes_do_not_mix() {
        let (f, s) = (DType::Float64, DType::Float32);
        let mut program = Program::new(vec![f, s], vec![]);
        program.push(Op::Isnan, f, &[Reg(0)]);
        program.push(Op::Isnan, s, &[Reg(1)]);
        program.push(Op::Or, DType::Bool, &[Reg(2), Reg(3)]);
        program.push(Op::Select, f, &[Reg(4), Reg(0), Reg(0)]);
        program.outputs.push(Reg(5));
        let found = groups(&program, &Most);
        assert_eq!(found, [Group::Alone(0), Group::Loop(vec![1, 2]), Group::Alone(3)]);
    }
}
