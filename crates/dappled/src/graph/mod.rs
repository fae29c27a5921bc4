//! What was asked: nodes whose shape, dtype and errors are known, and whose values are not yet.
//!
//! *Values are lazy, everything else is eager.* An operation makes a node. When values are needed,
//! a node and all that is still pending below it become one fused program ([`fuse`]), which is
//! planned and run; a pending node that is needed a second time is stored then. Small arrays whose
//! operands are ready are computed at once ([`small`]). A write runs at once and makes the next
//! *version* of the array's box, in place if nobody else needs the old one: whoever was asked
//! before still reads the version that was current then, and nothing is copied for it.
//!
//! ```text
//! array, versions   the array: a view of a box that holds the current version
//! resolve, map      an operation: dtype, shape, layout, then a node
//! quick, small      a small one, computed at once; element: one element; quick_take, quick_arg
//! fresh             a small result that is no array yet
//! soon, recipe      small ones of one expression, put together as they are asked for; soon_run: computed
//! assign, outside   a write; over: in the memory that it reads, of arrays in pieces
//! fold              a reduction of memory that is whole; spread_fold: of pieces
//! lies              where values in pieces lie, and what this rank has of them
//! spread_sum, relay the parts of float sums; what is taken one by one, from rank to rank
//! quick_fold        of a small array that is ready; moments: means and variances
//! scan, search      running totals; where an extreme is
//! product           of two matrices, by a library
//! random            random arrays, by the places of their elements
//! fuse              pending nodes as one program
//! evaluate, spread  runs it: on memory that is whole; on pieces, by a plan
//! notice            what operations signalled
//! across, reshape   views that do not follow the axes of what is in pieces; other shapes
//! in_turn           writes over windows that overlap
//! items             elements as their bytes
//! place, explain    where it lies; what would be done; foretell: on ranks that do not run
//! padding           copies of what other ranks own
//! pending           what is held and not computed yet
//! cache, tag        what is worked out once; what ranks must agree on
//! ways              who may ask for it, and at which line
//! ```
//!
//! *In:* operations on [`Array`]s. *Out:* a program, its operands and a target, for `plan` and `run`.

mod across;
mod array;
mod assign;
mod by_number;
mod cache;
mod chosen;
mod chosen_fold;
mod element;
mod evaluate;
mod explain;
mod fold;
mod foretell;
mod fresh;
mod fuse;
mod in_turn;
mod items;
mod later;
mod layout;
mod lies;
mod map;
mod memory;
mod moments;
mod node;
mod notice;
mod outside;
mod over;
mod padding;
mod patch;
mod pending;
mod place;
mod product;
mod quick;
mod quick_arg;
mod quick_fold;
mod quick_take;
mod random;
mod recipe;
mod relay;
mod reshape;
mod resolve;
mod rounds;
mod scan;
mod search;
mod session;
mod short;
mod small;
mod soon;
mod soon_run;
mod spread;
mod spread_fold;
mod spread_sum;
mod sum_group;
mod system;
mod tag;
mod unfused;
mod versions;
mod ways;

pub use array::Array;
pub use by_number::{Found, Named, Values};
pub use fold::Folding;
pub use fresh::{Fresh, Own};
pub use later::{common_later, is_common_later};
pub use map::{Operand, cast_in_c_order, map};
pub use memory::MemoryStats;
pub use moments::{Moment, MomentOf};
pub use notice::{Notice, Origin, Request};
pub use place::LentPiece;
pub use product::{Multiply, product};
pub use quick::{Beside, quick_alike, quick_into, quick_over};
pub use quick_arg::quick_arg;
pub use quick_take::{elements, quick_take};
pub use resolve::{Given, loop_dtype, loop_of, ufunc, ufunc_in, ufunc_in_place, ufunc_over};
pub use session::{Limits, Session};
pub use soon::{Soon, Term};
pub use tag::{check_all, checks_all, hint, may_be_order};
pub use versions::Loan;
pub use ways::{Line, ThreadName, Ways};

use std::sync::Arc;

use dappled_kernels::{DType, Op};

use crate::plan::PlanError;
use crate::run::RunError;
use crate::view::{ViewError, tuple};

/// Why an operation can't be done. All but [`GraphError::Run`] are known when it is asked for, and
/// leave every array as it was.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// A view that can't be.
    #[error(transparent)]
    View(#[from] ViewError),
    /// A value that does not fit what it is assigned to.
    #[error("could not broadcast input array from shape {} into shape {}", tuple(.from), tuple(.to))]
    Assigned {
        /// The value's shape.
        from: Vec<usize>,
        /// The target's.
        to: Vec<usize>,
    },
    /// A function that has no loop for this dtype.
    #[error("ufunc '{op}' not supported for the input types: {dtype}")]
    NoLoop {
        /// The operation.
        op: Op,
        /// The dtype its arguments were promoted to.
        dtype: DType,
    },
    /// A target in pieces that is no part of its base. (Ours: such writes are done another way.)
    #[error("a target that does not follow the axes of its base")]
    Target,
    /// What all ranks must do together, while this one is by itself.
    #[error("{0} is for all ranks to do: inside dappled.local() nothing is sent")]
    Local(String),
    /// What all ranks must do together, in a process that was forked from one.
    #[error(
        "{0} is for all ranks to do: this process was forked from one, and can't use arrays in pieces"
    )]
    Forked(String),
    /// What communicates, in another thread than the first that did.
    #[error(
        "{what} communicates with other ranks, which only thread {first:?} may do: it was the first to \
         use a distributed array. This is thread {thread:?}, which may read `a.local` and \
         replicated arrays. Gather in {first:?} before, with `a.numpy()`, and use the result here"
    )]
    Thread {
        /// The operation.
        what: String,
        /// The name of the thread that asked for it.
        thread: Arc<str>,
        /// The name of the thread that may communicate.
        first: Arc<str>,
    },
    /// A view that is not all of an array has no piece or distribution of its own.
    #[error(
        "this array of shape {} is a view of another array, of shape {}: a view has no local piece and no \
         distribution of its own. A copy has: `a.copy()`",
        tuple(.shape), tuple(.base)
    )]
    Piece {
        /// The view's shape.
        shape: Vec<usize>,
        /// The shape of the array that it is a view of.
        base: Vec<usize>,
    },
    /// A distribution that is not one of this array over these ranks.
    #[error(
        "a distribution of shape {:?} over {} processes, for an array of shape {:?} over {}",
        .found.0, .found.1, .expected.0, .expected.1
    )]
    Distribution {
        /// The distribution's shape and number of processes.
        found: (Vec<u64>, u64),
        /// The array's.
        expected: (Vec<u64>, u64),
    },
    /// Layouts that no plan is made for.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// What went wrong when values were needed.
    #[error(transparent)]
    Run(#[from] RunError),
}
