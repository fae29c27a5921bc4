//! Chain program: a fixed-capacity expression program, the cache key of fused chains.
//!
//! It is `Copy` and cheap to hash.

use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use dappled_kernels::{DType, Interpreter, Op, Program, Reg, Scalar};
use smallvec::SmallVec;

use crate::config::{MAX_CHAIN_CONSTANTS, MAX_CHAIN_INPUTS, MAX_CHAIN_STEPS};
use crate::session::caches::Cache;
use crate::session::layer_state::{LayerSlot, LayerState};

/// Interpreters of operation chains on small arrays.
#[derive(Default)]
pub(crate) struct ChainCache(pub Cache<ChainProgram, Arc<Interpreter>>);

impl LayerState for ChainCache {
    const SLOT: LayerSlot = LayerSlot::Eager;
}

/// Dtypes of the inputs, constants, and steps in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ChainProgram {
    pub inputs: FixedVec<DType, MAX_CHAIN_INPUTS>,
    constants: FixedVec<Scalar, MAX_CHAIN_CONSTANTS>,
    pub steps: FixedVec<ChainStep, MAX_CHAIN_STEPS>,
}

/// An operation in a loop of this dtype, and its one or two arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChainStep {
    pub op: Op,
    pub dtype: DType,
    pub args: [ChainValue; 2],
}

/// Hashes all fields but the operation as one word: every evaluation of a chain hashes its steps.
impl Hash for ChainStep {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.op.hash(state);
        let [first, second] = self.args.map(|value| u64::from(value.0));
        state.write_u64(first << 16 | second << 8 | u64::from(self.dtype as u8));
    }
}

/// A vector with a fixed capacity.
#[derive(Clone, Copy)]
pub(crate) struct FixedVec<T, const N: usize> {
    len: u8,
    items: [T; N],
}

impl<T: Copy, const N: usize> FixedVec<T, N> {
    /// Creates an empty vector; `filler` initialises unused elements.
    fn new(filler: T) -> Self {
        Self { len: 0, items: [filler; N] }
    }

    pub fn push(&mut self, item: T) {
        self.items[usize::from(self.len)] = item;
        self.len += 1;
    }
}

impl<T, const N: usize> Deref for FixedVec<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items[..usize::from(self.len)]
    }
}

impl<T: PartialEq, const N: usize> PartialEq for FixedVec<T, N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq, const N: usize> Eq for FixedVec<T, N> {}

impl<T: Hash, const N: usize> Hash for FixedVec<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.len);
        self.iter().for_each(|item| item.hash(state));
    }
}

/// A value of a program: an input, a constant or the result of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChainValue(u8);

/// Code of the first constant; the codes below are inputs.
const FIRST_CONSTANT: u8 = 64;
/// Code of the result of the first step.
const FIRST_STEP: u8 = 128;

impl ChainValue {
    /// The second argument of a unary operation.
    pub const NONE: Self = Self(u8::MAX);

    pub fn input(at: usize) -> Self {
        Self(at as u8)
    }

    fn register(self, program: &Program) -> Option<Reg> {
        match self {
            Self::NONE => None,
            Self(at @ FIRST_STEP..) => Some(program.result((at - FIRST_STEP).into())),
            Self(at @ FIRST_CONSTANT..) => Some(program.constant((at - FIRST_CONSTANT).into())),
            Self(at) => Some(program.input(at.into())),
        }
    }
}

impl ChainProgram {
    /// Creates an empty program.
    pub fn new() -> Self {
        let step = ChainStep { op: Op::Positive, dtype: DType::Bool, args: [ChainValue::NONE; 2] };
        let (inputs, constants) = (FixedVec::new(DType::Bool), FixedVec::new(Scalar::new(0u8)));
        Self { inputs, constants, steps: FixedVec::new(step) }
    }

    /// Numbers of inputs, constants and steps.
    pub fn counts(&self) -> [usize; 3] {
        [self.inputs.len(), self.constants.len(), self.steps.len()]
    }

    /// The result of the last step.
    pub fn last_result(&self) -> ChainValue {
        ChainValue(FIRST_STEP + self.steps.len - 1)
    }

    /// The dtype of the result.
    pub fn dtype(&self) -> DType {
        let step = &self.steps[self.steps.len() - 1];
        step.op.result(step.dtype)
    }

    pub fn constant(&mut self, value: Scalar) -> ChainValue {
        self.constants.push(value);
        ChainValue(FIRST_CONSTANT + self.constants.len - 1)
    }

    /// Appends the constants and steps of a program, whose inputs are `inputs`.
    pub fn append(&mut self, other: &ChainProgram, inputs: &[ChainValue]) {
        let (constants, steps) = (self.constants.len, self.steps.len);
        let moved = |value: ChainValue| match value {
            ChainValue::NONE => value,
            ChainValue(at @ FIRST_STEP..) => ChainValue(at + steps),
            ChainValue(at @ FIRST_CONSTANT..) => ChainValue(at + constants),
            ChainValue(at) => inputs[usize::from(at)],
        };
        other.constants.iter().for_each(|&value| self.constants.push(value));
        for step in other.steps.iter() {
            self.steps.push(ChainStep { args: step.args.map(moved), ..*step });
        }
    }

    pub fn program(&self) -> Program {
        let mut program = Program::new(self.inputs.to_vec(), self.constants.to_vec());
        for step in self.steps.iter() {
            let args = step.args.iter().filter_map(|value| value.register(&program));
            let args: SmallVec<[Reg; 2]> = args.collect();
            program.push(step.op, step.dtype, &args);
        }
        program.outputs.push(program.result(self.steps.len() - 1));
        program
    }
}
