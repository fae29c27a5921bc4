//! MPI begun, the communicator, MPI ended.

use std::ffi::c_int;
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use super::abi::{self, Abi, Handle, Mpi};
use super::functions::Functions;
use super::launch::Launch;
use crate::error::FabricError;

/// MPI, begun, and this rank's place in it.
pub(super) struct Session<H> {
    pub mpi: Mpi<H>,
    /// Ours alone: a duplicate, so that no message of the program's meets ours.
    pub communicator: H,
    pub rank: u64,
    pub size: u64,
    pub node_rank: u64,
    pub node_size: u64,
    pub name: String,
    ours_to_end: bool,
    over: AtomicBool,
    caller: Caller,
}

/// Which threads may call MPI.
enum Caller {
    /// Any, one at a time.
    Any,
    /// The one that initialised MPI, whose level of thread support is lower.
    One { thread: ThreadId, level: &'static str },
}

/// Hydra drops what a rank wrote and it has not read when that rank aborts. This gives it the
/// time to read why.
const LAST_WORDS: Duration = Duration::from_millis(100);

impl<H: Handle> Session<H> {
    /// Begins MPI, unless somebody has, on a duplicate of this communicator, or of the world's.
    pub fn begin(mpi: Mpi<H>, given: Option<H>) -> Result<Self, FabricError> {
        let ours_to_end = !is_begun(&mpi)?;
        if ours_to_end {
            init(&mpi)?;
        }
        let caller = caller(&mpi)?;
        let communicator = duplicate(&mpi, given.unwrap_or(mpi.constants.comm_world))?;
        let [rank, size] = place_in(&mpi, communicator)?;
        let [node_rank, node_size] = place_on_node(&mpi, communicator)?;
        let (name, over) = (mpi.functions.version(), false.into());
        Ok(Self {
            mpi,
            communicator,
            rank,
            size,
            node_rank,
            node_size,
            name,
            ours_to_end,
            over,
            caller,
        })
    }

    /// Is there a message of this rank under this tag?
    pub fn is_there(&self, peer: u64, tag: c_int) -> Result<bool, FabricError> {
        let (iprobe, peer) = (self.mpi.functions.iprobe, peer as c_int);
        let ignore = self.mpi.constants.status_ignore as *mut _;
        // SAFETY: MPI is begun, not ended; the ABI's own word for "no status".
        let probe = |found| unsafe { iprobe(peer, tag, self.communicator, found, ignore) };
        Ok(self.mpi.functions.number("MPI_Iprobe", probe)? != 0)
    }

    /// Ends MPI, if this session began it. Waits for all ranks to end it.
    pub fn end(&self) -> Result<(), FabricError> {
        if self.over.swap(true, Ordering::AcqRel) || !self.ours_to_end {
            return Ok(());
        }
        // MPI asks for the thread that began it; where that is another one, MPI is left as it is.
        self.check_thread()?;
        // SAFETY: begun by us, ended once; `check_open` keeps every later call away.
        self.mpi.functions.check("MPI_Finalize", unsafe { (self.mpi.functions.finalize)() })
    }

    /// Ends the processes of all ranks.
    pub fn abort(&self, status: i32) -> ! {
        if !self.over.load(Ordering::Acquire) {
            std::thread::sleep(LAST_WORDS);
            // SAFETY: MPI is begun, not ended, and may be aborted from any thread.
            unsafe { (self.mpi.functions.abort)(self.mpi.constants.comm_world, status) };
        }
        std::process::exit(status)
    }

    /// After the end no message moves, and none moves in a thread that may not call MPI.
    pub fn check_open(&self) -> Result<(), FabricError> {
        match self.over.load(Ordering::Acquire) {
            false => self.check_thread(),
            true => Err(over()),
        }
    }

