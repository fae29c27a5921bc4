//! Communication statistics of a rank.

use std::time::Duration;

/// Communication statistics of one rank since it connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FabricStats {
    /// Number of messages sent to other ranks.
    pub messages: u64,
    /// Number of payload bytes in these messages, without headers.
    pub bytes: u64,
    /// Time spent waiting for messages.
    pub wait_time: Duration,
}
