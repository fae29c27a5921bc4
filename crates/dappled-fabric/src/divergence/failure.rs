//! Failure agreement: all ranks report the same error when one rank fails.
//!
//! A failing rank sends its recent operations to all ranks, and each receiver does the same. Every
//! rank can then find the first operation that differs, not only the place where the divergence was
//! noticed.

use std::collections::BTreeMap;
use std::time::Instant;

use super::control_message::ControlMessage;
use super::operation_log::first_difference;
use crate::config::REPORT_TIMEOUT;
use crate::error::{FabricError, is_out_of_memory_reason};
use crate::tag::Tag;

/// A failure in progress: the local error and the reports of the other ranks.
pub(crate) struct FailureReports {
    started: Instant,
    /// The error that this rank detected itself.
    error: Option<FabricError>,
    /// The reports received, by rank.
    pub received: BTreeMap<u64, ControlMessage>,
}

impl FailureReports {
    pub fn new(error: Option<FabricError>, received: BTreeMap<u64, ControlMessage>) -> Self {
        Self { started: Instant::now(), error, received }
    }

    /// Returns whether all reports have arrived or the time limit has passed.
    pub fn is_complete(&self, others: &[u64]) -> bool {
        others.iter().all(|peer| self.received.contains_key(peer))
            || self.started.elapsed() > REPORT_TIMEOUT
    }

    /// Returns the error; equal on all ranks that received the same reports.
    pub fn error(&self, own: &ControlMessage) -> FabricError {
        let mut all: BTreeMap<u64, &ControlMessage> =
            self.received.iter().map(|(rank, message)| (*rank, message)).collect();
        all.insert(own.rank, own);
        let reported = self.received.values().find(|message| !message.reason.is_empty());
        // Ranks that diverge after a failed allocation do so because of it.
        let out_of_memory = all.values().find(|message| is_out_of_memory_reason(&message.reason));
        out_of_memory
            .map(|message| failed_error(message))
            .or_else(|| find_divergence(&all))
            .or_else(|| self.error.clone())
            .or_else(|| reported.map(failed_error))
            .unwrap_or_else(|| failed_error(own))
    }
}

fn failed_error(message: &ControlMessage) -> FabricError {
    FabricError::Failed { rank: message.rank, reason: message.reason.clone() }
}

/// Returns the first difference between the logs, or the rank that left before another.
pub(crate) fn find_divergence(all: &BTreeMap<u64, &ControlMessage>) -> Option<FabricError> {
    let logs: Vec<(u64, &[Tag])> = all.iter().map(|(rank, one)| (*rank, &one.log[..])).collect();
    if let Some([one, other]) = first_difference(&logs) {
        let tags = Box::new([one.1, other.1]);
        return Some(FabricError::OperationsDiffer { ranks: [one.0, other.0], tags });
    }
    let leaving = all.values().filter(|one| one.exit_status.is_some());
    let left = leaving.min_by_key(|one| (last_sequence_number(one), one.rank))?;
    let after = |one: &&ControlMessage| last_sequence_number(one) > last_sequence_number(left);
    let other = all.values().copied().find(after)?;
    let next = other.log.iter().find(|tag| tag.sequence_number > last_sequence_number(left))?;
    Some(FabricError::Left {
        rank: left.rank,
        status: left.exit_status.unwrap_or(0),
        last: left.log.last().copied().map(Box::new),
        waiting: other.rank,
        operation: Box::new(*next),
    })
}

/// Returns the sequence number of the last operation of a rank, 0 if none.
pub(crate) fn last_sequence_number(message: &ControlMessage) -> u64 {
    message.log.last().map_or(0, |tag| tag.sequence_number)
}
