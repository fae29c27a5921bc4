//! Dappled's Python extension module, `dappled._core`.
//!
//! Input: Python objects. Output: calls of the crates `dappled` and `dappled-protocol`, and their
//! results as Python objects. The folders:
//!
//! - [`protocol`]: the Distributed Array Protocol: distributions, exports, local pieces
//! - [`ndarray`]: `dappled.ndarray`, ufuncs and functions of arrays
//! - [`interop`]: conversion between Python's and NumPy's objects and the core's
//! - [`ops`]: sorting, transforms, linear algebra and index arrays on contiguous memory
//! - [`runtime`]: the session, ranks, the lock, errstate, call sites, the fallback to NumPy
//!
//! [`errors`] maps every Rust error to a Python exception; [`config`] lists the thresholds.

#![deny(unsafe_code)]

mod config;
mod errors;
mod interop;
mod ndarray;
mod ops;
mod protocol;
mod runtime;

use pyo3::prelude::*;

/// The Rust core of Dappled. Public names are offered by `dappled.protocol`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("LocalContextError", module.py().get_type::<errors::LocalContextError>())?;
    module.add("ProtocolError", module.py().get_type::<errors::ProtocolError>())?;
    protocol::register(module)?;
    ndarray::register(module)?;
    interop::register(module)?;
    ops::register(module)?;
    runtime::register(module)
}
