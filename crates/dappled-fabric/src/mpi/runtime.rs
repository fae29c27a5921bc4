//! The MPI runtime: initialisation, communicator, thread level and finalisation.

use std::ffi::c_int;
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use super::abi::{self, MpiAbi, MpiHandle, MpiLibrary};
use super::functions::MpiFunctions;
use super::launch::Launch;
use crate::config::ABORT_DELAY;
use crate::error::FabricError;

/// Initialised MPI, and this rank's communicator.
pub(super) struct MpiRuntime<H> {
    pub mpi: MpiLibrary<H>,
    /// A duplicate, so that our messages never match those of the program.
    pub communicator: H,
    pub rank: u64,
    pub size: u64,
    pub node_rank: u64,
    pub node_size: u64,
    pub name: String,
    owns_mpi: bool,
    is_finalized: AtomicBool,
    caller: CallerThread,
}

/// The threads that may call MPI.
enum CallerThread {
    /// Any thread, one at a time.
    Any,
    /// Only the thread that initialised MPI, because the thread level is too low.
    One { thread: ThreadId, level: &'static str },
}

impl<H: MpiHandle> MpiRuntime<H> {
    /// Initialises MPI if needed, on a duplicate of `parent` or of the world communicator.
    pub fn init(mpi: MpiLibrary<H>, parent: Option<H>) -> Result<Self, FabricError> {
        let ours_to_end = !is_initialized(&mpi)?;
        if ours_to_end {
            initialize_mpi(&mpi)?;
        }
        let caller = allowed_callers(&mpi)?;
        let communicator =
            duplicate_communicator(&mpi, parent.unwrap_or(mpi.constants.comm_world))?;
        let [rank, size] = rank_and_size(&mpi, communicator)?;
        let [node_rank, node_size] = node_rank_and_size(&mpi, communicator)?;
        let (name, over) = (mpi.functions.version(), false.into());
        Ok(Self {
            mpi,
            communicator,
            rank,
            size,
            node_rank,
            node_size,
            name,
            owns_mpi: ours_to_end,
            is_finalized: over,
            caller,
        })
    }

    /// Returns whether a message of `peer` with this tag can be received.
    pub fn has_message(&self, peer: u64, tag: c_int) -> Result<bool, FabricError> {
        let (iprobe, peer) = (self.mpi.functions.iprobe, peer as c_int);
        let ignore = self.mpi.constants.status_ignore as *mut _;
        // SAFETY: MPI is initialised and not finalised; `ignore` is the ABI's MPI_STATUS_IGNORE.
        let probe = |flag| unsafe { iprobe(peer, tag, self.communicator, flag, ignore) };
        Ok(self.mpi.functions.call_int("MPI_Iprobe", probe)? != 0)
    }

    /// Calls MPI_Finalize if this runtime initialised MPI. Blocks until all ranks do.
    pub fn finalize(&self) -> Result<(), FabricError> {
        if self.is_finalized.swap(true, Ordering::AcqRel) || !self.owns_mpi {
            return Ok(());
        }
        // MPI_Finalize must run on the main thread; on any other, MPI stays initialised.
        self.check_thread()?;
        // SAFETY: initialised by us and finalised once; `check_open` rejects every later call.
        self.mpi.functions.check("MPI_Finalize", unsafe { (self.mpi.functions.finalize)() })
    }

    /// Terminates the processes of all ranks.
    pub fn abort(&self, status: i32) -> ! {
        if !self.is_finalized.load(Ordering::Acquire) {
            std::thread::sleep(ABORT_DELAY);
            // SAFETY: MPI is initialised, not finalised, and MPI_Abort may be called from any
            // thread.
            unsafe { (self.mpi.functions.abort)(self.mpi.constants.comm_world, status) };
        }
        std::process::exit(status)
    }

    /// Checks that MPI is not finalised and that this thread may call it.
    pub fn check_open(&self) -> Result<(), FabricError> {
        match self.is_finalized.load(Ordering::Acquire) {
            false => self.check_thread(),
            true => Err(finalized_error()),
        }
    }

