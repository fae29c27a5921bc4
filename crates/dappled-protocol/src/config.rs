//! Limits of the planning algorithms and of messages.

/// Largest prime factor tried when a process grid is chosen, which bounds the running time. No
/// machine has this many ranks along an axis, so a remaining larger factor need not be split.
pub(crate) const MAX_TRIAL_FACTOR: u64 = 1 << 20;

/// Maximum number of range transfers into which a transfer is split; with more of them its cells
/// are listed.
pub(crate) const MAX_SPLIT_RUNS: u64 = 4;

/// Maximum number of items of a sequence shown in a message.
pub(crate) const MAX_SHOWN_ITEMS: usize = 8;

/// Maximum length of a value shown in a message, in characters.
pub(crate) const MAX_SHOWN_CHARS: usize = 80;
