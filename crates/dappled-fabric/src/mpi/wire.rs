//! Whole messages over MPI: an envelope, and a body where it does not fit.
//!
//! An envelope is the header and, if it is short, the payload. What is longer follows as a body,
//! under a tag of its own. Where its length is expected it has its place before it comes, and MPI
//! need not put it aside; but no body is looked at before its envelope has told that it is as long:
//! so no message is ever cut off, whatever the ranks disagree about. Both tags keep their order.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::Arc;

use super::abi::Handle;
use super::flight::{Flight, Route};
use super::session::Session;
use crate::error::FabricError;
use crate::header::Header;
use crate::memory::{keep, memory, try_memory};
use crate::notice::Notice;
use crate::payload::Payload;
use crate::wire::{Message, Ticket, Wire};

const ENVELOPE: c_int = 1;
const BODY: c_int = 2;
const ASIDE: c_int = 3;

/// So many ranks are asked at a time whether they have said anything.
const ASKED: u64 = 16;

/// The longest payload in an envelope: copied twice, but one message instead of two.
const SHORT: usize = 4 << 10;
const LONGEST_ENVELOPE: usize = Header::BYTES + SHORT;

/// MPI counts with ints.
const LONGEST_PIECE: usize = 1 << 30;

pub(super) struct MpiWire<H: Handle> {
    session: Arc<Session<H>>,
    piece: usize,
    outgoing: BTreeMap<Ticket, Vec<Flight<H>>>,
    incoming: BTreeMap<u64, Incoming<H>>,
    next_ticket: Ticket,
    /// What was said aside, until MPI has sent it.
    told: Vec<Flight<H>>,
    /// What is being heard.
    hearing: Option<Flight<H>>,
    /// The rank that was asked last whether it has said anything.
    turn: u64,
}

/// How far the next message of a peer has come.
struct Incoming<H: Handle> {
    envelope: Flight<H>,
    /// What the envelope said, once it is here.
    header: Option<Box<Header>>,
    /// With the length that it has room for.
    body: Option<(u64, Flight<H>)>,
}

impl<H: Handle> MpiWire<H> {
    pub fn new(session: Arc<Session<H>>, piece: usize) -> Self {
        let (outgoing, incoming, next_ticket) = Default::default();
        let (told, hearing, turn) = Default::default();
        let piece = piece.clamp(1, LONGEST_PIECE);
        Self { session, piece, outgoing, incoming, next_ticket, told, hearing, turn }
    }

    fn envelopes(&self, peer: u64) -> Route {
        Route { peer: peer as c_int, tag: ENVELOPE, piece: LONGEST_ENVELOPE }
    }

    fn bodies(&self, peer: u64) -> Route {
        Route { peer: peer as c_int, tag: BODY, piece: self.piece }
    }

    fn asides(&self, peer: u64) -> Route {
        Route { peer: peer as c_int, tag: ASIDE, piece: Notice::LONGEST }
    }

    /// A rank that has said something aside, among the next few in turn. Each is asked for itself:
    /// MPICH 5.0.2 may never end a receive from anybody where ranks are on several nodes.
    fn speaker(&mut self) -> Result<Option<u64>, FabricError> {
        for _ in 0..self.session.size.min(ASKED) {
            self.turn = (self.turn + 1) % self.session.size;
            if self.turn != self.session.rank && self.session.is_there(self.turn, ASIDE)? {
                return Ok(Some(self.turn));
            }
        }
        Ok(None)
    }

    fn start_receiving(
        &self,
        peer: u64,
        expected: Option<u64>,
    ) -> Result<Incoming<H>, FabricError> {
        let envelope =
            Flight::receive(&self.session, memory(LONGEST_ENVELOPE), self.envelopes(peer))?;
        let long = expected.filter(|&bytes| bytes > SHORT as u64);
        let body = long.map(|bytes| self.start_body(peer, bytes)).transpose()?;
        Ok(Incoming { envelope, header: None, body })
    }

    fn start_body(&self, peer: u64, bytes: u64) -> Result<(u64, Flight<H>), FabricError> {
        let refused = |memory| FabricError::NoMemory { peer, memory };
        let room = try_memory(bytes as usize).map_err(refused)?;
        Ok((bytes, Flight::receive(&self.session, room, self.bodies(peer))?))
    }

