#![forbid(unsafe_code)]
//! Distributed arrays with NumPy's semantics.
//!
//! An [`Array`] is distributed over the ranks of a [`Session`], or
//! replicated if it is small. Operations are collective: all ranks request them in the same order.
//! The modules are the stages of an operation:
//!
//! ```text
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
//! ```
//! use dappled::{Array, Session};
//! use dappled_kernels::DType;
//!
//! let session = Session::new(dappled_fabric::connect()?);
//! let ones = Array::full(&session, &[2, 3], 1.0);
//! let mean = ones.add(&ones)?.multiply(0.5)?.cast(DType::Int64)?;
//! assert_eq!(mean.to_vec::<i64>()?, [1; 6]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod array;
pub mod config;
pub mod dispatch;
pub(crate) mod eager;
pub mod error;
pub(crate) mod graph;
pub(crate) mod ops;
pub mod plan;
pub mod run;
pub(crate) mod session;
pub mod view;

pub use dappled_protocol as protocol;

pub use array::Array;
pub use array::storage::Loan;
pub use config::Limits;
pub use dispatch::{
    Route, cast_in_c_order, defer_uniform, eager_buffer, eager_in_place, eager_into, elementwise,
    may_defer, ufunc, ufunc_in_place, ufunc_in_place_with_loop, ufunc_with_loop, uniform_route,
};
pub use eager::argminmax::eager_argminmax;
pub use eager::chain::{ChainOperand, OpChain};
pub use eager::elementwise::OtherOperand;
pub use eager::take::{eager_elements, eager_take};
pub use eager::temporary::{EagerSource, Temporary};
pub use error::{Error, Error as GraphError, Result};
pub use graph::operand::{ElementwiseOperand, UfuncOperand};
pub use graph::reduce_request::ReduceRequest;
pub use graph::type_resolution::{
    has_single_loop, loop_dtype, may_raise, native_loop, resolve_loop,
};
pub use ops::fft::{FftKind, FftStep};
pub use ops::matmul::{MatmulKernel, matmul};
pub use ops::redistribute::LentPiece;
pub use ops::reduce::mean_var::{Moment, MomentRequest};
pub use ops::take_put::{BoundsChecked, PutValues, RowIndices};
pub use session::Session;
pub use session::buffer_pool::MemoryStats;
pub use session::collective_guard::{CollectiveGuard, SourceLineFn, ThreadNameFn};
pub use session::fingerprint::{divergence_hint, is_check_all, may_be_set_order, set_check_all};
pub use session::fp_warnings::{FpWarning, OpRequest, RequestContext};
