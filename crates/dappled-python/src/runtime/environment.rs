//! The MPI library and the CPU that this process would use, for `dappled doctor`.

use std::path::PathBuf;

use dappled_fabric::mpi;
use dappled_kernels::{CpuVariant, thread_count};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the `file`, `abi` and `version` of the MPI library, and `why` it was chosen.
#[pyfunction]
pub fn mpi_library(py: Python<'_>, prefix: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let library = mpi::library_info(Some(prefix));
    let library = library.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let facts = PyDict::new(py);
    facts.set_item("file", library.file)?;
    facts.set_item("why", library.reason)?;
    facts.set_item("abi", library.abi)?;
    facts.set_item("version", library.version)?;
    Ok(facts)
}

/// Returns the CPU features that the loops in use need, and the number of threads.
#[pyfunction]
pub fn cpu() -> (&'static str, usize) {
    let variant = match CpuVariant::active() {
        CpuVariant::Plain => "plain",
        CpuVariant::Avx2 => "AVX2",
        CpuVariant::Avx512 => "AVX-512",
    };
    (variant, thread_count())
}
