//! Describes the MPI library that this process would load.

use std::path::PathBuf;

use super::abi::{self, MpiAbi};
use super::environment::{self, ProcessEnvironment};
use super::library_search;
use crate::error::FabricError;

/// An MPI library that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryInfo {
    /// Path of the library.
    pub file: PathBuf,
    /// Why this library is chosen.
    pub reason: &'static str,
    /// Name of its ABI.
    pub abi: &'static str,
    /// Its version string.
    pub version: String,
}

/// Returns the library that `connect` would load. Loads it without initialising MPI.
pub fn library_info(prefix: Option<PathBuf>) -> Result<LibraryInfo, FabricError> {
    let candidates = library_search::library_candidates(&ProcessEnvironment::current(prefix));
    let (library, abi, chosen) = abi::load_first(&candidates)?;
    let (abi, version) = match abi {
        MpiAbi::Mpich => ("MPICH's ABI", abi::mpich(library)?.functions.version()),
        MpiAbi::OpenMpi => ("Open MPI's ABI", abi::open_mpi(library)?.functions.version()),
        MpiAbi::Standard => ("the standard ABI", abi::standard(library)?.functions.version()),
    };
    Ok(LibraryInfo { file: loaded_path(chosen.file.clone()), reason: chosen.reason, abi, version })
}

/// Returns the full path of a library that the dynamic loader found by name.
fn loaded_path(file: PathBuf) -> PathBuf {
    if file.is_absolute() {
        return file;
    }
    let is_it = |mapped: &PathBuf| {
        let name = mapped.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&*file.to_string_lossy())
    };
    environment::loaded_mpi_libraries().into_iter().find(is_it).unwrap_or(file)
}
