#![forbid(unsafe_code)]
//! Distributed arrays with NumPy's semantics.
//!
//! A program that uses [`prelude`] runs on one process, or under `mpiexec` on every core and node,
//! with the same results. Large arrays are distributed over the ranks, small ones are replicated.
//! All ranks run the same program: every operation on arrays is collective unless it says
//! otherwise.
//!
//! ```
//! use dappled::prelude::*;
//!
//! fn main() -> dappled::Result<()> {
//!     let cx = Context::init()?;
//!     let u = Array::<f64>::zeros(&cx, [40, 40]);
//!     u.slice(s![0, ..]).fill(1.0)?;
//!     for _ in 0..100 {
//!         let (up, down) = (u.slice(s![..-2, 1..-1]), u.slice(s![2.., 1..-1]));
//!         let (left, right) = (u.slice(s![1..-1, ..-2]), u.slice(s![1..-1, 2..]));
//!         u.slice(s![1..-1, 1..-1]).assign((up + down + left + right) / 4.0)?;
//!     }
//!     let heat = u.sum()?;
//!     if cx.rank() == 0 {
//!         println!("{heat}");
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # How an expression flows
//!
//! ```text
//!  typed, Python       arguments only
//!        |
//!  request             shape, dtype, broadcasting, errors         graph, view
//!        |
//!  dispatch            run now, or defer                          eager, graph
//!        |
//!  graph               deferred operations, fusion, versions      graph, array
//!        |
//!  plan                what each rank sends, receives, computes   plan, ops
//!        |
//!  run                 walks the plan: kernels and messages       run
//!        |
//!  kernels, jit, sort, fft, linalg (local memory)      fabric (ranks and bytes)
//! ```
//!
//! Take `c = (&a * 2.0 + &b).sum_axis(0)` for large arrays on several ranks:
//!
//! 1. **Request.** `&a * 2.0` resolves its dtype and shape, and fails here if they do not fit. So
//!    does the addition. Nothing is computed.
//! 2. **Dispatch.** Both results are large, so they are deferred; an operation on few elements runs
//!    at once, because deferring it would cost more than running it.
//! 3. **Graph.** The operations are nodes that hold the versions of `a` and `b` that were current
//!    when they were requested. If the program assigns to `a` now, `a` gets a new version, and `c`
//!    does not change. The sum needs values: the multiplication and the addition are fused with it
//!    into one program, which reads memory once and stores no temporary.
//! 4. **Plan.** The planner computes, without messages, which elements each rank sends, receives and
//!    reduces. Elements that are in place do not move.
//! 5. **Run.** Each rank walks its plan: it sends, runs the fused loop on its piece, receives, and
//!    combines partial sums in NumPy's order, so that the bits do not depend on the number of ranks.
//!
//! Deferred operations are evaluated when values are needed: by a reduction, by
//! [`to_vec`](prelude::Array::to_vec), [`get`](prelude::Array::get) or
//! [`local`](prelude::Array::local), or by [`evaluate`](prelude::Array::evaluate).
//!
//! # Errors
//!
//! All operations return [`Error`]. Operators cannot return one: they panic if shapes do not
//! broadcast, and a panic on one rank aborts the job. `try_add` and its siblings return the error.
//!
//! ```
//! use dappled::prelude::*;
//!
//! let cx = Context::init()?;
//! let (a, b) = (Array::<f64>::zeros(&cx, [2, 3]), Array::<f64>::zeros(&cx, [4]));
//! assert_eq!(
//!     a.try_add(&b).unwrap_err().to_string(),
//!     "operands could not be broadcast together with shapes (2,3) (4,) "
//! );
//! # Ok::<(), dappled::Error>(())
//! ```
//!
//! # Modules
//!
//! ```text
//! prelude   the names that a program needs
//! typed     the API for Rust programs
//! session   fabric, limits, buffer pool, caches; hashes by which ranks detect divergence
//! view      arithmetic on shapes and strides
//! array     handle, copy-on-write storage, versions, placement
//! graph     dtype, shape and errors of a request; deferred operations and their fusion
//! eager     small operations, which run when they are requested
//! plan      pure function: what each rank sends, receives and computes
//! run       executes a plan; evaluates deferred operations; writes
//! dispatch  which way an element-wise operation takes: eager, deferred, forced
//! ops       distributed algorithms: reductions, scans, take, redistribution, random numbers
//! config    settings and thresholds
//! error     the error type
//! ```
//!
//! The crate has no dependency on Python. The guide for Rust programs follows.
#![doc = include_str!("../../../docs/rust.md")]

