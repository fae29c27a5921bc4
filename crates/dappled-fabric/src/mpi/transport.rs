//! Transport over MPI: an envelope, followed by a body for long payloads.
//!
//! An envelope holds the header and a short payload (eager protocol). A longer payload follows as a
//! body with its own tag. If the length is known in advance, the receive of the body is posted
//! early, so that MPI need not buffer it. A body is only used after its envelope has confirmed the
//! length, so no message is ever truncated, whatever the ranks disagree about. Messages of each tag
//! keep their order.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::Arc;

use super::abi::MpiHandle;
use super::in_flight::{InFlight, MessageRoute};
use super::runtime::MpiRuntime;
use crate::config::{EAGER_BYTES, MAX_MESSAGE_BYTES, PROBED_RANKS};
use crate::divergence::control_message::ControlMessage;
use crate::error::FabricError;
use crate::header::MessageHeader;
use crate::message_pool::{keep, take_buffer, try_take_buffer};
use crate::payload::Payload;
use crate::transport::{ReceivedMessage, SendId, Transport};

const ENVELOPE_TAG: c_int = 1;
const BODY_TAG: c_int = 2;
const CONTROL_TAG: c_int = 3;

const MAX_ENVELOPE_BYTES: usize = MessageHeader::ENCODED_BYTES + EAGER_BYTES;

pub(super) struct MpiTransport<H: MpiHandle> {
    runtime: Arc<MpiRuntime<H>>,
    max_message_bytes: usize,
    outgoing: BTreeMap<SendId, Vec<InFlight<H>>>,
    incoming: BTreeMap<u64, IncomingMessage<H>>,
    next_send_id: SendId,
    /// Sends of control messages in progress.
    control_sends: Vec<InFlight<H>>,
    /// The receive of a control message in progress.
    control_receive: Option<InFlight<H>>,
    /// The rank that was probed last for control messages.
    last_probed: u64,
}

/// The state of the next message from a peer.
struct IncomingMessage<H: MpiHandle> {
    envelope: InFlight<H>,
    /// The header, once the envelope has arrived.
    header: Option<Box<MessageHeader>>,
    /// The receive of the body, with the length of its buffer.
    body: Option<(u64, InFlight<H>)>,
}

impl<H: MpiHandle> MpiTransport<H> {
    pub fn new(runtime: Arc<MpiRuntime<H>>, piece: usize) -> Self {
        let (outgoing, incoming, next_ticket) = Default::default();
        let (control_sends, control_receive, last_probed) = Default::default();
        let piece = piece.clamp(1, MAX_MESSAGE_BYTES);
        Self {
            runtime,
            max_message_bytes: piece,
            outgoing,
            incoming,
            next_send_id: next_ticket,
            control_sends,
            control_receive,
            last_probed,
        }
    }

    fn envelope_route(&self, peer: u64) -> MessageRoute {
        MessageRoute { peer: peer as c_int, tag: ENVELOPE_TAG, max_bytes: MAX_ENVELOPE_BYTES }
    }

    fn body_route(&self, peer: u64) -> MessageRoute {
        MessageRoute { peer: peer as c_int, tag: BODY_TAG, max_bytes: self.max_message_bytes }
    }

    fn control_route(&self, peer: u64) -> MessageRoute {
        MessageRoute { peer: peer as c_int, tag: CONTROL_TAG, max_bytes: ControlMessage::MAX_BYTES }
    }

    /// Returns a rank with a control message for this one, among the next few ranks. Each
    /// rank is probed by itself: a receive from MPI_ANY_SOURCE may never complete in MPICH 5.0.2 if
    /// ranks are on several nodes.
    fn probe_control(&mut self) -> Result<Option<u64>, FabricError> {
        for _ in 0..self.runtime.size.min(PROBED_RANKS) {
            self.last_probed = (self.last_probed + 1) % self.runtime.size;
            if self.last_probed != self.runtime.rank
                && self.runtime.has_message(self.last_probed, CONTROL_TAG)?
            {
                return Ok(Some(self.last_probed));
            }
        }
        Ok(None)
    }

    fn start_receive(
        &self,
        peer: u64,
        expected: Option<u64>,
    ) -> Result<IncomingMessage<H>, FabricError> {
        let envelope = InFlight::receive(
            &self.runtime,
            take_buffer(MAX_ENVELOPE_BYTES),
            self.envelope_route(peer),
        )?;
        let long = expected.filter(|&bytes| bytes > EAGER_BYTES as u64);
        let body = long.map(|bytes| self.start_body_receive(peer, bytes)).transpose()?;
        Ok(IncomingMessage { envelope, header: None, body })
    }

    fn start_body_receive(&self, peer: u64, bytes: u64) -> Result<(u64, InFlight<H>), FabricError> {
        let refused = |memory| FabricError::OutOfMemory { peer, memory };
        let room = try_take_buffer(bytes as usize).map_err(refused)?;
        Ok((bytes, InFlight::receive(&self.runtime, room, self.body_route(peer))?))
    }

