//! What a plan costs its rank: whom it talks to, what moves, and the memory beside the arrays.

use std::collections::BTreeSet;

use super::{CellCopy, Move, Plan, Receive, Send};

/// What a plan costs its rank, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// The ranks that it sends to or receives from.
    pub neighbours: Vec<u64>,
    /// How many messages it sends, and their bytes.
    pub sent: (u64, u64),
    /// How many messages it receives, and their bytes.
    pub received: (u64, u64),
    /// Memory for what is brought together before it is read, and put in place afterwards.
    pub aside: u64,
}

impl Estimate {
    /// Of a plan, given the size of the elements of each operand and of the target.
    pub fn new(plan: &Plan, operands: &[usize], target: usize) -> Self {
        let size = |operand: usize| operands[operand] as u64;
        let peers = plan.sends.iter().map(|send| send.peer);
        let peers: BTreeSet<u64> =
            peers.chain(plan.receives.iter().map(|receive| receive.peer)).collect();
        let sent = plan.sends.iter().map(|send: &Send| send.count() * size(send.operand));
        let received = plan.receives.iter();
        let received = received.map(|one: &Receive| one.count() * size(one.operand));
        let moved = plan.moves.iter();
        let moved =
            moved.map(|moved: &Move| moved.shape.iter().product::<u64>() * size(moved.operand));
        let scattered = plan.scatter.as_ref().map_or(0, CellCopy::count) * target as u64;
        Self {
            neighbours: peers.into_iter().collect(),
            sent: (plan.sends.len() as u64, sent.sum()),
            received: (plan.receives.len() as u64, received.sum()),
            aside: moved.sum::<u64>() + scattered,
        }
    }

    /// Bytes that are needed beside the arrays.
    pub fn memory(&self) -> u64 {
        self.sent.1 + self.received.1 + self.aside
    }
}
