//! One program behind another, as one.

use crate::{Program, Reg, Step};

impl Program {
    /// This program, and behind it another one that reads the first output in place of some of its
    /// inputs. Both first outputs are stored; the inputs that are left come behind those of this one.
    ///
    /// ```
    /// use dappled_kernels::{DType, Op, Program};
    /// let of = |op, count| {
    ///     let mut program = Program::new(vec![DType::Float64; count], vec![]);
    ///     let inputs: Vec<_> = (0..count).map(|at| program.input(at)).collect();
    ///     let made = program.push(op, DType::Float64, &inputs);
    ///     program.outputs.push(made);
    ///     program
    /// };
    /// // u = -a, then u - b
    /// let both = of(Op::Negative, 1).followed_by(&of(Op::Subtract, 2), |at| at == 0);
    /// let text = "\
    /// %0 = input float64
    /// %1 = input float64
    /// %2 = negative float64 %0
    /// %3 = subtract float64 %2 %1
    /// output %2
    /// output %3
    /// ";
    /// assert_eq!(both.to_string(), text);
    /// ```
    pub fn followed_by(&self, next: &Program, is_ours: impl Fn(usize) -> bool) -> Program {
        let theirs = (0..next.inputs.len()).filter(|&at| !is_ours(at)).map(|at| next.inputs[at]);
        let inputs = self.inputs.iter().copied().chain(theirs).collect();
        let constants = self.constants.iter().chain(&next.constants).copied().collect();
        let mut both = Program::new(inputs, constants);
        let mut own = Moved { inputs: 0, constants: 0, results: 0, regs: Vec::new() };
        own.move_all(self, &both, |_| None);
        let first = own.reg(self.outputs[0]);
        let (inputs, constants) = (self.inputs.len(), self.constants.len());
        let mut others = Moved { inputs, constants, results: self.steps.len(), regs: Vec::new() };
        others.move_all(next, &both, |at| is_ours(at).then_some(first));
        both.steps.extend(self.steps.iter().map(|step| own.step(step)));
        both.steps.extend(next.steps.iter().map(|step| others.step(step)));
        both.outputs.extend([first, others.reg(next.outputs[0])]);
        both
    }
}

/// Where the registers of a program are in another one: its inputs, constants and results behind so
/// many others.
struct Moved {
    inputs: usize,
    constants: usize,
    results: usize,
    regs: Vec<Reg>,
}

impl Moved {
    /// All registers; `elsewhere` says which inputs are other registers already.
    fn move_all(
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

    fn reg(&self, reg: Reg) -> Reg {
        self.regs[usize::from(reg.0)]
    }

    fn step(&self, step: &Step) -> Step {
        Step { args: step.args.iter().map(|&arg| self.reg(arg)).collect(), ..step.clone() }
    }
}
