//! The Distributed Array Protocol as Python sees it: `dappled.protocol`.
//!
//! Input: dimension dictionaries, exports and arguments of any Python type. Output: the types of
//! `dappled_protocol`, and their results as plain Python objects and NumPy arrays.
//!
//! Guarantees: an object that breaks a rule raises `ProtocolError` with the rule's id; nothing here
//! communicates or copies an exported buffer.

pub mod convert;
pub mod dimension;
pub mod distribution;
pub mod export;
pub mod index;
pub mod labels;
pub mod options;
pub mod parcels;
#[allow(unsafe_code)]
pub mod piece;
pub mod repr;

use pyo3::prelude::*;

/// Adds the classes and functions of this folder to the extension module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<dimension::Dimension>()?;
    module.add_function(wrap_pyfunction!(dimension::num_owned_indices, module)?)?;
    module.add_class::<distribution::PyDistribution>()?;
    module.add_function(wrap_pyfunction!(export::validate, module)?)?;
    module.add_function(wrap_pyfunction!(export::validate_all, module)?)?;
    module.add_function(wrap_pyfunction!(export::rule_texts, module)?)?;
    module.add_class::<piece::PyPiece>()?;
    module.add_function(wrap_pyfunction!(piece::from_distarray, module)?)
}
