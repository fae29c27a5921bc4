//! `TransportFabric` implements the fabric operations on top of a transport.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dappled_base::interrupt;

use crate::backoff::{Backoff, is_oversubscribed};
use crate::config::{FabricConfig, ReportFn};
use crate::divergence::control_message::ControlKind;
use crate::error::FabricError;
use crate::fabric::{ExchangeRequest, Receives, RequestProgress, Sends};
use crate::matching::{AllocationFailure, MessageMatcher};
use crate::stats::FabricStats;
use crate::tag::{FieldHashes, OperationLabel, Tag};
use crate::transport::Transport;

/// One rank: its message matcher, shared by the requests in progress.
pub(crate) struct TransportFabric<W> {
    pub rank: u64,
    pub size: u64,
    pub name: String,
    shared: Arc<SharedState<W>>,
}

struct SharedState<W> {
    rank: u64,
    stall_timeout: Duration,
    oversubscribed: bool,
    report: ReportFn,
    matcher: Mutex<MessageMatcher<W>>,
}

/// A request for an exchange in progress.
struct TransportRequest<W: Transport> {
    shared: Arc<SharedState<W>>,
    exchange: u64,
}

impl<W: Transport> TransportFabric<W> {
    /// Creates a rank of `size` ranks, `node_size` of which are on this machine.
    pub fn new(
        [rank, size, node_size]: [u64; 3],
        name: String,
        transport: W,
        config: &FabricConfig,
    ) -> Self {
        let matcher = Mutex::new(MessageMatcher::new(rank, size, transport));
        let (FabricConfig { stall_timeout, report, .. }, oversubscribed) =
            (config.clone(), is_oversubscribed(node_size));
        Self {
            rank,
            size,
            name,
            shared: Arc::new(SharedState { rank, stall_timeout, oversubscribed, report, matcher }),
        }
    }

    pub fn start_exchange(&self, tag: Tag, sends: Sends, receives: Receives) -> ExchangeRequest {
        let peers = sends.iter().map(|send| send.0).chain(receives.iter().map(|receive| receive.0));
        let (rank, size) = (self.rank, self.size);
        peers.for_each(|peer| {
            assert!(peer < size, "rank {rank}: peer {peer} is out of range for {size} ranks")
        });
        let exchange = self.shared.lock_matcher().start_exchange(tag, sends, receives);
        ExchangeRequest::new(TransportRequest { shared: self.shared.clone(), exchange })
    }

    pub fn log_operation(&self, hash: u64, aspects: FieldHashes, place: OperationLabel) -> Tag {
        self.shared.lock_matcher().log_operation(hash, aspects, place)
    }

    pub fn report_out_of_memory(&self, reason: String) {
        let mut matcher = self.shared.lock_matcher();
        let sequence_number =
            matcher.operation_log.recent().last().map_or(0, |tag| tag.sequence_number);
        matcher.allocation_failure = Some(AllocationFailure { sequence_number, reason });
    }

    pub fn stats(&self) -> FabricStats {
        self.shared.lock_matcher().stats
    }

    /// Exchanges goodbye messages with all ranks; returns false if they do not leave in time. On
    /// success all ranks have performed the same operations and no message is in transit.
    pub fn leave(&self, status: i32, limit: Option<Duration>) -> Result<bool, FabricError> {
        self.shared.lock_matcher().exit_status = Some(status);
        let others = || (0..self.size).filter(|&peer| peer != self.rank);
        let goodbye = |peer| {
            self.shared.lock_matcher().control_message(ControlKind::Goodbye, "", peer).encode()
        };
        let sends = others().map(|peer| (peer, goodbye(peer).into())).collect();
        let receives = others().map(|peer| (peer, None)).collect();
        let goodbye = self.start_exchange(Tag::leaving(), sends, receives);
        if goodbye.wait_timeout(limit)?.is_none() {
            return Ok(false);
        }
        while !self.shared.lock_matcher().check_all_left()? {
            std::thread::yield_now();
        }
        Ok(true)
    }

    /// Returns whether an error has occurred.
    pub fn has_failed(&self) -> bool {
        self.shared.lock_matcher().error.is_some()
    }
}

impl<W> SharedState<W> {
    /// A panic while the lock is held concerns one exchange; the others continue.
    fn lock_matcher(&self) -> MutexGuard<'_, MessageMatcher<W>> {
        self.matcher.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Transport> RequestProgress for TransportRequest<W> {
    fn poll(&mut self) -> Result<bool, FabricError> {
        self.shared.lock_matcher().is_done(self.exchange)
    }

    fn wait(self: Box<Self>, limit: Option<Duration>) -> Result<Option<Vec<Vec<u8>>>, FabricError> {
        let mut backoff = Backoff::new(self.shared.stall_timeout, self.shared.oversubscribed);
        loop {
            let mut matcher = self.shared.lock_matcher();
            let taken = matcher.take(self.exchange);
            let is_late = || limit.is_some_and(|limit| backoff.elapsed() > limit);
            if !matches!(taken, Ok(None)) || is_late() {
                matcher.stats.wait_time += backoff.elapsed();
                return taken;
            }
            let is_transferring = self.service_long_wait(&mut matcher, &mut backoff);
            drop(matcher);
            if backoff.is_idle() {
                interrupt::poll();
            }
            backoff.pause(is_transferring);
        }
    }
}

impl<W: Transport> TransportRequest<W> {
    /// Handles control messages, queries and stall reports during a long wait. Returns whether
    /// transfers are in progress.
    fn service_long_wait(&self, matcher: &mut MessageMatcher<W>, backoff: &mut Backoff) -> bool {
        if backoff.is_idle() {
            matcher.receive_control_messages();
        }
        if backoff.should_query() {
            matcher.query_peers(self.exchange);
        }
        if let Some(waited) = backoff.take_stall() {
            let (rank, seconds) = (self.shared.rank, waited.as_secs_f64());
            let awaited = matcher.describe(self.exchange);
            let report = format!("dappled: rank {rank} has waited {seconds:.0} s {awaited}");
            (self.shared.report)(&report);
        }
        matcher.is_transferring()
    }
}

impl<W: Transport> Drop for TransportRequest<W> {
    fn drop(&mut self) {
        self.shared.lock_matcher().cancel(self.exchange);
    }
}
