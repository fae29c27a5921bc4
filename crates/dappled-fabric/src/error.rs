//! Communication errors.

use dappled_base::OutOfMemory;
use dappled_base::memory::OUT_OF_MEMORY_PREFIX;

use crate::tag::{MessageId, Tag};

/// A communication error, with the ranks involved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FabricError {
    /// Two ranks run different operations.
    #[error("ranks diverged: rank {rank} expects {expected}, but rank {peer} sent {received}")]
    Diverged {
        /// The rank that detected the divergence.
        rank: u64,
        /// The rank that sent the message.
        peer: u64,
        /// The message that `rank` expects.
        expected: Box<MessageId>,
        /// The message that `peer` sent.
        received: Box<MessageId>,
    },
    /// A message has another length than expected.
    #[error(
        "rank {rank} expects {expected_bytes} bytes from rank {peer}, which sent {received_bytes}: {id}"
    )]
    LengthMismatch {
        /// The rank that received the message.
        rank: u64,
        /// The rank that sent the message.
        peer: u64,
        /// The length that `rank` expected, in bytes.
        expected_bytes: u64,
        /// The length that `peer` sent, in bytes.
        received_bytes: u64,
        /// The message.
        id: Box<MessageId>,
    },
    /// The operation logs of two ranks differ; carries the first difference.
    #[error(
        "ranks diverged at operation {}:\n  rank {}: {}\n  rank {}: {}",
        tags[0].sequence_number, ranks[0], tags[0].label, ranks[1], tags[1].label
    )]
    OperationsDiffer {
        /// The two ranks.
        ranks: [u64; 2],
        /// The operation of each of them.
        tags: Box<[Tag; 2]>,
    },
    /// A rank has left, so a message expected from it will never arrive.
    #[error(
        "ranks diverged: rank {rank} left{}{}, but rank {waiting} is in {operation}",
        status_text(*status), last_operation_text(last)
    )]
    Left {
        /// The rank that left.
        rank: u64,
        /// Its exit status; 0 if unknown.
        status: i32,
        /// The last operation of that rank, if known.
        last: Option<Box<Tag>>,
        /// A rank that continued.
        waiting: u64,
        /// The operation of the rank that continued.
        operation: Box<Tag>,
    },
    /// Another rank cannot continue.
    #[error("{}", if reason.is_empty() { format!("rank {rank} failed") } else { reason.clone() })]
    Failed {
        /// The rank that failed.
        rank: u64,
        /// The error of that rank; empty if unknown.
        reason: String,
    },
    /// Allocating the buffer of a message failed.
    #[error("{memory}, for a message from rank {peer}")]
    OutOfMemory {
        /// The rank that sent the message.
        peer: u64,
        /// The failed allocation.
        memory: OutOfMemory,
    },
    /// An MPI call returned an error.
    #[error("{function} failed with code {code}: {text}")]
    Mpi {
        /// The MPI function.
        function: &'static str,
        /// The error code.
        code: i32,
        /// The error string of MPI.
        text: String,
    },
    /// The calling thread may not call MPI at the provided thread support level.
    #[error(
        "MPI was initialised with {level}, under which only the thread that initialised it may call \
         MPI: use distributed arrays in that thread, or initialise MPI with MPI_THREAD_SERIALIZED or \
         MPI_THREAD_MULTIPLE (with mpi4py: mpi4py.rc.thread_level = 'serialized')"
    )]
    ThreadLevel {
        /// The thread level that MPI provides.
        level: &'static str,
    },
    /// The process was launched by MPI, but no MPI library can be loaded.
    #[error("launched by MPI, but no MPI library could be loaded; tried {}", tried.join(", "))]
    LibraryNotFound {
        /// The files tried, in order, each with its load error.
        tried: Vec<String>,
    },
    /// The launcher and the library belong to different MPI implementations, so that every process
    /// would be rank 0 of 1.
    #[error(
        "the launcher says {environment}, but {library}: mpiexec and the MPI library belong to different MPI installations; set DAPPLED_MPI_LIBRARY to the library of this mpiexec"
    )]
    LauncherMismatch {
        /// The number of ranks according to the environment.
        environment: String,
        /// The number of ranks according to the library.
        library: String,
    },
    /// An environment variable has an invalid value.
    #[error("{name}={value}: expected {expected}")]
    InvalidSetting {
        /// The environment variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        expected: &'static str,
    },
}

impl FabricError {
    /// Returns the ranks that should print an error known to all; None means every rank.
    pub fn reporting_ranks(&self) -> Option<&[u64]> {
        match self {
            Self::OperationsDiffer { ranks, .. } => Some(ranks),
            Self::Left { waiting, .. } => Some(std::slice::from_ref(waiting)),
            _ => None,
        }
    }

    /// Returns whether an allocation failed, on this rank or on another.
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            Self::OutOfMemory { .. } => true,
            Self::Failed { reason, .. } => is_out_of_memory_reason(reason),
            _ => false,
        }
    }

    /// Creates the error for a rank that left with unknown exit status.
    pub(crate) fn left(rank: u64, waiting: u64, operation: Tag) -> Self {
        Self::Left { rank, status: 0, last: None, waiting, operation: operation.into() }
    }
}

/// Returns whether the reason given by a rank is a failed allocation.
pub(crate) fn is_out_of_memory_reason(reason: &str) -> bool {
    reason.contains(OUT_OF_MEMORY_PREFIX)
}

fn status_text(status: i32) -> String {
    match status {
        0 => String::new(),
        _ => format!(" with exit status {status}"),
    }
}

fn last_operation_text(last: &Option<Box<Tag>>) -> String {
    last.as_ref().map_or(String::new(), |tag| format!(" after {tag}"))
}
