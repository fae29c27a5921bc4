//! Control channel: queries after a long wait, failure reports, and the checks at exit.
//!
//! Control messages bypass the matching of ordinary messages, so a rank receives them whatever
//! operation it is in.

use std::collections::BTreeMap;

use super::control_message::{ControlKind, ControlMessage};
use super::failure::{FailureReports, find_divergence, last_sequence_number};
use crate::error::{FabricError, is_out_of_memory_reason};
use crate::matching::MessageMatcher;
use crate::transport::Transport;

impl<W: Transport> MessageMatcher<W> {
    /// Records that this rank cannot continue, and reports the error to all ranks. An MPI error is
    /// only recorded, because no message can be sent any more.
    pub fn fail(&mut self, error: FabricError) {
        if matches!(error, FabricError::Mpi { .. }) {
            self.error.get_or_insert(error);
            return;
        }
        let reason = error.to_string();
        self.begin_failure(Some(error), &reason);
    }

    /// Collects the failure reports of other ranks; decides on the error once they are complete.
    pub fn settle_failure(&mut self) {
        if self.failure.is_none() || self.error.is_some() {
            return;
        }
        self.receive_control_messages();
        let own = self.control_message(ControlKind::Failure, "", self.rank);
        let is_expected = |peer: &u64| *peer != self.rank && !self.transport.has_left(*peer);
        let others: Vec<u64> = (0..self.size).filter(is_expected).collect();
        if let Some(reports) = self.failure.as_ref().filter(|reports| reports.is_complete(&others))
        {
            self.error = Some(reports.error(&own));
        }
    }

    /// Handles all control messages that have arrived.
    pub fn receive_control_messages(&mut self) {
        loop {
            match self.transport.receive_control() {
                Ok(Some(message)) => self.handle_control_message(message),
                Ok(None) => return,
                Err(error) => {
                    self.error.get_or_insert(error);
                    return;
                }
            }
        }
    }

    fn handle_control_message(&mut self, message: ControlMessage) {
        self.control_counts.entry(message.rank).or_default().received += 1;
        match message.kind {
            ControlKind::Query => {
                let own = self.control_message(ControlKind::Query, "", message.rank);
                let both = BTreeMap::from([(own.rank, &own), (message.rank, &message)]);
                let error =
                    find_divergence(&both).or_else(|| self.abandoned_operation(&own, &message));
                if let Some(error) = error.filter(|_| self.failure.is_none()) {
                    self.fail(error);
                }
            }
            _ => {
                let reason = message.reason.clone();
                self.begin_failure(None, &reason);
                if let Some(reports) = &mut self.failure {
                    reports.received.insert(message.rank, message);
                }
            }
        }
    }

    /// Returns an error if the operation that a rank waits for was abandoned for lack of memory.
    fn abandoned_operation(
        &self,
        own: &ControlMessage,
        querying: &ControlMessage,
    ) -> Option<FabricError> {
        let (local, remote) = (last_sequence_number(own), last_sequence_number(querying));
        let abandoning = match &self.allocation_failure {
            Some(failure) if failure.sequence_number == remote && local > remote => own,
            None if is_out_of_memory_reason(&querying.reason) && remote > local => querying,
            _ => return None,
        };
        Some(FabricError::Failed { rank: abandoning.rank, reason: abandoning.reason.clone() })
    }

    fn begin_failure(&mut self, error: Option<FabricError>, reason: &str) {
        if self.failure.is_some() {
            return;
        }
        self.failure = Some(FailureReports::new(error, self.goodbyes.clone()));
        let rank = self.rank;
        for peer in (0..self.size).filter(|&peer| peer != rank) {
            self.send_control_message(peer, ControlKind::Failure, reason);
        }
    }

    /// Sends this rank's recent operations to the ranks that an exchange waits for. A peer that has
    /// performed other operations answers with a failure report. A leaving rank sends nothing: its
    /// goodbye says the same.
    pub fn query_peers(&mut self, exchange: u64) {
        if self.exit_status.is_some() {
            return;
        }
        let rank = self.rank;
        for peer in self.awaited_peers(exchange).into_iter().filter(|&peer| peer != rank) {
            self.send_control_message(peer, ControlKind::Query, "");
        }
    }

    fn send_control_message(&mut self, peer: u64, kind: ControlKind, reason: &str) {
        let message = self.control_message(kind, reason, peer);
        self.control_counts.entry(peer).or_default().sent += 1;
        if let Err(error) = self.transport.send_control(peer, &message) {
            self.error.get_or_insert(error);
        }
    }

    /// Returns a control message that describes the state of this rank.
    pub fn control_message(&self, kind: ControlKind, reason: &str, to: u64) -> ControlMessage {
        let sent_before = self.control_counts.get(&to).map_or(0, |counts| counts.sent);
        let failure = self.allocation_failure.as_ref().map(|failure| &*failure.reason);
        let reason = failure.unwrap_or(reason).to_string();
        ControlMessage {
            rank: self.rank,
            kind,
            log: self.operation_log.recent(),
            exit_status: self.exit_status,
            reason,
            sent_before,
        }
    }

    /// Checks, after all ranks have left, that all performed the same operations. Returns false
    /// while control messages to or from this rank are in transit: a long message progresses only
    /// while both sides poll.
    pub fn check_all_left(&mut self) -> Result<bool, FabricError> {
        self.receive_control_messages();
        let own = self.control_message(ControlKind::Goodbye, "", self.rank);
        let mut all: BTreeMap<u64, &ControlMessage> =
            self.goodbyes.iter().map(|(rank, message)| (*rank, message)).collect();
        all.insert(self.rank, &own);
        let received =
            |peer: &u64| self.control_counts.get(peer).map_or(0, |counts| counts.received);
        let all_received =
            self.goodbyes.iter().all(|(peer, message)| received(peer) >= message.sent_before);
        let is_complete = all_received && self.transport.are_control_sends_complete();
        let divergence = find_divergence(&all);
        self.error = self.error.take().or(divergence);
        self.error.clone().map_or(Ok(is_complete), Err)
    }
}
