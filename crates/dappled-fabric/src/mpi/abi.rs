//! The three ABIs as data.

use std::ffi::c_int;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::find::Candidate;
use super::functions::{Functions, address, missing};
use crate::error::FabricError;

/// How a library represents its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Abi {
    /// Handles are ints: MPICH, Intel MPI, Cray.
    Mpich,
    /// Handles are addresses; the predefined ones those of exported objects.
    OpenMpi,
    /// MPI-5: handles are pointers; the predefined ones small numbers.
    Standard,
}

/// A communicator, datatype, request, … of a library: `c_int`, or a pointer as a `usize`.
pub(super) trait Handle: Copy + Send + Sync + 'static {
    /// What a request is before MPI writes it.
    const NONE: Self;

    /// The handle that another user of the library, such as mpi4py, knows by this number.
    fn from_number(number: u64) -> Self;
}

impl Handle for c_int {
    const NONE: Self = 0;

    fn from_number(number: u64) -> Self {
        number as c_int
    }
}

impl Handle for usize {
    const NONE: Self = 0;

    fn from_number(number: u64) -> Self {
        number as usize
    }
}

/// What differs between ABIs, beside the handle type.
#[derive(Clone, Copy)]
pub(super) struct Constants<H> {
    pub comm_world: H,
    pub byte: H,
    pub errors_return: H,
    pub status_ignore: usize,
    pub comm_type_shared: c_int,
    pub info_null: H,
    /// MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED and _MULTIPLE.
    pub thread_levels: [c_int; 4],
}

/// A loaded library: what to call and what to call it with.
pub(super) struct Mpi<H> {
    pub functions: Functions<H>,
    pub constants: Constants<H>,
}

/// The first file that can be loaded and is an MPI library.
pub(super) fn open_first(
    candidates: &[Candidate],
) -> Result<(Library, Abi, &Candidate), FabricError> {
    let mut tried = Vec::new();
    for found in candidates {
        match open(&found.file) {
            Ok((library, abi)) => return Ok((library, abi, found)),
            Err(why) => tried.push(format!("{} ({why})", found.file.display())),
        }
    }
    Err(FabricError::NoLibrary { tried })
}

pub(super) fn open(file: &Path) -> Result<(Library, Abi), String> {
    // SAFETY: MPI libraries may be loaded at any time, as mpi4py does; RTLD_GLOBAL because Open
    // MPI's plugins look symbols up in it.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) };
    let library = library.map_err(|error| error.to_string())?;
    let abi = abi_of(&library, file).ok_or("not an MPI library")?;
    Ok((library, abi))
}

fn abi_of(library: &Library, file: &Path) -> Option<Abi> {
    let name = file.file_name()?.to_string_lossy();
    match () {
        _ if address(library, "MPI_Init_thread").is_none() => None,
        _ if address(library, "ompi_mpi_comm_world").is_some() => Some(Abi::OpenMpi),
        _ if name.contains("mpi_abi") => Some(Abi::Standard),
        _ => Some(Abi::Mpich),
    }
}

/// The MPICH ABI: `libmpi.so.12`.
pub(super) fn mpich(library: Library) -> Result<Mpi<c_int>, FabricError> {
    let constants = Constants {
        comm_world: 0x4400_0000,
        byte: 0x4c00_010d,
        errors_return: 0x5400_0001,
        status_ignore: 1,
        comm_type_shared: 1,
        info_null: 0x1c00_0000,
        thread_levels: [0, 1, 2, 3],
    };
    Mpi::new(library, constants)
}

/// Open MPI: `libmpi.so.40`.
pub(super) fn open_mpi(library: Library) -> Result<Mpi<usize>, FabricError> {
    let object = |name| address(&library, name).ok_or_else(|| missing(name));
    let constants = Constants {
        comm_world: object("ompi_mpi_comm_world")?,
        byte: object("ompi_mpi_byte")?,
        errors_return: object("ompi_mpi_errors_return")?,
        status_ignore: 0,
        comm_type_shared: 0,
        info_null: object("ompi_mpi_info_null")?,
        thread_levels: [0, 1, 2, 3],
    };
    Mpi::new(library, constants)
}

/// The MPI-5 standard ABI: `libmpi_abi.so.1`.
pub(super) fn standard(library: Library) -> Result<Mpi<usize>, FabricError> {
    let constants = Constants {
        comm_world: 0x101,
        byte: 0x247,
        errors_return: 0x143,
        status_ignore: 0,
        comm_type_shared: 221,
        info_null: 0x130,
        thread_levels: [0, 1024, 2048, 4096],
    };
    let mut mpi = Mpi::new(library, constants)?;
    if mpi.functions.version().contains("Intel") {
        // Intel 2021.18 has MPI_ERRORS_RETURN and MPI_ERRORS_ABORT the other way round.
        mpi.constants.errors_return = 0x142;
    }
    Ok(mpi)
}

impl<H: Handle> Mpi<H> {
    fn new(library: Library, constants: Constants<H>) -> Result<Self, FabricError> {
        let functions = Functions::load(&library)?;
        // MPI cannot be unloaded: its threads, signal handlers and exit handlers stay.
        std::mem::forget(library);
        Ok(Self { functions, constants })
    }
}
