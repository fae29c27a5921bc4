//! How much memory of our own there is: counted where it is made and where it goes.

use std::sync::atomic::{AtomicU64, Ordering};

static MADE: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicU64 = AtomicU64::new(0);
static PEAK: AtomicU64 = AtomicU64::new(0);

/// Memory of this process: that of [`crate::Buffer`]s, but not what somebody else owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Pieces of memory that were asked of the system so far.
    pub made: u64,
    /// Bytes in use now, without those set aside.
    pub live: u64,
    /// The most that were in use at once.
    pub peak: u64,
}

impl Usage {
    /// As it is now.
    pub fn now() -> Self {
        let [made, live, peak] = [&MADE, &LIVE, &PEAK].map(|count| count.load(Ordering::Relaxed));
        Self { made, live, peak }
    }
}

/// Fresh memory of so many bytes.
pub(crate) fn made(bytes: usize) {
    MADE.fetch_add(1, Ordering::Relaxed);
    back(bytes);
}

/// So many bytes are in use, again or for the first time.
pub(crate) fn back(bytes: usize) {
    let live = LIVE.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
    // Seldom more than ever before: a look is cheaper than a write.
    if live > PEAK.load(Ordering::Relaxed) {
        PEAK.fetch_max(live, Ordering::Relaxed);
    }
}

/// So many bytes are no longer in use.
pub(crate) fn gone(bytes: usize) {
    LIVE.fetch_sub(bytes as u64, Ordering::Relaxed);
}
