//! What is done, whatever it is done to: a program in a form that is soon put together, copied and compared.

use std::hash::{Hash, Hasher};
use std::ops::Deref;

use dappled_kernels::{DType, Op, Program, Reg, Scalar};
use smallvec::SmallVec;

/// So many inputs, constants and steps are put together.
pub(super) const MOST: [usize; 3] = [6, 4, 12];

/// The dtypes of what is read, numbers, and the steps in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Recipe {
    pub inputs: List<DType, { MOST[0] }>,
    constants: List<Scalar, { MOST[1] }>,
    pub steps: List<Step, { MOST[2] }>,
}

/// An operation in a loop of this dtype, and where its one or two arguments are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub op: Op,
    pub dtype: DType,
    pub args: [Place; 2],
}

/// All but the operation in one word: every expression is looked up by the hash of its steps.
impl Hash for Step {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.op.hash(state);
        let [first, second] = self.args.map(|place| u64::from(place.0));
        state.write_u64(first << 16 | second << 8 | u64::from(self.dtype as u8));
    }
}

/// A few of a kind, with room for no more than so many.
#[derive(Clone, Copy)]
pub(super) struct List<T, const N: usize> {
    len: u8,
    items: [T; N],
}

impl<T: Copy, const N: usize> List<T, N> {
    /// None yet; `filler` is what is where there is none.
    fn new(filler: T) -> Self {
        Self { len: 0, items: [filler; N] }
    }

    pub fn push(&mut self, item: T) {
        self.items[usize::from(self.len)] = item;
        self.len += 1;
    }
}

impl<T, const N: usize> Deref for List<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.len)]
    }
}

impl<T: PartialEq, const N: usize> PartialEq for List<T, N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq, const N: usize> Eq for List<T, N> {}

impl<T: Hash, const N: usize> Hash for List<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.len);
        self.iter().for_each(|item| item.hash(state));
    }
}

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u8);

/// From these numbers on a place is a constant's, and a step's.
const CONSTANTS: u8 = 64;
const STEPS: u8 = 128;

impl Place {
    /// Of an argument that an operation does not have.
    pub const NOWHERE: Self = Self(u8::MAX);

    pub fn input(at: usize) -> Self {
        Self(at as u8)
    }

    fn register(self, program: &Program) -> Option<Reg> {
        match self {
            Self::NOWHERE => None,
            Self(at @ STEPS..) => Some(program.result((at - STEPS).into())),
            Self(at @ CONSTANTS..) => Some(program.constant((at - CONSTANTS).into())),
            Self(at) => Some(program.input(at.into())),
        }
    }
}

impl Recipe {
    /// Of nothing, so far.
    pub fn new() -> Self {
        let step = Step { op: Op::Positive, dtype: DType::Bool, args: [Place::NOWHERE; 2] };
        let (inputs, constants) = (List::new(DType::Bool), List::new(Scalar::new(0u8)));
        Self { inputs, constants, steps: List::new(step) }
    }

    /// Inputs, constants and steps.
    pub fn counts(&self) -> [usize; 3] {
        [self.inputs.len(), self.constants.len(), self.steps.len()]
    }

    /// The result of the last step.
    pub fn last(&self) -> Place {
        Place(STEPS + self.steps.len - 1)
    }

    /// Its dtype.
    pub fn dtype(&self) -> DType {
        let step = &self.steps[self.steps.len() - 1];
        step.op.result(step.dtype)
    }

    pub fn constant(&mut self, value: Scalar) -> Place {
        self.constants.push(value);
        Place(CONSTANTS + self.constants.len - 1)
    }

    /// Adds the constants and steps of another, whose inputs are these.
    pub fn take(&mut self, other: &Recipe, inputs: &[Place]) {
        let (constants, steps) = (self.constants.len, self.steps.len);
        let moved = |place: Place| match place {
            Place::NOWHERE => place,
            Place(at @ STEPS..) => Place(at + steps),
            Place(at @ CONSTANTS..) => Place(at + constants),
            Place(at) => inputs[usize::from(at)],
        };
        other.constants.iter().for_each(|&value| self.constants.push(value));
        for step in other.steps.iter() {
            self.steps.push(Step { args: step.args.map(moved), ..*step });
        }
    }

    pub fn program(&self) -> Program {
        let mut program = Program::new(self.inputs.to_vec(), self.constants.to_vec());
        for step in self.steps.iter() {
            let args = step.args.iter().filter_map(|place| place.register(&program));
            let args: SmallVec<[Reg; 2]> = args.collect();
            program.push(step.op, step.dtype, &args);
        }
        program.outputs.push(program.result(self.steps.len() - 1));
        program
    }
}
