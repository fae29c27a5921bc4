//! Message matching: assigns incoming messages to posted receives, in order.
//!
//! Input: exchanges, each a list of sends and receives. Output: the received bytes of each
//! exchange, once all have arrived. Messages of one peer match its posted receives in posting
//! order, without a search. A message other than the expected one means that the ranks diverged;
//! see [`crate::divergence::control_channel`].

use std::collections::{BTreeMap, VecDeque};

use crate::divergence::control_message::ControlMessage;
use crate::divergence::failure::FailureReports;
use crate::divergence::operation_log::OperationLog;
use crate::error::FabricError;
use crate::fabric::{Receives, Sends};
use crate::header::{ExpectedMessage, MessageHeader};
use crate::payload::Payload;
use crate::stats::FabricStats;
use crate::tag::{FieldHashes, MessageId, OperationLabel, Tag};
use crate::transport::{ReceivedMessage, SendId, Transport};

/// The exchanges of one rank that are in progress.
pub(crate) struct MessageMatcher<W> {
    pub rank: u64,
    pub size: u64,
    pub transport: W,
    pub operation_log: OperationLog,
    pub stats: FabricStats,
    /// The exit status, once this rank has reached the end of its program.
    pub exit_status: Option<i32>,
    pub failure: Option<FailureReports>,
    /// The goodbye messages of ranks that have left.
    pub goodbyes: BTreeMap<u64, ControlMessage>,
    /// Number of control messages sent to and received from each peer.
    pub control_counts: BTreeMap<u64, ControlCounts>,
    /// The operation that this rank abandoned for lack of memory, if any.
    pub allocation_failure: Option<AllocationFailure>,
    /// The first error; every later call returns it again.
    pub error: Option<FabricError>,
    self_messages: VecDeque<ReceivedMessage>,
    /// Number of messages sent to and expected from each peer.
    counters: BTreeMap<u64, SequenceCounters>,
    posted_receives: BTreeMap<u64, VecDeque<PostedReceive>>,
    exchanges: BTreeMap<u64, ExchangeState>,
    next_exchange: u64,
}

/// An operation that a rank abandoned because an allocation failed.
pub(crate) struct AllocationFailure {
    /// The sequence number of the operation.
    pub sequence_number: u64,
    /// The text of the allocation error.
    pub reason: String,
}

/// Number of control messages between two ranks.
#[derive(Default)]
pub(crate) struct ControlCounts {
    pub sent: u64,
    pub received: u64,
}

#[derive(Default)]
struct SequenceCounters {
    sent: u64,
    expected: u64,
}

/// A receive that waits for its message, and the slot of the exchange that it fills.
struct PostedReceive {
    expected: ExpectedMessage,
    exchange: u64,
    slot: usize,
}

struct ExchangeState {
    /// The sequence number of the operation.
    sequence_number: u64,
    sends: Vec<(u64, SendId)>,
    received: Vec<Option<Vec<u8>>>,
}

impl<W: Transport> MessageMatcher<W> {
    /// Creates a matcher without exchanges.
    pub fn new(rank: u64, size: u64, transport: W) -> Self {
        Self {
            rank,
            size,
            transport,
            operation_log: OperationLog::default(),
            stats: FabricStats::default(),
            exit_status: None,
            failure: None,
            goodbyes: BTreeMap::new(),
            control_counts: BTreeMap::new(),
            allocation_failure: None,
            error: None,
            self_messages: VecDeque::new(),
            counters: BTreeMap::new(),
            posted_receives: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            next_exchange: 0,
        }
    }

    /// Logs the next operation and returns its tag.
    pub fn log_operation(&mut self, hash: u64, aspects: FieldHashes, place: OperationLabel) -> Tag {
        self.operation_log.record(hash, aspects, place)
    }

    /// Starts an exchange and returns its id. Errors are returned by [`Self::take`].
    pub fn start_exchange(&mut self, tag: Tag, sends: Sends, receives: Receives) -> u64 {
        let exchange = self.next_exchange;
        self.next_exchange += 1;
        if self.error.is_some() || self.failure.is_some() {
            return exchange;
        }
        let received = receives.iter().map(|_| None).collect();
        for (slot, (peer, bytes)) in receives.into_iter().enumerate() {
            self.post_receive(peer, tag, bytes, exchange, slot);
        }
        let sent = sends.into_iter().map(|(peer, payload)| self.send(peer, tag, payload));
        match sent.collect::<Result<Vec<_>, _>>() {
            Ok(sent) => {
                let sends = sent.into_iter().flatten().collect();
                self.exchanges.insert(
                    exchange,
                    ExchangeState { sequence_number: tag.sequence_number, sends, received },
                );
            }
            Err(error) => self.fail(error),
        }
        exchange
    }

    /// Returns the received bytes of an exchange, once all receives and sends are complete.
    pub fn take(&mut self, exchange: u64) -> Result<Option<Vec<Vec<u8>>>, FabricError> {
        if !self.is_done(exchange)? {
            return Ok(None);
        }
        let Some(done) = self.exchanges.remove(&exchange) else { return Ok(None) };
        // A message of a later operation has arrived, so its sender abandoned the same operation.
        self.allocation_failure.take_if(|failure| {
            failure.sequence_number < done.sequence_number && !done.received.is_empty()
        });
        Ok(Some(done.received.into_iter().flatten().collect()))
    }

