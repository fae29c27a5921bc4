//! What a rank has sent, and how long it has waited.

use std::time::Duration;

/// Counts of one rank, since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages sent to other ranks.
    pub messages: u64,
    /// The bytes in them, without what messages say about themselves.
    pub bytes: u64,
    /// Time spent waiting for messages.
    pub waited: Duration,
}
