//! What can be wrong with a request to this crate.

use crate::{DType, Fold, Op};

/// A request that cannot be done as it stands. All are faults of the caller, not of the data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No native dtype has this name.
    #[error("no native dtype is called {0:?}")]
    UnknownDType(String),
    /// No variant has this name.
    #[error("no CPU variant is called {0:?}: there are 'plain', 'avx2' and 'avx512'")]
    UnknownVariant(String),
    /// There is no such loop.
    #[error("{op} has no loop for {dtype}")]
    NoLoop {
        /// The operation.
        op: Op,
        /// The dtype of the loop.
        dtype: DType,
    },
    /// There is no such fold.
    #[error("{fold} has no loop for {dtype}")]
    NoFold {
        /// The fold.
        fold: Fold,
        /// The dtype of the values.
        dtype: DType,
    },
    /// Nothing is to be folded, and there is nothing to start from.
    #[error("zero-size array to reduction operation {0} which has no identity")]
    NothingToFold(&'static str),
    /// An operation got too few or too many arguments.
    #[error("{op} takes {} arguments, got {found}", op.arity())]
    Arity {
        /// The operation.
        op: Op,
        /// How many it was given.
        found: usize,
    },
    /// A register is read before a step defines it.
    #[error("register %{0} is read before it is defined")]
    Undefined(u16),
    /// A register, an input or an output has another dtype than its place asks for.
    #[error("{place} is {found}, expected {expected}")]
    DTypeMismatch {
        /// Where: `argument 1 of step %4`.
        place: String,
        /// What it has to be.
        expected: DType,
        /// What it is.
        found: DType,
    },
    /// A program has no output, or more registers than can be numbered.
    #[error("a program has between 1 and 65,535 registers and at least one output")]
    ProgramSize,
    /// Another number of inputs or outputs than the program has.
    #[error("the program has {expected} {what}s, got {found}")]
    Count {
        /// `"input"` or `"output"`.
        what: &'static str,
        /// How many the program has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// An operand has another shape than the first output.
    #[error("an operand of shape {found:?} beside an output of shape {expected:?}")]
    Shape {
        /// The first output's.
        expected: Vec<usize>,
        /// The operand's.
        found: Vec<usize>,
    },
    /// A mask does not have one element for each value.
    #[error("a mask of {mask} elements for {values} values")]
    MaskLength {
        /// The mask's length.
        mask: usize,
        /// How many values there are.
        values: usize,
    },
    /// A view reaches outside its buffer.
    #[error("the view reaches bytes {start}..{stop} of a buffer of {len}")]
    OutOfBounds {
        /// The lowest byte it reaches.
        start: i128,
        /// One past the highest.
        stop: i128,
        /// The buffer's length.
        len: usize,
    },
    /// An output overlaps itself, another output, or an input that is not the same view.
    #[error("output {output} overlaps {with}")]
    Overlap {
        /// Which output.
        output: usize,
        /// `itself`, `output 1`, `input 0`.
        with: String,
    },
    /// Somebody else is writing to a buffer, or reading what is to be written.
    #[error("a buffer is in use by another thread")]
    Busy,
}
