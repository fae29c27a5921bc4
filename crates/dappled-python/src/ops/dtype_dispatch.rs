//! Dispatch of an algorithm on the element type of its arrays.

use pyo3::prelude::*;

use crate::errors::internal_error;

/// Calls instantiations of an algorithm until one accepts the element type of the arrays.
///
/// `attempt` returns `None` for an instantiation that does not.
pub fn dispatch_dtype<F, T>(
    instantiations: &[F],
    attempt: impl Fn(&F) -> PyResult<Option<T>>,
) -> PyResult<T> {
    for instantiation in instantiations {
        if let Some(done) = attempt(instantiation)? {
            return Ok(done);
        }
    }
    Err(unsupported_dtype())
}

/// The error for an element type that the caller should not have passed.
pub fn unsupported_dtype() -> PyErr {
    internal_error("no instantiation for the dtype of these arrays")
}
