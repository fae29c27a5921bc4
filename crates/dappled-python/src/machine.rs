//! What this process would compute with: for who asks what is the matter.

use std::path::PathBuf;

use dappled_fabric::mpi;
use dappled_kernels::{Variant, threads};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The MPI library that this process would use: its `file`, `why` that one, its `abi` and `version`.
#[pyfunction]
pub fn mpi_library(py: Python<'_>, prefix: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let found = mpi::found(Some(prefix));
    let found = found.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let facts = PyDict::new(py);
    facts.set_item("file", found.file)?;
    facts.set_item("why", found.why)?;
    facts.set_item("abi", found.abi)?;
    facts.set_item("version", found.version)?;
    Ok(facts)
}

/// The CPU that the loops in use are compiled for, and the number of threads.
#[pyfunction]
pub fn cpu() -> (&'static str, usize) {
    let variant = match Variant::chosen() {
        Variant::Plain => "plain",
        Variant::Avx2 => "AVX2",
        Variant::Avx512 => "AVX-512",
    };
    (variant, threads())
}
