//! Local work on typed memory: fused element-wise programs, reductions and scans, with NumPy's results.
//!
//! It knows no ranks, no graph and no Python. From the bottom up:
//!
//! ```text
//! dtype, promote     element types; NEP 50 promotion; which casts are allowed
//! element, scalar    the Rust types of elements; one value of any dtype
//! buffer, usage      memory, shared by counting, read by many or written by one
//! foreign            claims on memory that is not our own, by address
//! view, overlap      strided views; may two of them touch the same byte?
//! op, program        a fused expression as a program over registers, and what is legal
//! space, tiles       the indices of a run, cut into tiles that share nothing
//! lane, turn         an operand's memory along them; what lies across them
//! strided, copy      elements from one stride to another, and from one view to another
//! bind               operands checked against a program, their memory claimed
//! rewrite            cheaper operations of the same bits
//! flags              what operations signal besides their values
//! kernels            one precompiled loop for each operation and dtype
//! apply              one operation over contiguous memory, for small arrays
//! fused              loops of several steps, compiled by somebody else
//! groups, plan       which steps have a loop together
//! slot, machine      one thread's registers: runs a program over one tile
//! share, crew        work in parts, on the thread that asks and on others that wait awake
//! execute, threads   runs a program over all tiles, on all threads; how many these are
//! in_order           the same where all operands lie one element after the other
//! fold, tree         what folds values into one; NumPy's pairwise tree
//! reduce, scan       reductions and scans of a fused program
//! random             random numbers by their place
//! ```
//!
//! An element's value depends neither on its place in a tile nor on the number of threads.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod apply;
#[allow(unsafe_code)]
mod bind;
#[allow(unsafe_code)]
pub mod buffer;
mod chosen;
#[allow(unsafe_code)]
mod copy;
#[allow(unsafe_code)]
mod crew;
mod dtype;
#[allow(unsafe_code)]
pub mod element;
mod error;
mod execute;
mod flags;
mod fold;
mod follow;
mod foreign;
#[allow(unsafe_code)]
mod fused;
mod groups;
#[allow(unsafe_code)]
mod in_order;
mod kernels;
#[allow(unsafe_code)]
mod lane;
mod machine;
#[allow(unsafe_code)]
mod mask;
mod op;
mod overlap;
mod plan;
#[allow(unsafe_code)]
mod pool;
mod program;
mod promote;
mod random;
mod reduce;
mod rewrite;
#[allow(unsafe_code)]
mod scalar;
mod scan;
mod share;
#[allow(unsafe_code)]
mod slot;
mod space;
#[allow(unsafe_code)]
mod strided;
mod threads;
#[allow(unsafe_code)]
mod tiles;
mod together;
pub mod tree;
#[allow(unsafe_code)]
mod turn;
mod usage;
mod view;

pub use apply::{apply, apply_number, in_parts};
pub use bind::Operand;
pub use buffer::{Buffer, Kept};
pub use chosen::Chosen;
pub use copy::copy_elements;
pub use dappled_base::OutOfMemory;
pub use dtype::{DType, Kind};
pub use element::{Bool, Element};
pub use error::Error;
pub use execute::{Engine, Interpreter, execute};
pub use flags::{Flags, Folded, Raised, watched};
pub use fold::Fold;
pub use fused::{Compiler, FusedLoop, LoopFunction};
pub use kernels::Variant;
pub use machine::lies_over;
pub use op::Op;
pub use overlap::{is_injective, may_overlap};
pub use pool::{in_fresh_pool, set_forked};
pub use program::{Program, Reg, Step};
pub use promote::{Casting, Weak, can_cast, promote, promote_weak};
pub use random::{Draw, Line, Stream, draw};
pub use reduce::{
    Along, Extreme, Reduction, Runs, Write, arg_of, arg_reduce, fold_at_once, reduce,
    reduce_chosen, reduce_written, sum, sum_parts, sum_parts_chosen,
};
pub use scalar::Scalar;
pub use scan::scan;
pub use threads::{threads, use_threads};
pub use usage::Usage;
pub use view::{Axes, View};
