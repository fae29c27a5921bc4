//! What one kind of fabric has to bring: whole messages, in order, without blocking.

use crate::error::FabricError;
use crate::header::Header;
use crate::notice::Notice;
use crate::payload::Payload;

/// A message that came, with its header.
#[derive(Debug)]
pub(crate) struct Message {
    pub header: Header,
    pub payload: Vec<u8>,
}

/// A message on its way: the first, the second, … that this rank sent.
pub(crate) type Ticket = u64;

/// Whole messages between this rank and others, in the order in which they were sent. No method
/// blocks, and none is ever given this rank itself as the peer.
pub(crate) trait Wire: Send + 'static {
    /// Starts sending.
    fn send(&mut self, peer: u64, header: Header, payload: Payload) -> Result<Ticket, FabricError>;

    /// Moves messages on.
    fn progress(&mut self) -> Result<(), FabricError>;

    /// Has the receiver, or the fabric, taken the message?
    fn is_sent(&self, ticket: Ticket) -> bool;

    /// The next message of `peer`, if it is here; where so many bytes are expected, room is made for
    /// them beforehand.
    fn receive(&mut self, peer: u64, expected: Option<u64>)
    -> Result<Option<Message>, FabricError>;

    /// Are bytes on their way that move only while this rank polls?
    fn is_moving(&self) -> bool;

    /// Will nothing more come from `peer` than what is here?
    fn has_left(&self, peer: u64) -> bool;

    /// Says something aside: it goes past all messages, and nobody has to ask for it.
    fn tell(&mut self, peer: u64, notice: &Notice) -> Result<(), FabricError>;

    /// Something that was said aside to this rank, if there is any.
    fn hear(&mut self) -> Result<Option<Notice>, FabricError>;

    /// Has the fabric, or the receiver, taken all that this rank said aside?
    fn is_heard(&self) -> bool {
        true
    }
}
