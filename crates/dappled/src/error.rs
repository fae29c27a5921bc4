//! The error of array operations.

use std::sync::Arc;

use dappled_fabric::FabricError;
use dappled_kernels::{DType, Error as KernelError, Op};

use crate::plan::PlanError;
use crate::run::RunError;
use crate::view::{ViewError, format_shape};

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
