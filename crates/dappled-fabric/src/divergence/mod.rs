//! Detection of ranks that diverge or fail, and agreement on one error.
//!
//! Input: the operations that each rank logs, and control messages of other ranks. Output: the
//! error that every rank reports. Guarantees: ranks that received the same reports return the same
//! error, which names the first operation that differs.

pub(crate) mod control_channel;
pub(crate) mod control_message;
pub(crate) mod failure;
pub(crate) mod operation_log;
