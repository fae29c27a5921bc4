//! What can go wrong between ranks.

use crate::header::Stamp;

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
    /// A rank is gone and what is awaited from it will never come.
    #[error(
        "rank {rank} left after {} messages to rank {waiting}, which awaits {awaited}",
        awaited.sequence - 1
    )]
    Left {
        /// The rank that left.
        rank: u64,
        /// The rank that waits for it.
        waiting: u64,
        /// What it waits for.
        awaited: Box<Stamp>,
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
