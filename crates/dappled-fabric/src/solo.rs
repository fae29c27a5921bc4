//! One rank, no MPI: it can only send to itself.

use crate::error::FabricError;
use crate::fabric::{Fabric, Pending, Receives, Sends};
use crate::header::Header;
use crate::notice::Notice;
use crate::payload::Payload;
use crate::settings::Settings;
use crate::stats::Stats;
use crate::tag::{Aspects, Place, Tag};
use crate::wire::{Message, Ticket, Wire};
use crate::wired::Wired;

/// The fabric of a process that is alone.
///
/// ```
/// use dappled_fabric::{Fabric, Solo, Tag};
/// let solo = Solo::default();
/// let received = solo.exchange(Tag::new(1, "here"), vec![(0, vec![5])], vec![(0, 1)])?;
/// assert_eq!(received, [[5]]);
/// # Ok::<(), dappled_fabric::FabricError>(())
/// ```
pub struct Solo(Wired<NoWire>);

struct NoWire;

impl Solo {
    /// One rank.
    pub fn new(settings: &Settings) -> Self {
        Self(Wired::new([0, 1, 1], "solo".into(), NoWire, settings))
    }
}

impl Default for Solo {
    fn default() -> Self {
        Self::new(&Settings::default())
    }
}

impl Fabric for Solo {
    fn rank(&self) -> u64 {
        0
    }

    fn size(&self) -> u64 {
        1
    }

    fn name(&self) -> &str {
        &self.0.name
    }

    fn start(&self, tag: Tag, sends: Sends, receives: Receives) -> Pending {
        self.0.start(tag, sends, receives)
    }

    fn note(&self, hash: u64, aspects: Aspects, place: Place) -> Tag {
        self.0.note(hash, aspects, place)
    }

    fn stats(&self) -> Stats {
        self.0.stats()
    }

    fn leave(&self, _: i32) -> Result<(), FabricError> {
        Ok(())
    }

    fn abort(&self, status: i32) -> ! {
        std::process::exit(status)
    }
}

/// The ledger keeps what a rank sends to itself, and there is nobody else.
impl Wire for NoWire {
    fn send(&mut self, peer: u64, _: Header, _: Payload) -> Result<Ticket, FabricError> {
        unreachable!("solo has no rank {peer}")
    }

    fn progress(&mut self) -> Result<(), FabricError> {
        Ok(())
    }

    fn is_sent(&self, _: Ticket) -> bool {
        true
    }

    fn is_moving(&self) -> bool {
        false
    }

    fn receive(&mut self, peer: u64, _: Option<u64>) -> Result<Option<Message>, FabricError> {
        unreachable!("solo has no rank {peer}")
    }

    fn has_left(&self, _: u64) -> bool {
        false
    }

    fn tell(&mut self, peer: u64, _: &Notice) -> Result<(), FabricError> {
        unreachable!("solo has no rank {peer}")
    }

    fn hear(&mut self) -> Result<Option<Notice>, FabricError> {
        Ok(None)
    }
}
