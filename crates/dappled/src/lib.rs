#![forbid(unsafe_code)]
//! Distributed arrays with NumPy's meaning.
//!
//! The folders are the way of an expression, in order:
//!
//! ```text
//! graph   what was asked: nodes, with shape, dtype and errors known
//! plan    from nodes to steps: what one rank sends, receives and computes
//! run     walks a plan's steps once
//! ```

pub mod config;
pub mod graph;
pub mod plan;
pub mod run;
pub mod view;

pub use dappled_protocol as protocol;
