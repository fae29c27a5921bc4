//! What was asked: nodes whose shape, dtype and errors are known, and whose values are not yet.
//!
//! *Values are lazy, everything else is eager.* An operation makes a node. When values are needed,
//! a node and all that is still pending below it become one fused program ([`fuse`]), which is
//! planned and run. A write runs at once, into memory of its own, and makes the next *version* of
//! the array's box: whoever was asked before still reads the version that was current then, and
//! nothing is copied for it.
//!
//! *In:* operations on [`Array`]s. *Out:* a program, its operands and a target, for `plan` and `run`.

mod array;
mod evaluate;
mod fuse;
mod memory;
mod node;
mod session;

pub use array::{Array, With};
pub use session::Session;

use dappled_kernels::{DType, Op};
use dappled_protocol::slice::KeyError;

use crate::plan::PlanError;
use crate::run::RunError;

/// Why an operation can't be done. All but [`GraphError::Run`] are known when it is asked for, and
/// leave every array as it was.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// Shapes that do not fit. (Broadcasting is to come; a scalar fits everything.)
    #[error("operands could not be broadcast together with shapes {0:?} {1:?}")]
    Shapes(Vec<u64>, Vec<u64>),
    /// A function that has no loop for this dtype.
    #[error("ufunc '{op}' not supported for the input types: {dtype}")]
    NoLoop {
        /// The operation.
        op: Op,
        /// The dtype its arguments were promoted to.
        dtype: DType,
    },
    /// An assignment that would lose what a value is.
    #[error(
        "Cannot cast array data from dtype('{from}') to dtype('{to}') according to 'same_kind'"
    )]
    Cast {
        /// The value's dtype.
        from: DType,
        /// The target's.
        to: DType,
    },
    /// A key that does not fit.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Layouts that no plan is made for yet.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// What went wrong when values were needed.
    #[error(transparent)]
    Run(#[from] RunError),
}
