//! Ranks and the bytes between them.
//!
//! *In:* bytes for other ranks, and how many are awaited from whom. *Out:* those bytes, in the
//! order asked for. The fabric knows no dtypes and no arrays.
//!
//! *Promised:* messages between two ranks keep their order; ranks that diverge are told so, by
//! an error that names both, instead of being given each other's bytes; no call blocks inside
//! MPI, and a wait that lasts too long says what it waits for; a rank that fails or leaves makes
//! all fail. The first error is the last: every later wait gives it again.
//!
//! ```text
//! fabric, collective   the trait, and what is written once for every fabric
//! tag, header          which operation a message belongs to, and how it says so
//! wired, ledger        who awaits what from whom: posts matched with messages, in order
//! logbook              the operations of a rank, by which those that diverged are found
//! aside, notice         what ranks say beside their messages
//! trouble              what went wrong, the same on every rank
//! memory               what messages used before
//! wire                 what one kind of fabric has to bring: whole messages, never blocking
//! solo, threads, mpi   one rank; N threads of one process; MPI, loaded at run time
//! suite                what every fabric passes
//! ```

#![deny(unsafe_code)]

mod aside;
mod collective;
mod error;
mod fabric;
mod header;
mod ledger;
mod logbook;
mod memory;
pub mod mpi;
mod notice;
mod patience;
mod payload;
mod settings;
mod solo;
mod stats;
pub mod suite;
mod tag;
mod threads;
mod trouble;
mod wire;
mod wired;

pub use error::FabricError;
pub use fabric::{Fabric, Pending, Receives, Sends, Waiting};
pub use header::Stamp;
pub use memory::{keep, memory, room};
pub use payload::Payload;
pub use settings::Settings;
pub use solo::Solo;
pub use stats::Stats;
pub use tag::{Aspects, Place, Tag};
pub use threads::Threads;

/// The fabric of this process: MPI where it was launched by MPI, [`Solo`] where not.
///
/// ```
/// let fabric = dappled_fabric::connect()?;
/// assert!(fabric.rank() < fabric.size());
/// # Ok::<(), dappled_fabric::FabricError>(())
/// ```
pub fn connect() -> Result<Box<dyn Fabric>, FabricError> {
    connect_with(&Settings::from_environment()?)
}

/// The same with settings of one's own.
pub fn connect_with(settings: &Settings) -> Result<Box<dyn Fabric>, FabricError> {
    match mpi::launched()? {
        Some(_) => mpi::connect_with(settings),
        None => Ok(Box::new(Solo::new(settings))),
    }
}
