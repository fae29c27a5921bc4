//! Statistics of the memory that buffers allocate.

use std::sync::atomic::{AtomicU64, Ordering};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static LIVE_BYTES: AtomicU64 = AtomicU64::new(0);
static PEAK_BYTES: AtomicU64 = AtomicU64::new(0);

/// Allocations of this process through [`super::buffer::Buffer`], foreign memory excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferStats {
    /// The number of allocations so far.
    pub allocations: u64,
    /// Bytes in use, without those kept by a buffer pool.
    pub live: u64,
    /// The maximum of `live`.
    pub peak: u64,
}

impl BufferStats {
    /// The current statistics.
    pub fn current() -> Self {
        let [made, live, peak] =
            [&ALLOCATIONS, &LIVE_BYTES, &PEAK_BYTES].map(|count| count.load(Ordering::Relaxed));
        Self { allocations: made, live, peak }
    }
}

/// Records a new allocation.
pub(crate) fn record_allocation(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    record_use(bytes);
}

/// Records bytes that an array uses, newly allocated or taken from a pool.
pub(crate) fn record_use(bytes: usize) {
    let live = LIVE_BYTES.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
    // A new peak is rare, so a load comes before the read-modify-write.
    if live > PEAK_BYTES.load(Ordering::Relaxed) {
        PEAK_BYTES.fetch_max(live, Ordering::Relaxed);
    }
}

/// Records bytes that no array uses any more.
pub(crate) fn record_release(bytes: usize) {
    LIVE_BYTES.fetch_sub(bytes as u64, Ordering::Relaxed);
}
