//! What can go wrong between ranks.

use dappled_base::OutOfMemory;
use dappled_base::memory::REFUSED;

use crate::header::Stamp;
use crate::tag::Tag;

/// Why bytes did not arrive, and which ranks are concerned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FabricError {
    /// Two ranks do not run the same operations.
    #[error("ranks diverged: rank {rank} awaits {awaited}, but rank {peer} sent {found}")]
    Diverged {
        /// The rank that found it.
        rank: u64,
        /// The rank whose message it was.
        peer: u64,
        /// The operation that `rank` is in.
        awaited: Box<Stamp>,
        /// The operation that `peer` was in.
        found: Box<Stamp>,
    },
    /// A message of another length than was awaited.
    #[error(
        "rank {rank} awaits {awaited_bytes} bytes from rank {peer}, which sent {found_bytes}: {stamp}"
    )]
    Length {
        /// The rank that found it.
        rank: u64,
        /// The rank whose message it was.
        peer: u64,
        /// The length that `rank` expected.
        awaited_bytes: u64,
        /// The length that `peer` sent.
        found_bytes: u64,
        /// The message, on which both agree.
        stamp: Box<Stamp>,
    },
    /// Two ranks did different things: the first operation that differs.
    #[error(
        "ranks diverged at operation {}:\n  rank {}: {}\n  rank {}: {}",
        tags[0].number, ranks[0], tags[0].place, ranks[1], tags[1].place
    )]
    Parted {
        /// The ranks.
        ranks: [u64; 2],
        /// What each of them did.
        tags: Box<[Tag; 2]>,
    },
    /// A rank is gone and what is awaited from it will never come.
    #[error(
        "ranks diverged: rank {rank} left{}{}, but rank {waiting} is in {awaited}",
        said(*status), after(last)
    )]
    Left {
        /// The rank that left.
        rank: u64,
        /// The exit status with which it left, where that is known.
        status: i32,
        /// The last operation that it took part in, where that is known.
        last: Option<Box<Tag>>,
        /// A rank that goes on.
        waiting: u64,
        /// What it does.
        awaited: Box<Tag>,
    },
    /// Another rank can't go on.
    #[error("{}", if reason.is_empty() { format!("rank {rank} failed") } else { reason.clone() })]
    Failed {
        /// That rank.
        rank: u64,
        /// What it says about it.
        reason: String,
    },
    /// There is no memory for a message.
    #[error("{memory}, for a message from rank {peer}")]
    NoMemory {
        /// The rank that sent it.
        peer: u64,
        /// What was refused.
        memory: OutOfMemory,
    },
    /// MPI refused a call.
    #[error("{function} failed with code {code}: {text}")]
    Mpi {
        /// The MPI function.
        function: &'static str,
        /// What it returned.
        code: i32,
        /// What MPI says about it.
        text: String,
    },
    /// A thread wants to call MPI that may not, by the level of thread support.
    #[error(
        "MPI was initialised with {level}, under which only the thread that initialised it may call \
         MPI: use distributed arrays in that thread, or initialise MPI with MPI_THREAD_SERIALIZED or \
         MPI_THREAD_MULTIPLE (with mpi4py: mpi4py.rc.thread_level = 'serialized')"
    )]
    ThreadLevel {
        /// The level that MPI provides.
        level: &'static str,
    },
    /// Launched by MPI, but there is no MPI library to load.
    #[error("launched by MPI, but no MPI library could be loaded; tried {}", tried.join(", "))]
    NoLibrary {
        /// What was tried, in order, and why it was refused.
        tried: Vec<String>,
    },
    /// The launcher and the library are not of the same MPI: every rank would think it is alone.
    #[error(
        "the launcher says {environment}, but {library}: mpiexec and the MPI library do not belong together"
    )]
    WrongLauncher {
        /// What the environment says about the number of ranks.
        environment: String,
        /// What the library says about it.
        library: String,
    },
    /// A setting that cannot be read.
    #[error("{name}={value}: expected {expected}")]
    Setting {
        /// The environment variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// What would have been right.
        expected: &'static str,
    },
}

impl FabricError {
    /// The ranks that should say it, where all know the same: once is enough. None: all of them.
    pub fn speakers(&self) -> Option<&[u64]> {
        match self {
            Self::Parted { ranks, .. } => Some(ranks),
            Self::Left { waiting, .. } => Some(std::slice::from_ref(waiting)),
            _ => None,
        }
    }

    /// Was memory refused, on this rank or on another?
    pub fn is_memory(&self) -> bool {
        match self {
            Self::NoMemory { .. } => true,
            Self::Failed { reason, .. } => is_refusal(reason),
            _ => false,
        }
    }

    /// A rank left, and nothing more is known of it.
    pub(crate) fn left(rank: u64, waiting: u64, awaited: Tag) -> Self {
        Self::Left { rank, status: 0, last: None, waiting, awaited: awaited.into() }
    }
}

/// Does a rank say of itself that memory was refused?
pub(crate) fn is_refusal(reason: &str) -> bool {
    reason.contains(REFUSED)
}

fn said(status: i32) -> String {
    match status {
        0 => String::new(),
        _ => format!(" with exit status {status}"),
    }
}

fn after(last: &Option<Box<Tag>>) -> String {
    last.as_ref().map_or(String::new(), |tag| format!(" after {tag}"))
}
