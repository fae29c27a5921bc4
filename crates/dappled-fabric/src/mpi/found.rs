//! Which MPI library this process would use, and why.

use std::path::PathBuf;

use super::abi::{self, Abi};
use super::find;
use super::surroundings::{self, Surroundings};
use crate::error::FabricError;

/// An MPI library that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it lies.
    pub file: PathBuf,
    /// Why this one.
    pub why: &'static str,
    /// How it represents its objects.
    pub abi: &'static str,
    /// What it says about itself.
    pub version: String,
}

/// The library that would be used. It is loaded, and MPI is not begun.
pub fn found(prefix: Option<PathBuf>) -> Result<Found, FabricError> {
    let candidates = find::candidates(&Surroundings::of_this_process(prefix));
    let (library, abi, chosen) = abi::open_first(&candidates)?;
    let (abi, version) = match abi {
        Abi::Mpich => ("MPICH's ABI", abi::mpich(library)?.functions.version()),
        Abi::OpenMpi => ("Open MPI's ABI", abi::open_mpi(library)?.functions.version()),
        Abi::Standard => ("the standard ABI", abi::standard(library)?.functions.version()),
    };
    Ok(Found { file: place(chosen.file.clone()), why: chosen.why, abi, version })
}

/// Where a library lies that the loader found by its name alone.
fn place(file: PathBuf) -> PathBuf {
    if file.is_absolute() {
        return file;
    }
    let is_it = |mapped: &PathBuf| {
        let name = mapped.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&*file.to_string_lossy())
    };
    surroundings::mapped_libraries().into_iter().find(is_it).unwrap_or(file)
}
