//! Fabric of a single process, without MPI: the only rank sends to itself.

use crate::config::FabricConfig;
use crate::divergence::control_message::ControlMessage;
use crate::error::FabricError;
use crate::fabric::{ExchangeRequest, Fabric, Receives, Sends};
use crate::header::MessageHeader;
use crate::payload::Payload;
use crate::stats::FabricStats;
use crate::tag::{FieldHashes, OperationLabel, Tag};
use crate::transport::{ReceivedMessage, SendId, Transport};
use crate::transport_fabric::TransportFabric;

/// Fabric with one rank.
///
/// ```
/// use dappled_fabric::{Fabric, Solo, Tag};
/// let solo = Solo::default();
/// let received = solo.exchange(Tag::new(1, "here"), vec![(0, vec![5])], vec![(0, 1)])?;
/// assert_eq!(received, [[5]]);
/// # Ok::<(), dappled_fabric::FabricError>(())
/// ```
pub struct Solo(TransportFabric<SoloTransport>);

struct SoloTransport;

impl Solo {
    /// Creates the fabric.
    pub fn new(config: &FabricConfig) -> Self {
        Self(TransportFabric::new([0, 1, 1], "solo".into(), SoloTransport, config))
    }
}

impl Default for Solo {
    fn default() -> Self {
        Self::new(&FabricConfig::default())
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

    fn start_exchange(&self, tag: Tag, sends: Sends, receives: Receives) -> ExchangeRequest {
        self.0.start_exchange(tag, sends, receives)
    }

    fn log_operation(&self, hash: u64, aspects: FieldHashes, place: OperationLabel) -> Tag {
        self.0.log_operation(hash, aspects, place)
    }

    fn stats(&self) -> FabricStats {
        self.0.stats()
    }

    fn leave(&self, _: i32) -> Result<(), FabricError> {
        Ok(())
    }

    fn abort(&self, status: i32) -> ! {
        std::process::exit(status)
    }
}

/// Transport without peers: the matcher handles messages of a rank to itself.
impl Transport for SoloTransport {
    fn send(&mut self, peer: u64, _: MessageHeader, _: Payload) -> Result<SendId, FabricError> {
        unreachable!("solo has no rank {peer}")
    }

    fn progress(&mut self) -> Result<(), FabricError> {
        Ok(())
    }

    fn is_send_complete(&self, _: SendId) -> bool {
        true
    }

    fn is_transferring(&self) -> bool {
        false
    }

    fn receive(
        &mut self,
        peer: u64,
        _: Option<u64>,
    ) -> Result<Option<ReceivedMessage>, FabricError> {
        unreachable!("solo has no rank {peer}")
    }

    fn has_left(&self, _: u64) -> bool {
        false
    }

    fn send_control(&mut self, peer: u64, _: &ControlMessage) -> Result<(), FabricError> {
        unreachable!("solo has no rank {peer}")
    }

    fn receive_control(&mut self) -> Result<Option<ControlMessage>, FabricError> {
        Ok(None)
    }
}
