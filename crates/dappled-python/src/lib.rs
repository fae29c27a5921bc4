//! Dappled's Python extension: conversions, buffer slots and one error table. No decisions.

#![deny(unsafe_code)]

mod array;
mod boxes;
mod convert;
mod dimension;
mod distribution;
mod errors;
mod export;
mod importer;
mod index;
mod labels;
mod machine;
mod options;
#[allow(unsafe_code)]
mod piece;
mod repr;

use pyo3::prelude::*;

/// The Rust core of Dappled. Public names are offered by `dappled.protocol`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ProtocolError", module.py().get_type::<errors::ProtocolError>())?;
    module.add_class::<dimension::Dimension>()?;
    module.add_class::<distribution::Distribution>()?;
    module.add_class::<piece::Piece>()?;
    module.add_class::<importer::Importer>()?;
    module.add_function(wrap_pyfunction!(dimension::num_owned_indices, module)?)?;
    module.add_function(wrap_pyfunction!(export::validate, module)?)?;
    module.add_function(wrap_pyfunction!(export::validate_all, module)?)?;
    module.add_function(wrap_pyfunction!(export::rule_texts, module)?)?;
    module.add_function(wrap_pyfunction!(piece::from_distarray, module)?)?;
    module.add_function(wrap_pyfunction!(machine::mpi_library, module)?)?;
    module.add_function(wrap_pyfunction!(machine::cpu, module)?)?;
    array::register(module)
}
