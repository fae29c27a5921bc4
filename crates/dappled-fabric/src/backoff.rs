//! Backoff of a waiting rank: spin, then yield, then sleep.
//!
//! Spinning responds within a microsecond if each rank has a core of its own. With more ranks than
//! cores the awaited rank may need this core, so the wait yields after a few polls and soon sleeps:
//! ranks that only yield take turns with each other, and the scheduler runs the awaited rank last
//! because it has used more of its share. Transfers advance only while both sides poll, so a wait
//! never sleeps while one is in progress; otherwise a large message would advance one piece per
//! sleep.

use std::time::{Duration, Instant};

use crate::config::{
    MAX_SLEEP, MIN_SLEEP, OVERSUBSCRIBED_SPIN_POLLS, QUERY_DELAY, SPIN_POLLS, YIELD_DURATION,
};

/// Returns whether this many ranks on one machine share its cores. Ranks that are each bound to a
/// core count as sharing too; the cost is small.
pub(crate) fn is_oversubscribed(ranks: u64) -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| ranks > cores.get() as u64)
}

/// The state of one wait: how long it has lasted and which steps were taken.
pub(crate) struct Backoff {
    started: Instant,
    stall_timeout: Duration,
    /// Whether there are more ranks than cores.
    oversubscribed: bool,
    spins: u32,
    queried: bool,
    stall_reported: bool,
}

impl Backoff {
    /// Starts a wait that is reported as stalled after `stall_timeout`.
    pub fn new(stall_timeout: Duration, oversubscribed: bool) -> Self {
        Self {
            started: Instant::now(),
            stall_timeout,
            oversubscribed,
            spins: 0,
            queried: false,
            stall_reported: false,
        }
    }

    /// Pauses, longer the longer the wait lasts; never sleeps while a transfer is in progress.
    pub fn pause(&mut self, is_transferring: bool) {
        if !self.is_idle() {
            self.spins += 1;
            match self.oversubscribed {
                true => std::thread::yield_now(),
                false => std::hint::spin_loop(),
            }
            return;
        }
        let waited = self.started.elapsed();
        if is_transferring || (!self.oversubscribed && waited < YIELD_DURATION) {
            std::thread::yield_now();
        } else {
            // Sleeping a tenth of the time waited bounds the overshoot to ten percent.
            std::thread::sleep((waited / 10).clamp(MIN_SLEEP, MAX_SLEEP));
        }
    }

    /// Returns whether the wait has passed its spinning phase.
    pub fn is_idle(&self) -> bool {
        self.spins >= if self.oversubscribed { OVERSUBSCRIBED_SPIN_POLLS } else { SPIN_POLLS }
    }

    /// Returns true once, when the awaited ranks should be queried.
    pub fn should_query(&mut self) -> bool {
        let queries = self.is_idle() && !self.queried && self.started.elapsed() > QUERY_DELAY;
        self.queried |= queries;
        queries
    }

    /// Returns how long the wait has lasted.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the duration of the wait once, when it exceeds the stall timeout.
    pub fn take_stall(&mut self) -> Option<Duration> {
        // Reading the clock costs as much as a poll, and a spinning wait cannot have stalled.
        if self.stall_reported || !self.is_idle() {
            return None;
        }
        let waited = self.started.elapsed();
        self.stall_reported = waited > self.stall_timeout;
        self.stall_reported.then_some(waited)
    }
}
