//! Local computation on typed memory: fused element-wise programs, reductions and scans.
//!
//! Results equal NumPy's. The crate knows no ranks, no operation graph and no Python. From the bottom up:
//!
//! ```text
//! types      dtypes, promotion (NEP 50), element types, scalars, floating-point flags, operations
//! memory     buffers with read and write claims, strided views, overlap tests, copies, transposes
//! program    a fused expression over registers; reduction operations; rewrites
//! loops      one precompiled loop for each operation, dtype and CPU variant
//! threads    the thread count, the spin pool, parallel map
//! iter       the iteration space, its tiles, and operands bound to it
//! jit        which steps of a program a compiled loop runs, and the interface of the compiler
//! execute    runs a program over all tiles on all threads
//! mask       boolean masks as bitmaps; selections of elements
//! reduce     reductions of a fused program in NumPy's order of additions
//! scan       cumulative reductions of a fused program
//! random     counter-based random numbers
//! config     every threshold of the crate
//! ```
//!
//! The value of an element depends neither on its position in a tile nor on the number of threads.

#![deny(unsafe_code)]

mod config;
mod error;
mod execute;
mod iter;
mod jit;
mod loops;
mod mask;
mod memory;
mod program;
mod random;
mod reduce;
mod scan;
mod threads;
mod types;

pub use dappled_base::OutOfMemory;
pub use error::Error;
pub use execute::in_place_shifted::can_run_in_place;
pub use execute::single_op::{apply, apply_scalar, parallel_chunks};
pub use execute::{Engine, Interpreter, execute};
pub use iter::bound_operands::BufferView;
pub use jit::fused_loop::{Compiler, FusedLoop, LoopFunction};
pub use loops::reduce::pairwise_tree as tree;
pub use loops::variant::CpuVariant;
pub use mask::selection::ElementSelection;
pub use memory::buffer::{self, Buffer, OwnedReadGuard};
pub use memory::copy::copy_elements;
pub use memory::overlap::{is_injective, may_overlap};
pub use memory::stats::BufferStats;
pub use memory::view::{Axes, View};
pub use program::reduce_op::ReduceOp;
pub use program::{Program, ProgramStep, Reg};
pub use random::{AffineMap, Draw, RandomStream, draw};
pub use reduce::write_reduce::{PendingWrite, write_and_reduce};
pub use reduce::{
    ArgReduceOp, ReduceLayout, ReduceRuns, Reduction, arg_reduce, arg_reduce_contiguous, reduce,
    reduce_contiguous, reduce_selected, sum, sum_parts, sum_parts_selected,
};
pub use scan::scan;
pub use threads::after_fork::{install_after_fork, set_forked};
pub use threads::{set_thread_count, thread_count};
pub use types::dtype::{DType, DTypeKind};
pub use types::element::{self, Bool, Element};
pub use types::fp_flags::{FpFlags, ReduceFlags, StepFlags, capture_fp_flags};
pub use types::op::Op;
pub use types::promotion::{Casting, WeakScalar, can_cast, promote, promote_weak};
pub use types::scalar::Scalar;
