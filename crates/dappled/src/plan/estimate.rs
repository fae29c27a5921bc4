//! Estimates of a plan's communication and temporary memory on its rank.

use std::collections::BTreeSet;

use super::step::{AssembleStep, CellCopy, Plan, ReceiveStep, SendStep};

/// The messages and the temporary memory of a plan, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanEstimate {
    /// The ranks that it exchanges messages with.
    pub neighbours: Vec<u64>,
    /// The number of messages sent, and their bytes.
    pub sent: (u64, u64),
    /// The number of messages received, and their bytes.
    pub received: (u64, u64),
    /// The bytes of assembled operands and of scattered targets.
    pub scratch: u64,
}

impl PlanEstimate {
    /// Estimates a plan, given the item size of each operand and of the target.
    pub fn new(plan: &Plan, operands: &[usize], target: usize) -> Self {
        let size = |operand: usize| operands[operand] as u64;
        let peers = plan.sends.iter().map(|send| send.peer);
        let peers: BTreeSet<u64> =
            peers.chain(plan.receives.iter().map(|receive| receive.peer)).collect();
        let sent = plan.sends.iter().map(|send: &SendStep| send.count() * size(send.operand));
        let received = plan.receives.iter();
        let received =
            received.map(|receive: &ReceiveStep| receive.count() * size(receive.operand));
        let assembled = plan.assemblies.iter();
        let assembled = assembled.map(|assembled: &AssembleStep| {
            assembled.shape.iter().product::<u64>() * size(assembled.operand)
        });
        let scattered_bytes = plan.scatter.as_ref().map_or(0, CellCopy::count) * target as u64;
        Self {
            neighbours: peers.into_iter().collect(),
            sent: (plan.sends.len() as u64, sent.sum()),
            received: (plan.receives.len() as u64, received.sum()),
            scratch: assembled.sum::<u64>() + scattered_bytes,
        }
    }

    /// The bytes needed in addition to the arrays.
    pub fn temporary_bytes(&self) -> u64 {
        self.sent.1 + self.received.1 + self.scratch
    }
}