    /// Makes progress; returns whether all receives and sends of the exchange are complete.
    pub fn is_done(&mut self, exchange: u64) -> Result<bool, FabricError> {
        self.progress()?;
        if self.failure.is_some() {
            return Ok(false);
        }
        let Some(ExchangeState { sends, received, .. }) = self.exchanges.get(&exchange) else {
            return Ok(true);
        };
        Ok(received.iter().all(Option::is_some)
            && sends.iter().all(|&(_, send_id)| self.transport.is_send_complete(send_id)))
    }

    /// Discards an exchange; messages that still arrive for it are dropped.
    pub fn cancel(&mut self, exchange: u64) {
        self.exchanges.remove(&exchange);
    }

    /// Returns the ranks that an exchange waits for.
    pub fn awaited_peers(&self, exchange: u64) -> Vec<u64> {
        let waits_for = |queue: &VecDeque<PostedReceive>| {
            queue.iter().any(|receive| receive.exchange == exchange)
        };
        self.posted_receives
            .iter()
            .filter(|(_, queue)| waits_for(queue))
            .map(|(&peer, _)| peer)
            .collect()
    }

    /// Returns whether transfers are in progress that advance only while this rank polls.
    pub fn is_transferring(&self) -> bool {
        self.transport.is_transferring()
    }

    /// Describes what an exchange waits for, for the stall report.
    pub fn describe(&self, exchange: u64) -> String {
        let receives = self.posted_receives.iter().flat_map(|(peer, queue)| {
            let receives = queue.iter().filter(|receive| receive.exchange == exchange);
            receives.map(move |receive| format!("for rank {peer} in {}", receive.expected.id.tag))
        });
        let sends = self.exchanges.get(&exchange).map_or(&[][..], |exchange| &exchange.sends);
        let unsent =
            sends.iter().filter(|&&(_, send_id)| !self.transport.is_send_complete(send_id));
        let unsent = unsent.map(|(peer, _)| format!("for rank {peer} to take a message"));
        receives.chain(unsent).collect::<Vec<_>>().join("; ")
    }

    fn post_receive(
        &mut self,
        peer: u64,
        tag: Tag,
        bytes: Option<usize>,
        exchange: u64,
        slot: usize,
    ) {
        let count = &mut self.counters.entry(peer).or_default().expected;
        *count += 1;
        let id = MessageId { sequence: *count, tag };
        let expected = ExpectedMessage { id, bytes: bytes.map(|bytes| bytes as u64) };
        self.posted_receives.entry(peer).or_default().push_back(PostedReceive {
            expected,
            exchange,
            slot,
        });
    }

    fn send(
        &mut self,
        peer: u64,
        tag: Tag,
        payload: Payload,
    ) -> Result<Option<(u64, SendId)>, FabricError> {
        // Copy first: if the allocation fails, no sequence number has been used.
        let payload = if peer == self.rank { payload.into_vec().into() } else { payload };
        let count = &mut self.counters.entry(peer).or_default().sent;
        *count += 1;
        let id = MessageId { sequence: *count, tag };
        let header = MessageHeader { id, bytes: payload.as_ref().len() as u64 };
        if peer == self.rank {
            self.self_messages.push_back(ReceivedMessage { header, payload: payload.into_vec() });
            return Ok(None);
        }
        self.stats.messages += 1;
        self.stats.bytes += header.bytes;
        Ok(Some((peer, self.transport.send(peer, header, payload)?)))
    }

    /// Makes progress and returns the first error, after which no message is meaningful.
    fn progress(&mut self) -> Result<(), FabricError> {
        if self.error.is_none() && self.failure.is_none() {
            let progressed = self.transport.progress().and_then(|()| self.deliver());
            progressed.unwrap_or_else(|error| self.fail(error));
        }
        self.settle_failure();
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Delivers the messages that have arrived to their exchanges.
    fn deliver(&mut self) -> Result<(), FabricError> {
        let Self { rank, transport, self_messages, posted_receives, exchanges, goodbyes, .. } =
            self;
        for (&peer, queue) in posted_receives.iter_mut() {
            while let Some(next) = queue.front() {
                let message = match peer == *rank {
                    true => self_messages.pop_front(),
                    false => next_message(transport, *rank, peer, next)?,
                };
                let Some(message) = message else { break };
                if message.header.id.tag.hash == Tag::LEAVING_HASH {
                    goodbyes.extend(
                        ControlMessage::decode(&message.payload).map(|message| (peer, message)),
                    );
                }
                next.expected.check(*rank, peer, &message.header)?;
                if let Some(exchange) = exchanges.get_mut(&next.exchange) {
                    exchange.received[next.slot] = Some(message.payload);
                }
                queue.pop_front();
            }
        }
        posted_receives.retain(|_, queue| !queue.is_empty());
        Ok(())
    }
}

/// Returns the next message of `peer` if it has arrived, or an error if it never will.
fn next_message<W: Transport>(
    transport: &mut W,
    rank: u64,
    peer: u64,
    next: &PostedReceive,
) -> Result<Option<ReceivedMessage>, FabricError> {
    // Read the flag first: messages sent before leaving are then visible to `receive`.
    let left = transport.has_left(peer);
    match transport.receive(peer, next.expected.bytes)? {
        None if left => Err(FabricError::left(peer, rank, next.expected.id.tag)),
        message => Ok(message),
    }
}
