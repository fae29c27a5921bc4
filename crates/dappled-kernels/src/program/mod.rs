//! A fused expression as a program over registers, in static single assignment form.
//!
//! ```text
//! %0 = input float64
//! %1 = constant float64 4.0
//! %2 = divide float64 %0 %1
//! output %2
//! ```
//!
//! `compose` joins two programs, `strength_reduction` replaces divisions, `reduce_op` lists the
//! reductions. Input: operations and dtypes. Output: a checked program that an `Interpreter` runs.

pub(crate) mod compose;
pub(crate) mod reduce_op;
pub(crate) mod strength_reduction;

use std::fmt;

use smallvec::SmallVec;

use crate::error::Error;
use crate::types::dtype::DType;
use crate::types::op::table::Op;
use crate::types::scalar::Scalar;

/// A register of a program: inputs come first, then constants, then the results of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u16);

/// One operation of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProgramStep {
    /// The operation.
    pub op: Op,
    /// The dtype of the loop: that of the arguments, except a select's condition.
    pub dtype: DType,
    /// The argument registers, all defined by earlier steps.
    pub args: SmallVec<[Reg; 3]>,
}

/// An element-wise expression with one or more results. [`Program::check`] states its invariants.
///
/// ```
/// use dappled_kernels::{DType, Op, Program, Scalar};
/// let mut program = Program::new(vec![DType::Float64], vec![Scalar::new(4.0)]);
/// let quarter = program.push(Op::Divide, DType::Float64, &[program.input(0), program.constant(0)]);
/// program.outputs.push(quarter);
/// program.check()?;
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// The dtypes of the inputs.
    pub inputs: Vec<DType>,
    /// The values of the constants.
    pub constants: Vec<Scalar>,
    /// The operations, in order.
    pub steps: Vec<ProgramStep>,
    /// The registers to store.
    pub outputs: Vec<Reg>,
}

impl Program {
    /// A program without steps.
    pub fn new(inputs: Vec<DType>, constants: Vec<Scalar>) -> Self {
        Self { inputs, constants, steps: Vec::new(), outputs: Vec::new() }
    }

    /// The register of the input at `position`.
    pub fn input(&self, position: usize) -> Reg {
        Reg(position as u16)
    }

    /// The register of the constant at `position`.
    pub fn constant(&self, position: usize) -> Reg {
        Reg((self.inputs.len() + position) as u16)
    }

    /// The register of a step's result.
    pub fn result(&self, step: usize) -> Reg {
        Reg((self.first_result() + step) as u16)
    }

    /// Appends a step, unchecked, and returns the register of its result.
    pub fn push(&mut self, op: Op, dtype: DType, args: &[Reg]) -> Reg {
        self.steps.push(ProgramStep { op, dtype, args: args.into() });
        self.result(self.steps.len() - 1)
    }

    /// The number of registers.
    pub fn len(&self) -> usize {
        self.first_result() + self.steps.len()
    }

    /// True if the program has no register.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The index of the first register that a step defines.
    pub(crate) fn first_result(&self) -> usize {
        self.inputs.len() + self.constants.len()
    }

    /// The dtype of a register; `None` if it does not exist.
    pub fn dtype(&self, reg: Reg) -> Option<DType> {
        let at = usize::from(reg.0);
        let constant = || self.constants.get(at - self.inputs.len()).map(Scalar::dtype);
        let result =
            || self.steps.get(at - self.first_result()).map(|step| step.op.result(step.dtype));
        match at {
            _ if at < self.inputs.len() => Some(self.inputs[at]),
            _ if at < self.first_result() => constant(),
            _ => result(),
        }
    }

    /// Checks the program.
    ///
    /// A program has between 1 and 65,535 registers and at least one output. Every step has a loop,
    /// the right number of arguments, and arguments that are defined earlier and have the dtype of
    /// the loop. Every output is defined.
    pub fn check(&self) -> Result<(), Error> {
        if self.outputs.is_empty() || self.is_empty() || self.len() > usize::from(u16::MAX) {
            return Err(Error::ProgramSize);
        }
        self.steps.iter().enumerate().try_for_each(|(at, step)| self.check_step(at, step))?;
        let undefined = self.outputs.iter().find(|reg| usize::from(reg.0) >= self.len());
        undefined.map_or(Ok(()), |reg| Err(Error::Undefined(reg.0)))
    }

    fn check_step(&self, at: usize, step: &ProgramStep) -> Result<(), Error> {
        let &ProgramStep { op, dtype, ref args } = step;
        if args.len() != op.arity() {
            return Err(Error::Arity { op, found: args.len() });
        }
        if !op.has_loop(dtype) {
            return Err(Error::NoLoop { op, dtype });
        }
        for (position, &arg) in args.iter().enumerate() {
            let found = self.dtype(arg).filter(|_| arg < self.result(at));
            let found = found.ok_or(Error::Undefined(arg.0))?;
            let expected = op.argument(dtype, position);
            if found != expected {
                let place = format!("argument {position} of step %{}", self.result(at).0);
                return Err(Error::DTypeMismatch { place, expected, found });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, dtype) in self.inputs.iter().enumerate() {
            writeln!(out, "%{} = input {dtype}", self.input(at).0)?;
        }
        for (at, value) in self.constants.iter().enumerate() {
            writeln!(out, "%{} = constant {value}", self.constant(at).0)?;
        }
        for (at, step) in self.steps.iter().enumerate() {
            writeln!(out, "%{} = {step}", self.result(at).0)?;
        }
        self.outputs.iter().try_for_each(|reg| writeln!(out, "output %{}", reg.0))
    }
}

/// Writes `less float64 %0 %1`, and for a cast `cast int8 %0 to float64`.
impl fmt::Display for ProgramStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.op, self.dtype)?;
        self.args.iter().try_for_each(|arg| write!(out, " %{}", arg.0))?;
        if let Op::Cast(to) = self.op { write!(out, " to {to}") } else { Ok(()) }
    }
}
