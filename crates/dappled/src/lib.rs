#![forbid(unsafe_code)]
//! Distributed arrays with NumPy's meaning.
//!
//! The folders are the way of an expression, in order (*to come* is not here yet):
//!
//! ```text
//! graph   (to come) what was asked: nodes, with shape, dtype and errors known
//! plan    from nodes to steps: what one rank sends, receives and computes
//! run     (to come) walks a plan's steps once
//! ```

pub mod plan;

pub use dappled_protocol as protocol;