    /// May this thread call MPI?
    pub fn check_thread(&self) -> Result<(), FabricError> {
        match self.caller {
            Caller::One { thread, level } if thread::current().id() != thread => {
                Err(FabricError::ThreadLevel { level })
            }
            _ => Ok(()),
        }
    }
}

/// An MPI that somebody else, mpi4py for one, has begun in this process.
pub(super) fn begun_by_others(libraries: &[PathBuf]) -> Option<Launch> {
    let begun = libraries.iter().find(|file| match abi::open(file) {
        Ok((library, Abi::Mpich)) => abi::mpich(library).is_ok_and(|mpi| is_running(&mpi)),
        Ok((library, Abi::OpenMpi)) => abi::open_mpi(library).is_ok_and(|mpi| is_running(&mpi)),
        Ok((library, Abi::Standard)) => abi::standard(library).is_ok_and(|mpi| is_running(&mpi)),
        Err(_) => false,
    })?;
    Some(Launch { evidence: format!("{} has been initialised", begun.display()), size: None })
}

fn is_running<H: Handle>(mpi: &Mpi<H>) -> bool {
    is_begun(mpi).unwrap_or(false)
}

/// Has MPI been begun? An error if it has been ended, for it cannot be begun again.
fn is_begun<H: Handle>(mpi: &Mpi<H>) -> Result<bool, FabricError> {
    let Functions { initialized, finalized, .. } = mpi.functions;
    // SAFETY: may be called at any time; the pointer is to an int.
    let ended = mpi.functions.number("MPI_Finalized", |out| unsafe { finalized(out) })?;
    if ended != 0 {
        return Err(over());
    }
    // SAFETY: as above.
    Ok(mpi.functions.number("MPI_Initialized", |out| unsafe { initialized(out) })? != 0)
}

fn init<H: Handle>(mpi: &Mpi<H>) -> Result<(), FabricError> {
    let (init_thread, levels) = (mpi.functions.init_thread, mpi.constants.thread_levels);
    // A lower level than asked for will do: see `caller`.
    // SAFETY: MPI is not begun; null arguments are allowed since MPI-2.
    let begin = |provided| unsafe { init_thread(null_mut(), null_mut(), levels[3], provided) };
    mpi.functions.number("MPI_Init_thread", begin).map(drop)
}

/// Which threads may call MPI, once it is begun, by us or by somebody else. An error if this one may not.
fn caller<H: Handle>(mpi: &Mpi<H>) -> Result<Caller, FabricError> {
    let Functions { query_thread, is_thread_main, .. } = mpi.functions;
    // SAFETY: MPI is begun; the pointer is to an int.
    let provided = mpi.functions.number("MPI_Query_thread", |out| unsafe { query_thread(out) })?;
    let levels = mpi.constants.thread_levels;
    // Messages are moved by one thread at a time: MPI_THREAD_SERIALIZED is enough.
    if provided >= levels[2] {
        return Ok(Caller::Any);
    }
    let level = if provided >= levels[1] { "MPI_THREAD_FUNNELED" } else { "MPI_THREAD_SINGLE" };
    // SAFETY: as above.
    let is_main =
        mpi.functions.number("MPI_Is_thread_main", |out| unsafe { is_thread_main(out) })?;
    match is_main {
        0 => Err(FabricError::ThreadLevel { level }),
        _ => Ok(Caller::One { thread: thread::current().id(), level }),
    }
}

fn duplicate<H: Handle>(mpi: &Mpi<H>, given: H) -> Result<H, FabricError> {
    let (functions, constants) = (&mpi.functions, &mpi.constants);
    let mut communicator = H::NONE;
    // SAFETY: MPI is begun, the communicator is valid; the pointer is to a handle.
    let code = unsafe { (functions.comm_dup)(given, &mut communicator) };
    functions.check("MPI_Comm_dup", code)?;
    // SAFETY: the communicator was just made.
    let code = unsafe { (functions.comm_set_errhandler)(communicator, constants.errors_return) };
    functions.check("MPI_Comm_set_errhandler", code)?;
    Ok(communicator)
}

/// The rank in a communicator, and its size.
fn place_in<H: Handle>(mpi: &Mpi<H>, communicator: H) -> Result<[u64; 2], FabricError> {
    let Functions { comm_rank, comm_size, .. } = mpi.functions;
    // SAFETY: MPI is begun, the communicator is valid, the pointer is to an int.
    let rank =
        mpi.functions.number("MPI_Comm_rank", |out| unsafe { comm_rank(communicator, out) })?;
    // SAFETY: as above.
    let size =
        mpi.functions.number("MPI_Comm_size", |out| unsafe { comm_size(communicator, out) })?;
    Ok([rank as u64, size as u64])
}

/// The rank among those that share memory with this one, and how many they are.
fn place_on_node<H: Handle>(mpi: &Mpi<H>, communicator: H) -> Result<[u64; 2], FabricError> {
    let (functions, constants) = (&mpi.functions, &mpi.constants);
    let (kind, info) = (constants.comm_type_shared, constants.info_null);
    let mut node = H::NONE;
    // SAFETY: MPI is begun, the communicator is valid; the pointer is to a handle.
    let code = unsafe { (functions.comm_split_type)(communicator, kind, 0, info, &mut node) };
    functions.check("MPI_Comm_split_type", code)?;
    let place = place_in(mpi, node)?;
    // SAFETY: the communicator was just made, and nobody else has it.
    functions.check("MPI_Comm_free", unsafe { (functions.comm_free)(&mut node) })?;
    Ok(place)
}

fn over() -> FabricError {
    let text = "MPI has been finalised".to_string();
    FabricError::Mpi { function: "MPI_Finalized", code: 0, text }
}