    /// Is all of the message here?
    fn has_come(&self, peer: u64, incoming: &mut Incoming<H>) -> Result<bool, FabricError> {
        if incoming.header.is_none() {
            let Some(bytes) = incoming.envelope.bytes()? else { return Ok(false) };
            let header = Header::decode(bytes);
            if header.bytes > SHORT as u64 && incoming.body.is_none() {
                incoming.body = Some(self.start_body(peer, header.bytes)?);
            }
            incoming.header = Some(Box::new(header));
        }
        match (&incoming.header, &mut incoming.body) {
            // Not the one expected: its header is enough to say so.
            (Some(header), Some((room, _))) if header.bytes != *room => Ok(true),
            (_, Some((_, body))) => body.is_done(),
            (_, None) => Ok(true),
        }
    }
}

impl<H: Handle> Incoming<H> {
    /// The message, which has come.
    fn into_message(self) -> Message {
        let header = *self.header.expect("the envelope is here");
        let payload = match self.body {
            Some((room, body)) if header.bytes == room => body.into_bytes(),
            Some(_) => Vec::new(),
            None => {
                let envelope = self.envelope.into_bytes();
                let length = header.bytes as usize;
                let payload = envelope[Header::BYTES..Header::BYTES + length].to_vec();
                keep(envelope);
                payload
            }
        };
        Message { header, payload }
    }
}

impl<H: Handle> Wire for MpiWire<H> {
    fn send(&mut self, peer: u64, header: Header, payload: Payload) -> Result<Ticket, FabricError> {
        self.session.check_open()?;
        let mut envelope = header.encode().to_vec();
        let mut flights = Vec::with_capacity(2);
        if payload.as_ref().len() <= SHORT {
            envelope.extend(payload.as_ref());
            flights.push(Flight::send(&self.session, envelope.into(), self.envelopes(peer))?);
        } else {
            flights.push(Flight::send(&self.session, envelope.into(), self.envelopes(peer))?);
            flights.push(Flight::send(&self.session, payload, self.bodies(peer))?);
        }
        self.next_ticket += 1;
        self.outgoing.insert(self.next_ticket, flights);
        Ok(self.next_ticket)
    }

    fn progress(&mut self) -> Result<(), FabricError> {
        self.session.check_open()?;
        let mut result = Ok(());
        self.outgoing.retain(|_, flights| {
            drained(flights).unwrap_or_else(|error| result = Err(error));
            !flights.is_empty()
        });
        result
    }

    fn is_sent(&self, ticket: Ticket) -> bool {
        !self.outgoing.contains_key(&ticket)
    }

    fn is_moving(&self) -> bool {
        !self.outgoing.is_empty() || self.incoming.values().any(|next| next.header.is_some())
    }

    fn receive(
        &mut self,
        peer: u64,
        expected: Option<u64>,
    ) -> Result<Option<Message>, FabricError> {
        self.session.check_open()?;
        let mut incoming = match self.incoming.remove(&peer) {
            Some(incoming) => incoming,
            None => self.start_receiving(peer, expected)?,
        };
        if self.has_come(peer, &mut incoming)? {
            return Ok(Some(incoming.into_message()));
        }
        self.incoming.insert(peer, incoming);
        Ok(None)
    }

    /// A rank that leaves says so in a message of its own.
    fn has_left(&self, _: u64) -> bool {
        false
    }

    fn tell(&mut self, peer: u64, notice: &Notice) -> Result<(), FabricError> {
        self.session.check_open()?;
        let flight = Flight::send(&self.session, notice.encode().into(), self.asides(peer))?;
        self.told.push(flight);
        Ok(())
    }

    fn hear(&mut self) -> Result<Option<Notice>, FabricError> {
        self.session.check_open()?;
        drained(&mut self.told)?;
        if self.hearing.is_none()
            && let Some(peer) = self.speaker()?
        {
            let from = self.asides(peer);
            self.hearing = Some(Flight::receive(&self.session, memory(Notice::LONGEST), from)?);
        }
        match self.hearing.take() {
            None => Ok(None),
            Some(mut flight) => match flight.is_done()? {
                true => Ok(Notice::decode(&flight.into_bytes())),
                false => {
                    self.hearing = Some(flight);
                    Ok(None)
                }
            },
        }
    }

    fn is_heard(&self) -> bool {
        self.told.is_empty()
    }
}

/// Drops the flights that are done.
fn drained<H: Handle>(flights: &mut Vec<Flight<H>>) -> Result<(), FabricError> {
    let mut result = Ok(());
    flights.retain_mut(|flight| match flight.is_done() {
        Ok(done) => !done,
        Err(error) => {
            result = Err(error);
            true
        }
    });
    result
}
