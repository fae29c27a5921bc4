//! The three MPI ABIs as data, and the loading of a library.

use std::ffi::c_int;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::functions::{MpiFunctions, missing_symbol, symbol_address};
use super::library_search::LibraryCandidate;
use crate::error::FabricError;

/// The ABI of an MPI library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MpiAbi {
    /// Handles are ints: MPICH, Intel MPI, Cray.
    Mpich,
    /// Handles are addresses; predefined handles are addresses of exported objects.
    OpenMpi,
    /// MPI-5: handles are pointers; predefined handles are small integers.
    Standard,
}

/// Handle of a communicator, datatype, request, …: a `c_int`, or a pointer as a `usize`.
pub(super) trait MpiHandle: Copy + Send + Sync + 'static {
    /// The value of a handle before MPI writes it.
    const NULL: Self;

    /// Converts the number by which another user of the library, such as mpi4py, knows the handle.
    fn from_raw(number: u64) -> Self;
}

impl MpiHandle for c_int {
    const NULL: Self = 0;

    fn from_raw(number: u64) -> Self {
        number as c_int
    }
}

impl MpiHandle for usize {
    const NULL: Self = 0;

    fn from_raw(number: u64) -> Self {
        number as usize
    }
}

/// The constants that differ between ABIs.
#[derive(Clone, Copy)]
pub(super) struct MpiConstants<H> {
    pub comm_world: H,
    pub byte: H,
    pub errors_return: H,
    pub status_ignore: usize,
    pub comm_type_shared: c_int,
    pub info_null: H,
    /// MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED and _MULTIPLE.
    pub thread_levels: [c_int; 4],
}

/// A loaded MPI library: its functions and constants.
pub(super) struct MpiLibrary<H> {
    pub functions: MpiFunctions<H>,
    pub constants: MpiConstants<H>,
}

/// Loads the first candidate that is an MPI library.
pub(super) fn load_first(
    candidates: &[LibraryCandidate],
) -> Result<(Library, MpiAbi, &LibraryCandidate), FabricError> {
    let mut tried = Vec::new();
    for candidate in candidates {
        match load(&candidate.file) {
            Ok((library, abi)) => return Ok((library, abi, candidate)),
            Err(error) => tried.push(format!("{} ({error})", candidate.file.display())),
        }
    }
    Err(FabricError::LibraryNotFound { tried })
}

pub(super) fn load(file: &Path) -> Result<(Library, MpiAbi), String> {
    // SAFETY: MPI libraries may be loaded at any time, as mpi4py does. RTLD_GLOBAL is needed
    // because the plugins of Open MPI look up symbols in the library.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) };
    let library = library.map_err(|error| error.to_string())?;
    let abi = detect_abi(&library, file).ok_or("not an MPI library")?;
    Ok((library, abi))
}

fn detect_abi(library: &Library, file: &Path) -> Option<MpiAbi> {
    let name = file.file_name()?.to_string_lossy();
    match () {
        _ if symbol_address(library, "MPI_Init_thread").is_none() => None,
        _ if symbol_address(library, "ompi_mpi_comm_world").is_some() => Some(MpiAbi::OpenMpi),
        _ if name.contains("mpi_abi") => Some(MpiAbi::Standard),
        _ => Some(MpiAbi::Mpich),
    }
}

/// Binds a library with the MPICH ABI, `libmpi.so.12`.
pub(super) fn mpich(library: Library) -> Result<MpiLibrary<c_int>, FabricError> {
    let constants = MpiConstants {
        comm_world: 0x4400_0000,
        byte: 0x4c00_010d,
        errors_return: 0x5400_0001,
        status_ignore: 1,
        comm_type_shared: 1,
        info_null: 0x1c00_0000,
        thread_levels: [0, 1, 2, 3],
    };
    MpiLibrary::new(library, constants)
}

/// Binds Open MPI, `libmpi.so.40`.
pub(super) fn open_mpi(library: Library) -> Result<MpiLibrary<usize>, FabricError> {
    let object = |name| symbol_address(&library, name).ok_or_else(|| missing_symbol(name));
    let constants = MpiConstants {
        comm_world: object("ompi_mpi_comm_world")?,
        byte: object("ompi_mpi_byte")?,
        errors_return: object("ompi_mpi_errors_return")?,
        status_ignore: 0,
        comm_type_shared: 0,
        info_null: object("ompi_mpi_info_null")?,
        thread_levels: [0, 1, 2, 3],
    };
    MpiLibrary::new(library, constants)
}

/// Binds a library with the MPI-5 standard ABI, `libmpi_abi.so.1`.
pub(super) fn standard(library: Library) -> Result<MpiLibrary<usize>, FabricError> {
    let constants = MpiConstants {
        comm_world: 0x101,
        byte: 0x247,
        errors_return: 0x143,
        status_ignore: 0,
        comm_type_shared: 221,
        info_null: 0x130,
        thread_levels: [0, 1024, 2048, 4096],
    };
    let mut mpi = MpiLibrary::new(library, constants)?;
    if mpi.functions.version().contains("Intel") {
        // Intel MPI 2021.18 swaps MPI_ERRORS_RETURN and MPI_ERRORS_ABORT.
        mpi.constants.errors_return = 0x142;
    }
    Ok(mpi)
}

impl<H: MpiHandle> MpiLibrary<H> {
    fn new(library: Library, constants: MpiConstants<H>) -> Result<Self, FabricError> {
        let functions = MpiFunctions::load(&library)?;
        // MPI cannot be unloaded: its threads, signal handlers and exit handlers stay.
        std::mem::forget(library);
        Ok(Self { functions, constants })
    }
}