    /// Checks that this thread may call MPI.
    pub fn check_thread(&self) -> Result<(), FabricError> {
        match self.caller {
            CallerThread::One { thread, level } if thread::current().id() != thread => {
                Err(FabricError::ThreadLevel { level })
            }
            _ => Ok(()),
        }
    }
}

/// Returns evidence of an MPI that other code, such as mpi4py, initialised in this process.
pub(super) fn initialized_elsewhere(libraries: &[PathBuf]) -> Option<Launch> {
    let begun = libraries.iter().find(|file| match abi::load(file) {
        Ok((library, MpiAbi::Mpich)) => {
            abi::mpich(library).is_ok_and(|mpi| is_known_initialized(&mpi))
        }
        Ok((library, MpiAbi::OpenMpi)) => {
            abi::open_mpi(library).is_ok_and(|mpi| is_known_initialized(&mpi))
        }
        Ok((library, MpiAbi::Standard)) => {
            abi::standard(library).is_ok_and(|mpi| is_known_initialized(&mpi))
        }
        Err(_) => false,
    })?;
    Some(Launch { evidence: format!("{} has been initialised", begun.display()), size: None })
}

fn is_known_initialized<H: MpiHandle>(mpi: &MpiLibrary<H>) -> bool {
    is_initialized(mpi).unwrap_or(false)
}

/// Returns whether MPI is initialised; an error if it is finalised, as it cannot restart.
fn is_initialized<H: MpiHandle>(mpi: &MpiLibrary<H>) -> Result<bool, FabricError> {
    let MpiFunctions { initialized, finalized, .. } = mpi.functions;
    // SAFETY: may be called at any time; the pointer is to an int.
    let ended = mpi.functions.call_int("MPI_Finalized", |out| unsafe { finalized(out) })?;
    if ended != 0 {
        return Err(finalized_error());
    }
    // SAFETY: may be called at any time; the pointer is to an int.
    Ok(mpi.functions.call_int("MPI_Initialized", |out| unsafe { initialized(out) })? != 0)
}

fn initialize_mpi<H: MpiHandle>(mpi: &MpiLibrary<H>) -> Result<(), FabricError> {
    let (init_thread, levels) = (mpi.functions.init_thread, mpi.constants.thread_levels);
    // A lower thread level than requested is accepted; see `allowed_callers`. SAFETY: MPI is not
    // initialised; null arguments are allowed since MPI-2.
    let begin = |provided| unsafe { init_thread(null_mut(), null_mut(), levels[3], provided) };
    mpi.functions.call_int("MPI_Init_thread", begin).map(drop)
}

/// Returns the threads that may call MPI; an error if the calling thread may not.
fn allowed_callers<H: MpiHandle>(mpi: &MpiLibrary<H>) -> Result<CallerThread, FabricError> {
    let MpiFunctions { query_thread, is_thread_main, .. } = mpi.functions;
    // SAFETY: MPI is initialised; the pointer is to an int.
    let provided =
        mpi.functions.call_int("MPI_Query_thread", |out| unsafe { query_thread(out) })?;
    let levels = mpi.constants.thread_levels;
    // The matcher's lock serialises all calls, so MPI_THREAD_SERIALIZED is sufficient.
    if provided >= levels[2] {
        return Ok(CallerThread::Any);
    }
    let level = if provided >= levels[1] { "MPI_THREAD_FUNNELED" } else { "MPI_THREAD_SINGLE" };
    // SAFETY: MPI is initialised; the pointer is to an int.
    let is_main =
        mpi.functions.call_int("MPI_Is_thread_main", |out| unsafe { is_thread_main(out) })?;
    match is_main {
        0 => Err(FabricError::ThreadLevel { level }),
        _ => Ok(CallerThread::One { thread: thread::current().id(), level }),
    }
}

fn duplicate_communicator<H: MpiHandle>(mpi: &MpiLibrary<H>, parent: H) -> Result<H, FabricError> {
    let (functions, constants) = (&mpi.functions, &mpi.constants);
    let mut communicator = H::NULL;
    // SAFETY: MPI is initialised, the communicator is valid, and the pointer is to a handle.
    let code = unsafe { (functions.comm_dup)(parent, &mut communicator) };
    functions.check("MPI_Comm_dup", code)?;
    // SAFETY: MPI_Comm_dup has just created the communicator.
    let code = unsafe { (functions.comm_set_errhandler)(communicator, constants.errors_return) };
    functions.check("MPI_Comm_set_errhandler", code)?;
    Ok(communicator)
}

/// Returns the rank in a communicator, and its size.
fn rank_and_size<H: MpiHandle>(
    mpi: &MpiLibrary<H>,
    communicator: H,
) -> Result<[u64; 2], FabricError> {
    let MpiFunctions { comm_rank, comm_size, .. } = mpi.functions;
    // SAFETY: MPI is initialised, the communicator is valid, and the pointer is to an int.
    let rank =
        mpi.functions.call_int("MPI_Comm_rank", |out| unsafe { comm_rank(communicator, out) })?;
    // SAFETY: MPI is initialised, the communicator is valid, and the pointer is to an int.
    let size =
        mpi.functions.call_int("MPI_Comm_size", |out| unsafe { comm_size(communicator, out) })?;
    Ok([rank as u64, size as u64])
}

/// Returns the rank among the ranks that share memory with this one, and their number.
fn node_rank_and_size<H: MpiHandle>(
    mpi: &MpiLibrary<H>,
    communicator: H,
) -> Result<[u64; 2], FabricError> {
    let (functions, constants) = (&mpi.functions, &mpi.constants);
    let (kind, info) = (constants.comm_type_shared, constants.info_null);
    let mut node = H::NULL;
    // SAFETY: MPI is initialised, the communicator is valid, and the pointer is to a handle.
    let code = unsafe { (functions.comm_split_type)(communicator, kind, 0, info, &mut node) };
    functions.check("MPI_Comm_split_type", code)?;
    let place = rank_and_size(mpi, node)?;
    // SAFETY: MPI_Comm_split_type has just created the communicator, and only this function has it.
    functions.check("MPI_Comm_free", unsafe { (functions.comm_free)(&mut node) })?;
    Ok(place)
}

fn finalized_error() -> FabricError {
    let text = "MPI has been finalised".to_string();
    FabricError::Mpi { function: "MPI_Finalized", code: 0, text }
}
