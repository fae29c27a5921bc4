//! Transport trait: nonblocking delivery of whole messages, in order.

use crate::divergence::control_message::ControlMessage;
use crate::error::FabricError;
use crate::header::MessageHeader;
use crate::payload::Payload;

/// A received message with its header.
#[derive(Debug)]
pub(crate) struct ReceivedMessage {
    pub header: MessageHeader,
    pub payload: Vec<u8>,
}

/// Identifies a send in progress; the first send of a rank is 1.
pub(crate) type SendId = u64;

/// Nonblocking transfer of whole messages between this rank and its peers, in sending order. No
/// method blocks, and `peer` is never this rank.
pub(crate) trait Transport: Send + 'static {
    /// Starts to send a message.
    fn send(
        &mut self,
        peer: u64,
        header: MessageHeader,
        payload: Payload,
    ) -> Result<SendId, FabricError>;

    /// Makes progress on the sends.
    fn progress(&mut self) -> Result<(), FabricError>;

    /// Returns whether the message has left this rank, so that its buffer is free.
    fn is_send_complete(&self, send_id: SendId) -> bool;

    /// Returns the next message of `peer` if it has arrived. With a known length, the receive
    /// buffer is posted in advance.
    fn receive(
        &mut self,
        peer: u64,
        expected: Option<u64>,
    ) -> Result<Option<ReceivedMessage>, FabricError>;

    /// Returns whether transfers are in progress that advance only while this rank polls.
    fn is_transferring(&self) -> bool;

    /// Returns whether `peer` will send nothing beyond the messages that have arrived.
    fn has_left(&self, peer: u64) -> bool;

    /// Sends a control message, which is received independently of ordinary messages.
    fn send_control(&mut self, peer: u64, message: &ControlMessage) -> Result<(), FabricError>;

    /// Returns a control message to this rank, if one has arrived.
    fn receive_control(&mut self) -> Result<Option<ControlMessage>, FabricError>;

    /// Returns whether all control messages of this rank have been sent.
    fn are_control_sends_complete(&self) -> bool {
        true
    }
}