    /// Makes progress; returns whether the whole message has arrived.
    fn is_complete(
        &self,
        peer: u64,
        incoming: &mut IncomingMessage<H>,
    ) -> Result<bool, FabricError> {
        if incoming.header.is_none() {
            let Some(bytes) = incoming.envelope.completed_bytes()? else { return Ok(false) };
            let header = MessageHeader::decode(bytes);
            if header.bytes > EAGER_BYTES as u64 && incoming.body.is_none() {
                incoming.body = Some(self.start_body_receive(peer, header.bytes)?);
            }
            incoming.header = Some(Box::new(header));
        }
        match (&incoming.header, &mut incoming.body) {
            // An unexpected message: its header suffices to report it.
            (Some(header), Some((room, _))) if header.bytes != *room => Ok(true),
            (_, Some((_, body))) => body.is_complete(),
            (_, None) => Ok(true),
        }
    }
}

impl<H: MpiHandle> IncomingMessage<H> {
    /// Returns the message, which must have arrived completely.
    fn into_message(self) -> ReceivedMessage {
        let header = *self.header.expect("the envelope is here");
        let payload = match self.body {
            Some((room, body)) if header.bytes == room => body.into_bytes(),
            Some(_) => Vec::new(),
            None => {
                let envelope = self.envelope.into_bytes();
                let length = header.bytes as usize;
                let payload = envelope
                    [MessageHeader::ENCODED_BYTES..MessageHeader::ENCODED_BYTES + length]
                    .to_vec();
                keep(envelope);
                payload
            }
        };
        ReceivedMessage { header, payload }
    }
}

impl<H: MpiHandle> Transport for MpiTransport<H> {
    fn send(
        &mut self,
        peer: u64,
        header: MessageHeader,
        payload: Payload,
    ) -> Result<SendId, FabricError> {
        self.runtime.check_open()?;
        let mut envelope = header.encode().to_vec();
        let mut transfers = Vec::with_capacity(2);
        if payload.as_ref().len() <= EAGER_BYTES {
            envelope.extend(payload.as_ref());
            transfers.push(InFlight::send(
                &self.runtime,
                envelope.into(),
                self.envelope_route(peer),
            )?);
        } else {
            transfers.push(InFlight::send(
                &self.runtime,
                envelope.into(),
                self.envelope_route(peer),
            )?);
            transfers.push(InFlight::send(&self.runtime, payload, self.body_route(peer))?);
        }
        self.next_send_id += 1;
        self.outgoing.insert(self.next_send_id, transfers);
        Ok(self.next_send_id)
    }

    fn progress(&mut self) -> Result<(), FabricError> {
        self.runtime.check_open()?;
        let mut result = Ok(());
        self.outgoing.retain(|_, transfers| {
            drop_completed(transfers).unwrap_or_else(|error| result = Err(error));
            !transfers.is_empty()
        });
        result
    }

    fn is_send_complete(&self, send_id: SendId) -> bool {
        !self.outgoing.contains_key(&send_id)
    }

    fn is_transferring(&self) -> bool {
        !self.outgoing.is_empty() || self.incoming.values().any(|next| next.header.is_some())
    }

    fn receive(
        &mut self,
        peer: u64,
        expected: Option<u64>,
    ) -> Result<Option<ReceivedMessage>, FabricError> {
        self.runtime.check_open()?;
        let mut incoming = match self.incoming.remove(&peer) {
            Some(incoming) => incoming,
            None => self.start_receive(peer, expected)?,
        };
        if self.is_complete(peer, &mut incoming)? {
            return Ok(Some(incoming.into_message()));
        }
        self.incoming.insert(peer, incoming);
        Ok(None)
    }

    /// A leaving rank says so in a goodbye message.
    fn has_left(&self, _: u64) -> bool {
        false
    }

    fn send_control(&mut self, peer: u64, message: &ControlMessage) -> Result<(), FabricError> {
        self.runtime.check_open()?;
        let transfer =
            InFlight::send(&self.runtime, message.encode().into(), self.control_route(peer))?;
        self.control_sends.push(transfer);
        Ok(())
    }

    fn receive_control(&mut self) -> Result<Option<ControlMessage>, FabricError> {
        self.runtime.check_open()?;
        drop_completed(&mut self.control_sends)?;
        if self.control_receive.is_none()
            && let Some(peer) = self.probe_control()?
        {
            let from = self.control_route(peer);
            self.control_receive = Some(InFlight::receive(
                &self.runtime,
                take_buffer(ControlMessage::MAX_BYTES),
                from,
            )?);
        }
        match self.control_receive.take() {
            None => Ok(None),
            Some(mut transfer) => match transfer.is_complete()? {
                true => Ok(ControlMessage::decode(&transfer.into_bytes())),
                false => {
                    self.control_receive = Some(transfer);
                    Ok(None)
                }
            },
        }
    }

    fn are_control_sends_complete(&self) -> bool {
        self.control_sends.is_empty()
    }
}

/// Removes the completed transfers.
fn drop_completed<H: MpiHandle>(transfers: &mut Vec<InFlight<H>>) -> Result<(), FabricError> {
    let mut result = Ok(());
    transfers.retain_mut(|transfer| match transfer.is_complete() {
        Ok(done) => !done,
        Err(error) => {
            result = Err(error);
            true
        }
    });
    result
}
