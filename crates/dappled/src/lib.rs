#![forbid(unsafe_code)]
//! Distributed arrays with NumPy's semantics.
//!
//! An [`Array`](graph::Array) is distributed over the ranks of a [`Session`](graph::Session), or
//! replicated if it is small. Operations are collective: all ranks request them in the same order.
//! The modules are the stages of an operation:
//!
//! ```text
//! session   fabric, limits, buffer pool, caches; hashes by which ranks detect divergence
//! view      arithmetic on shapes and strides
//! array     handle, copy-on-write storage, placement
//! graph     requests: dtype, shape and errors are resolved, values are deferred and fused
//! eager     small operations, which run when they are requested
//! plan      pure function: what each rank sends, receives and computes
//! run       executes a plan
//! ops       distributed algorithms: reductions, scans, take, redistribution, random numbers
//! config    settings and thresholds
//! error     the error type
//! ```
//!
//! ```
//! use dappled::graph::{Array, Session};
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
pub(crate) mod eager;
pub mod error;
pub mod graph;
pub(crate) mod ops;
pub mod plan;
pub mod run;
pub(crate) mod session;
pub mod view;

pub use dappled_protocol as protocol;
pub use error::{Error, Result};
