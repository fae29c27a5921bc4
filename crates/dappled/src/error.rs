//! Errors of array operations, and of the stages that they pass through.

use std::sync::Arc;

use dappled_fabric::FabricError;
use dappled_kernels::{DType, Error as KernelError, Op};
use dappled_protocol::exchange::ExchangeError;
use dappled_protocol::slice::KeyError;

/// The result of an array operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reason why an array operation failed.
///
/// All errors but [`Error::Run`] are raised when the operation is requested, and leave every array
/// unchanged.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An index, axis or shape is invalid for the array.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The assigned value does not broadcast to the shape of the target.
    #[error("could not broadcast input array from shape {} into shape {}", format_shape(.from), format_shape(.to))]
    AssignmentShape {
        /// Shape of the value.
        from: Vec<usize>,
        /// Shape of the target.
        to: Vec<usize>,
    },
    /// The function has no loop for the dtype.
    #[error("ufunc '{op}' not supported for the input types: {dtype}")]
    NoLoop {
        /// The operation.
        op: Op,
        /// The dtype that the arguments were promoted to.
        dtype: DType,
    },
    /// A write to a distributed array through a view that has no axis mapping. (A bug of Dappled:
    /// such writes are redistributed before they reach the plan.)
    #[error("cannot write to a distributed array through a view that does not follow its axes")]
    UnmappedTarget,
    /// A collective operation inside `dappled.local()`.
    #[error("{0} is collective and cannot run inside dappled.local()")]
    InsideLocal(String),
    /// A collective operation in a process that was forked from a rank.
    #[error(
        "{0} is collective and cannot run in a process that was forked from a rank: use distributed \
         arrays in the parent process only"
    )]
    Forked(String),
    /// A collective operation in a thread other than the one that communicates.
    #[error(
        "{operation} communicates with other ranks, which only thread {first:?} may do: it was the first to \
         use a distributed array. This is thread {thread:?}, which may read `a.local` and \
         replicated arrays. Gather in {first:?} before, with `a.numpy()`, and use the result here"
    )]
    WrongThread {
        /// The operation.
        operation: String,
        /// Name of the thread that requested it.
        thread: Arc<str>,
        /// Name of the thread that may communicate.
        first: Arc<str>,
    },
    /// A partial view has no local piece and no distribution.
    #[error(
        "this array of shape {} is a view of another array, of shape {}: a view has no local piece and no \
         distribution of its own. A copy has: `a.copy()`",
        format_shape(.shape), format_shape(.base)
    )]
    ViewHasNoPiece {
        /// Shape of the view.
        shape: Vec<usize>,
        /// Shape of the base array.
        base: Vec<usize>,
    },
    /// The distribution does not match the shape of the array or the number of ranks.
    #[error(
        "a distribution of shape {:?} over {} processes, for an array of shape {:?} over {}",
        .found.0, .found.1, .expected.0, .expected.1
    )]
    Distribution {
        /// Shape and number of processes of the distribution.
        found: (Vec<u64>, u64),
        /// Shape of the array and number of ranks.
        expected: (Vec<u64>, u64),
    },
    /// The planner does not support the distributions.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Evaluation failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<KernelError> for Error {
    fn from(error: KernelError) -> Self {
        Error::Run(error.into())
    }
}

impl From<FabricError> for Error {
    fn from(error: FabricError) -> Self {
        Error::Run(error.into())
    }
}

/// Error of an operation on views. The texts are NumPy's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// The key is invalid for the shape.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The axis is out of bounds.
    #[error("axis {axis} is out of bounds for array of dimension {ndim}")]
    Axis {
        /// The axis.
        axis: i64,
        /// The number of dimensions.
        ndim: usize,
    },
    /// The permutation has the wrong length.
    #[error("axes don't match array")]
    Axes,
    /// The permutation contains an axis twice.
    #[error("repeated axis in transpose")]
    RepeatedAxis,
    /// The shape has another number of elements.
    #[error("cannot reshape array of size {size} into shape {}", format_requested_shape(.shape))]
    Size {
        /// The number of elements.
        size: usize,
        /// The requested shape.
        shape: Vec<i64>,
    },
    /// More than one length is -1.
    #[error("can only specify one unknown dimension")]
    Unknown,
    /// The shapes do not broadcast.
    #[error("operands could not be broadcast together with shapes {}", format_shapes(.0))]
    Broadcast(Vec<Vec<usize>>),
}

/// Formats a shape as NumPy does in these messages: `(2,3)`.
pub fn format_shape<T: ToString>(shape: &[T]) -> String {
    let lengths: Vec<String> = shape.iter().map(T::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    format!("({}{comma})", lengths.join(","))
}

/// Formats a requested shape as NumPy does: leading unknown lengths are omitted.
fn format_requested_shape(shape: &[i64]) -> String {
    let first = shape.iter().position(|&length| length >= 0).unwrap_or(shape.len());
    let length = |&length: &i64| match length {
        0.. => length.to_string(),
        _ => "newaxis".to_string(),
    };
    let lengths: Vec<String> = shape[first..].iter().map(length).collect();
    let comma = if shape.len() == 1 && first == 0 { "," } else { "" };
    format!("({}{comma})", lengths.join(","))
}

fn format_shapes(shapes: &[Vec<usize>]) -> String {
    shapes.iter().map(|shape| format!("{} ", format_shape(shape))).collect()
}

/// The reasons why an assignment has no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// An operand whose shape differs from the target's.
    #[error("operand {operand} has shape {shape:?}, but the target has shape {target:?}")]
    Shape {
        /// The index of the operand.
        operand: usize,
        /// Its shape.
        shape: Vec<u64>,
        /// The shape of the target.
        target: Vec<u64>,
    },
    /// A distribution that cannot be exchanged.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
}

/// The reasons why a plan could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The communication failed.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// A kernel rejected its operands: the plan does not belong to the program.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}
