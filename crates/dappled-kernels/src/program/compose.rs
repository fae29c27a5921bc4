//! Composition of two programs into one.

use super::{Program, ProgramStep, Reg};

impl Program {
    /// Composes this program with one that reads its first output.
    ///
    /// `next` reads the output in place of the inputs whose position satisfies `reads_first`. The
    /// composition stores the first output of both. The remaining inputs of `next` come after those
    /// of this program.
    ///
    /// ```
    /// use dappled_kernels::{DType, Op, Program};
    /// let single_op = |op, arity| {
    ///     let mut program = Program::new(vec![DType::Float64; arity], vec![]);
    ///     let inputs: Vec<_> = (0..arity).map(|position| program.input(position)).collect();
    ///     let result = program.push(op, DType::Float64, &inputs);
    ///     program.outputs.push(result);
    ///     program
    /// };
    /// // u = -a, then u - b
    /// let (negative, subtract) = (single_op(Op::Negative, 1), single_op(Op::Subtract, 2));
    /// let composed = negative.compose(&subtract, |position| position == 0);
    /// let text = "\
    /// %0 = input float64
    /// %1 = input float64
    /// %2 = negative float64 %0
    /// %3 = subtract float64 %2 %1
    /// output %2
    /// output %3
    /// ";
    /// assert_eq!(composed.to_string(), text);
    /// ```
    pub fn compose(&self, next: &Program, reads_first: impl Fn(usize) -> bool) -> Program {
        let other_inputs =
            (0..next.inputs.len()).filter(|&at| !reads_first(at)).map(|at| next.inputs[at]);
        let inputs = self.inputs.iter().copied().chain(other_inputs).collect();
        let constants = self.constants.iter().chain(&next.constants).copied().collect();
        let mut composed = Program::new(inputs, constants);
        let mut first_map = RegisterMap { inputs: 0, constants: 0, results: 0, regs: Vec::new() };
        first_map.map_program(self, &composed, |_| None);
        let first = first_map.register(self.outputs[0]);
        let (inputs, constants) = (self.inputs.len(), self.constants.len());
        let mut next_map =
            RegisterMap { inputs, constants, results: self.steps.len(), regs: Vec::new() };
        next_map.map_program(next, &composed, |at| reads_first(at).then_some(first));
        composed.steps.extend(self.steps.iter().map(|step| first_map.step(step)));
        composed.steps.extend(next.steps.iter().map(|step| next_map.step(step)));
        composed.outputs.extend([first, next_map.register(next.outputs[0])]);
        composed
    }
}

/// The registers of a program inside the composition: its inputs, constants and results, each after
/// those of the other program.
struct RegisterMap {
    inputs: usize,
    constants: usize,
    results: usize,
    regs: Vec<Reg>,
}

impl RegisterMap {
    /// Maps all registers; `elsewhere` returns the register of an input that the other program
    /// computes.
    fn map_program(
        &mut self,
        program: &Program,
        to: &Program,
        elsewhere: impl Fn(usize) -> Option<Reg>,
    ) {
        for at in 0..program.inputs.len() {
            let reg = elsewhere(at).unwrap_or_else(|| {
                self.inputs += 1;
                to.input(self.inputs - 1)
            });
            self.regs.push(reg);
        }
        let constants = (0..program.constants.len()).map(|at| to.constant(self.constants + at));
        self.regs.extend(constants);
        self.regs.extend((0..program.steps.len()).map(|at| to.result(self.results + at)));
    }

    fn register(&self, reg: Reg) -> Reg {
        self.regs[usize::from(reg.0)]
    }

    fn step(&self, step: &ProgramStep) -> ProgramStep {
        ProgramStep {
            args: step.args.iter().map(|&arg| self.register(arg)).collect(),
            ..step.clone()
        }
    }
}
