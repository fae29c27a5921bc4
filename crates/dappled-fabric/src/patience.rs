//! How a rank waits: spin, then yield, then sleep.
//!
//! Spinning answers within a microsecond where each rank has a core. With more ranks than cores
//! the awaited rank may need this very core, so it is given away at once, and soon by sleeping: who
//! yields only takes turns with the others that yield, and the rank that all wait for, which has had
//! more of its share than they, comes last. A wait that is long anyway should not burn a core. But
//! bytes move only while both sides poll: as long as any are on their way nobody sleeps, or a large
//! message would go at a piece a nap.

use std::time::{Duration, Instant};

const SPINS: u32 = 200;
const CROWDED_SPINS: u32 = 20;
const YIELDING: Duration = Duration::from_millis(2);
const SHORTEST_SLEEP: Duration = Duration::from_micros(50);
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

/// After so long those who are waited for are asked what they do.
const ASKING: Duration = Duration::from_secs(1);

/// Do so many ranks on one machine have to share its cores? (Of ranks that are bound to a core
/// each, this is not known; they lose little by it.)
pub(crate) fn is_crowded(ranks: u64) -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| ranks > cores.get() as u64)
}

/// One wait, and whether it has lasted too long.
pub(crate) struct Patience {
    started: Instant,
    stall: Duration,
    /// Are there more ranks than cores?
    crowded: bool,
    spins: u32,
    asked: bool,
    told: bool,
}

impl Patience {
    /// A wait that begins now and is stalled after `stall`.
    pub fn new(stall: Duration, crowded: bool) -> Self {
        Self { started: Instant::now(), stall, crowded, spins: 0, asked: false, told: false }
    }

    /// Lets a little time pass; more, the longer nothing is `moving`.
    pub fn pause(&mut self, moving: bool) {
        if !self.is_idle() {
            self.spins += 1;
            match self.crowded {
                true => std::thread::yield_now(),
                false => std::hint::spin_loop(),
            }
            return;
        }
        let waited = self.started.elapsed();
        if moving || (!self.crowded && waited < YIELDING) {
            std::thread::yield_now();
        } else {
            // A tenth of the time waited: a wait never lasts more than a tenth too long.
            std::thread::sleep((waited / 10).clamp(SHORTEST_SLEEP, LONGEST_SLEEP));
        }
    }

    /// Does it wait so long that it may do something else meanwhile?
    pub fn is_idle(&self) -> bool {
        self.spins >= if self.crowded { CROWDED_SPINS } else { SPINS }
    }

    /// Is it time to ask? Once.
    pub fn asks(&mut self) -> bool {
        let asks = self.is_idle() && !self.asked && self.started.elapsed() > ASKING;
        self.asked |= asks;
        asks
    }

    /// How long it has lasted.
    pub fn lasted(&self) -> Duration {
        self.started.elapsed()
    }

    /// How long the wait has lasted: once, when that is too long.
    pub fn stalled(&mut self) -> Option<Duration> {
        // The clock costs as much as a poll; nothing stalls while it spins.
        if self.told || !self.is_idle() {
            return None;
        }
        let waited = self.started.elapsed();
        self.told = waited > self.stall;
        self.told.then_some(waited)
    }
}
