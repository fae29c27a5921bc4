//! Errors of invalid requests.

use crate::program::reduce_op::ReduceOp;
use crate::types::dtype::DType;
use crate::types::op::table::Op;

/// A request that is invalid as it stands.
///
/// Every variant is a fault of the caller, not of the data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No native dtype has this name.
    #[error("no native dtype is called {0:?}")]
    UnknownDType(String),
    /// No CPU variant has this name.
    #[error("no CPU variant is called {0:?}: there are 'plain', 'avx2' and 'avx512'")]
    UnknownVariant(String),
    /// The operation has no loop for the dtype.
    #[error("{op} has no loop for {dtype}")]
    NoLoop {
        /// The operation.
        op: Op,
        /// The dtype of the loop.
        dtype: DType,
    },
    /// The reduction has no loop for the dtype.
    #[error("{fold} has no loop for {dtype}")]
    NoReduceLoop {
        /// The reduction operation.
        fold: ReduceOp,
        /// The dtype of the values.
        dtype: DType,
    },
    /// An empty reduction has neither an identity nor an initial value.
    #[error("zero-size array to reduction operation {0} which has no identity")]
    EmptyReduction(&'static str),
    /// An operation has too few or too many arguments.
    #[error("{op} takes {} arguments, got {found}", op.arity())]
    Arity {
        /// The operation.
        op: Op,
        /// The number of arguments given.
        found: usize,
    },
    /// A register is read before a step defines it.
    #[error("register %{0} is read before it is defined")]
    Undefined(u16),
    /// A register, an input or an output has the wrong dtype.
    #[error("{place} is {found}, expected {expected}")]
    DTypeMismatch {
        /// The offending operand: `argument 1 of step %4`.
        place: String,
        /// The required dtype.
        expected: DType,
        /// The actual dtype.
        found: DType,
    },
    /// A program has no output, or more registers than `u16` can number.
    #[error("a program has between 1 and 65,535 registers and at least one output")]
    ProgramSize,
    /// The number of inputs or outputs differs from the program's.
    #[error("the program has {expected} {what}s, got {found}")]
    OperandCount {
        /// `"input"` or `"output"`.
        what: &'static str,
        /// The number the program has.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// An operand's shape differs from the shape of the first output.
    #[error("an operand has shape {found:?}, but the output has shape {expected:?}")]
    ShapeMismatch {
        /// The shape of the first output.
        expected: Vec<usize>,
        /// The shape of the operand.
        found: Vec<usize>,
    },
    /// A mask and the values it selects from have different lengths.
    #[error("the mask has {mask} elements, but there are {values} values")]
    MaskLength {
        /// The number of elements of the mask.
        mask: usize,
        /// The number of values.
        values: usize,
    },
    /// A view extends beyond its buffer.
    #[error("the view spans bytes {start}..{stop} of a buffer of {len} bytes")]
    OutOfBounds {
        /// The lowest byte of the view.
        start: i128,
        /// One past the highest byte of the view.
        stop: i128,
        /// The number of bytes of the buffer.
        len: usize,
    },
    /// An output overlaps itself, another output, or an input with a different view.
    #[error("output {output} overlaps {with}")]
    Overlap {
        /// The position of the output.
        output: usize,
        /// The overlapping operand: `itself`, `output 1`, `input 0`.
        with: String,
    },
    /// Another thread writes to a buffer, or reads a buffer that the request writes.
    #[error("a buffer is in use by another thread")]
    BufferBusy,
}