pub(crate) mod array;
pub mod config;
pub mod dispatch;
pub(crate) mod eager;
pub mod error;
pub(crate) mod graph;
pub mod io;
pub(crate) mod ops;
#[doc(hidden)]
pub mod plan;
pub mod prelude;
#[doc(hidden)]
pub mod run;
pub(crate) mod session;
pub mod typed;
#[doc(hidden)]
pub mod view;

pub use dappled_protocol as protocol;

pub use config::Limits;
pub use error::{Error, Result};

// The dynamic array, for the Python binding.
#[doc(hidden)]
pub use array::Array;
#[doc(hidden)]
pub use array::storage::Loan;
#[doc(hidden)]
pub use dispatch::{
    Route, cast_in_c_order, defer_uniform, eager_buffer, eager_in_place, eager_into, elementwise,
    may_defer, ufunc, ufunc_in_place, ufunc_in_place_with_loop, ufunc_with_loop, uniform_route,
};
#[doc(hidden)]
pub use eager::argminmax::eager_argminmax;
#[doc(hidden)]
pub use eager::chain::{ChainOperand, OpChain};
#[doc(hidden)]
pub use eager::elementwise::{OtherOperand, uniform_buffer};
#[doc(hidden)]
pub use eager::take::{eager_elements, eager_take};
#[doc(hidden)]
pub use eager::temporary::{EagerSource, Temporary};
#[doc(hidden)]
pub use error::Error as GraphError;
#[doc(hidden)]
pub use graph::assignment_casting::{can_assign, check_integer_range};
#[doc(hidden)]
pub use graph::operand::{ElementwiseOperand, UfuncOperand};
#[doc(hidden)]
pub use graph::reduce_request::{ReduceRequest, accumulator_dtype, has_native_reduction};
#[doc(hidden)]
pub use graph::type_resolution::{
    cast_weak_float, cast_weak_int, has_single_loop, loop_dtype, may_raise, native_loop,
    resolve_loop,
};
#[doc(hidden)]
pub use ops::convolve::ConvolveMode;
#[doc(hidden)]
pub use ops::fft::{FftKind, FftStep};
#[doc(hidden)]
pub use ops::histogram::sum_over_ranks;
pub use ops::index::{IndexKey, RoutedRows, RowValues};
#[doc(hidden)]
pub use ops::linalg::{LeastSquares, LogDeterminant, SingularValues};
#[doc(hidden)]
pub use ops::matmul::{MatmulRequest, matmul_contiguous};
#[doc(hidden)]
pub use ops::redistribute::LentPiece;
#[doc(hidden)]
pub use ops::reduce::mean_var::{Moment, MomentRequest};
#[doc(hidden)]
pub use ops::searchsorted::SearchKernel;
#[doc(hidden)]
pub use ops::sort::{ItemOrder, TIME_ORDER, Unique, UniqueOptions};
#[doc(hidden)]
pub use run::routing::Routing;
#[doc(hidden)]
pub use session::Session;
#[doc(hidden)]
pub use session::buffer_pool::MemoryStats;
#[doc(hidden)]
pub use session::collective_guard::{CollectiveGuard, SourceLineFn, ThreadNameFn};
#[doc(hidden)]
pub use session::fingerprint::{divergence_hint, is_check_all, may_be_set_order, set_check_all};
#[doc(hidden)]
pub use session::fp_warnings::{FpWarning, OpRequest, RequestContext};
