//! Ranks and the messages between them.
//!
//! Input: byte payloads for other ranks, and the number of bytes expected from each. Output: the
//! received bytes, in posting order. The crate knows no dtypes and no arrays.
//!
//! Guarantees: messages between two ranks keep their order. Ranks that diverge get an error that
//! names both operations, never each other's bytes. No call blocks inside MPI, and a wait that
//! lasts too long reports what it waits for. A rank that fails or leaves makes all ranks fail. The
//! first error is final: every later wait returns it again.
//!
//! ```text
//! config                           environment variables, settings, thresholds
//! fabric, collective               the trait, and the collectives built on its exchanges
//! tag, header, payload             what a message carries: operation, id, bytes
//! transport, transport_fabric      the interface of an implementation; the fabric on top of it
//! matching                         assigns incoming messages to posted receives
//! divergence                       detects ranks that diverge or fail; agrees on one error
//! backoff, message_pool, stats     waiting, buffers, counters
//! solo, threads, mpi               one rank; N threads of one process; MPI, loaded at run time
//! conformance                      checks that every implementation passes
//! ```

#![deny(unsafe_code)]

mod backoff;
mod collective;
mod config;
pub mod conformance;
mod divergence;
mod error;
mod fabric;
mod header;
mod matching;
mod message_pool;
pub mod mpi;
mod payload;
mod solo;
mod stats;
mod tag;
mod threads;
mod transport;
mod transport_fabric;

pub use config::FabricConfig;
pub use error::FabricError;
pub use fabric::{ExchangeRequest, Fabric, Receives, RequestProgress, Sends};
pub use message_pool::{keep, take_buffer, take_empty_buffer};
pub use payload::Payload;
pub use solo::Solo;
pub use stats::FabricStats;
pub use tag::{FieldHashes, MessageId, OperationLabel, Tag};
pub use threads::Threads;

/// Connects to the fabric of this process: MPI if MPI launched it, else [`Solo`].
///
/// ```
/// let fabric = dappled_fabric::connect()?;
/// assert!(fabric.rank() < fabric.size());
/// # Ok::<(), dappled_fabric::FabricError>(())
/// ```
pub fn connect() -> Result<Box<dyn Fabric>, FabricError> {
    connect_with(&FabricConfig::from_environment()?)
}

/// Connects to the fabric of this process with the given settings.
pub fn connect_with(config: &FabricConfig) -> Result<Box<dyn Fabric>, FabricError> {
    match mpi::detect_launch()? {
        Some(_) => mpi::connect_with(config),
        None => Ok(Box::new(Solo::new(config))),
    }
}
