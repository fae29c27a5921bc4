//! Errors of array operations, and of the stages that they pass through.

use std::sync::Arc;

use dappled_fabric::FabricError;
use dappled_kernels::{DType, Error as KernelError, Op};
use dappled_protocol::ProtocolError;
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
    /// The operation would change the shape of its output.
    #[error(
        "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
        format_shape(.output), format_shape(.broadcast)
    )]
    OutputShape {
        /// Shape of the output.
        output: Vec<usize>,
        /// Shape that the operands broadcast to.
        broadcast: Vec<usize>,
    },
    /// The values do not broadcast to the shape that the indices select.
    #[error(
        "shape mismatch: value array of shape {} could not be broadcast to indexing result of shape {}",
        format_shape(.from), format_shape(.to)
    )]
    ValueShape {
        /// Shape of the values.
        from: Vec<usize>,
        /// Shape of the selected elements.
        to: Vec<usize>,
    },
    /// The mask has another shape than the array.
    #[error(
        "boolean index did not match indexed array along axis {dimension}; size of axis is {length} \
         but size of corresponding boolean axis is {mask_length}"
    )]
    MaskShape {
        /// The axis.
        dimension: usize,
        /// Length of the array along it.
        length: usize,
        /// Length of the mask along it.
        mask_length: usize,
    },
    /// Values with more than one axis are assigned to the elements of a mask.
    #[error(
        "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has \
         {ndim} dimensions"
    )]
    MaskValueDimensions {
        /// Number of axes of the values.
        ndim: usize,
    },
    /// A mask selects another number of elements than there are values.
    #[error(
        "NumPy boolean array indexing assignment cannot assign {values} input values to the \
         {selected} output values where the mask is true"
    )]
    MaskValueCount {
        /// Number of values.
        values: usize,
        /// Number of selected elements.
        selected: usize,
    },
    /// An element was requested with too few or too many indices.
    #[error("an element of an array with {ndim} dimensions has {ndim} indices, got {given}")]
    IndexCount {
        /// Number of dimensions.
        ndim: usize,
        /// Number of indices given.
        given: usize,
    },
    /// The array does not have exactly one element.
    #[error("can only convert an array of size 1 to a Python scalar, got size {size}")]
    NotOneElement {
        /// Number of elements.
        size: usize,
    },
    /// There is no element of which the position could be found.
    #[error("attempt to get {0} of an empty sequence")]
    EmptySequence(&'static str),
    /// An assigned integer does not fit in the dtype of the array.
    #[error("{}", integer_out_of_bounds(*.number, *.dtype))]
    IntegerOutOfBounds {
        /// The integer.
        number: i128,
        /// The dtype of the target.
        dtype: DType,
    },
    /// A negative integer was counted.
    #[error("'list' argument must have no negative elements")]
    NegativeBin,
    /// The share of a quantile is not between 0 and 1.
    #[error("Quantiles must be in the range [0, 1]")]
    QuantileRange,
    /// A histogram of values that are not finite.
    #[error("autodetected range of [{low}, {high}] is not finite")]
    HistogramRange {
        /// The minimum.
        low: f64,
        /// The maximum.
        high: f64,
    },
    /// A histogram without bins.
    #[error("`bins` must be positive, when an integer")]
    NoBins,
    /// A convolution of arrays that are no rows, or of a row without elements.
    #[error("a convolution takes two rows, each with at least one element")]
    InvalidConvolution,
    /// The operation needs at least one dimension.
    #[error("zero-dimensional arrays cannot be {0}")]
    ZeroDimensional(&'static str),
    /// A concatenation of no arrays.
    #[error("need at least one array to concatenate")]
    NothingToConcatenate,
    /// Concatenated arrays differ in their number of dimensions.
    #[error(
        "all the input array dimensions must match exactly, but the array at index 0 has {} \
         dimension(s) and the array at index {position} has {} dimension(s)",
        .ndims[0], .ndims[1]
    )]
    ConcatenateDimensions {
        /// Position of the other array.
        position: usize,
        /// Number of dimensions of the first and of the other array.
        ndims: [usize; 2],
    },
    /// Concatenated arrays differ along another axis than the joined one.
    #[error(
        "all the input array dimensions except for the concatenation axis must match exactly, but \
         along dimension {dimension}, the array at index 0 has size {} and the array at index \
         {position} has size {}",
        .lengths[0], .lengths[1]
    )]
    ConcatenateShapes {
        /// The axis.
        dimension: usize,
        /// Position of the other array.
        position: usize,
        /// Lengths of the first and of the other array.
        lengths: [usize; 2],
    },
    /// The inner lengths of a matrix product differ.
    #[error(
        "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature \
         (n?,k),(k,m?)->(n?,m?) (size {rows} is different from {columns})"
    )]
    MatmulShapes {
        /// Number of rows of the right matrix.
        rows: usize,
        /// Number of columns of the left matrix.
        columns: usize,
    },
    /// An operand of a matrix product has no axes.
    #[error(
        "matmul: Input operand {operand} does not have enough dimensions (has 0, gufunc core with \
         signature (n?,k),(k,m?)->(n?,m?) requires 1)"
    )]
    MatmulDimensions {
        /// The position of the operand.
        operand: usize,
    },
    /// A matrix does not have the required values.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// A setting of the environment is invalid.
    #[error("{0}")]
    Setting(String),
    /// The specification of a distribution violates a rule of the protocol.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The planner does not support the distributions.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file does not have the expected format.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// Evaluation failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// An algorithm of linear algebra cannot continue. The texts are NumPy's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinalgError {
    /// The matrix is not square.
    #[error("Last 2 dimensions of the array must be square")]
    NotSquare,
    /// The array is no matrix.
    #[error("{ndim}-dimensional array given. Array must be two-dimensional")]
    NoMatrix {
        /// The number of dimensions.
        ndim: usize,
    },
    /// The right-hand sides are no matrix with the rows of the system.
    #[error("a matrix of order {order} needs right-hand sides of {order} rows, got shape {}", format_shape(.shape))]
    Sides {
        /// The order of the matrix.
        order: usize,
        /// The shape of the right-hand sides.
        shape: Vec<usize>,
    },
    /// A matrix has no inverse.
    #[error("Singular matrix")]
    Singular,
    /// A matrix has no Cholesky factorisation.
    #[error("Matrix is not positive definite")]
    NotPositiveDefinite,
    /// The singular value decomposition does not converge.
    #[error("SVD did not converge")]
    Svd,
    /// The singular value decomposition of a least-squares problem does not converge.
    #[error("SVD did not converge in Linear Least Squares")]
    LeastSquares,
}

/// A file operation failed on a rank.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{message}: {path:?} (rank {rank})")]
pub struct FileError {
    /// The system's error code, if it has one.
    pub code: Option<i32>,
    /// Description of the error.
    pub message: String,
    /// The file.
    pub path: String,
    /// The first rank on which it failed.
    pub rank: u64,
}

/// A file is not an `.npy` file, or has contents that the core cannot read.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{path:?} {reason}")]
pub struct NpyError {
    /// The file.
    pub path: String,
    /// The reason.
    pub reason: String,
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
    /// The shapes of the index arrays of a key do not broadcast.
    #[error(
        "shape mismatch: indexing arrays could not be broadcast together with shapes {}",
        format_shapes(.0)
    )]
    IndexBroadcast(Vec<Vec<usize>>),
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

/// NumPy's text for an integer that a dtype cannot hold.
fn integer_out_of_bounds(number: i128, dtype: DType) -> String {
    match i64::try_from(number) {
        Ok(_) => format!("Python integer {number} out of bounds for {dtype}"),
        Err(_) => "Python int too large to convert to C long".into(),
    }
}
