//! Cooperative interruption of long loops and waits.
//!
//! The thread that starts the work registers a check, such as that for Python's signals, which only
//! the main thread may run. [`poll`] runs the check at most every [`POLL_INTERVAL`]. A positive
//! check sets a flag for all threads, and each unwinds with [`Interrupted`] at its next [`check`]
//! or [`poll`].

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Minimum time between two checks.
pub const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Number of elements from which on work may last long enough to be interrupted.
const MIN_POOLED_ELEMENTS: usize = 1 << 20;

/// Work was interrupted. The payload of an unwinding panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Returns whether the work of this thread should end.
pub type InterruptCheck = fn() -> bool;

static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The check of this thread, and the time of its next run.
    static WATCH: Cell<Option<(InterruptCheck, Instant)>> = const { Cell::new(None) };
}

/// Runs `act`, which unwinds early if `look`, called regularly on this thread, returns true.
///
/// The caller calls [`clear`] after the work or after catching the panic.
pub fn with_interrupt_check<T>(look: InterruptCheck, act: impl FnOnce() -> T) -> T {
    /// Restores the previous check, also after a panic.
    struct RestoreWatch(Option<(InterruptCheck, Instant)>);
    impl Drop for RestoreWatch {
        fn drop(&mut self) {
            WATCH.set(self.0);
        }
    }
    let _before = RestoreWatch(WATCH.replace(Some((look, Instant::now() + POLL_INTERVAL))));
    act()
}

/// Returns whether this thread has an interrupt check.
pub fn is_watched() -> bool {
    WATCH.get().is_some()
}

/// Unwinds if the work was interrupted.
#[inline]
pub fn check() {
    if IS_INTERRUPTED.load(Ordering::Relaxed) {
        resume_unwind(Box::new(Interrupted));
    }
}

/// Runs the check if it is due, and unwinds if the work was interrupted.
#[inline]
pub fn poll() {
    poll_without_unwinding();
    check();
}

/// Runs the check if it is due; does not unwind.
#[inline]
pub fn poll_without_unwinding() {
    if let Some((look, next)) = WATCH.get() {
        run_interrupt_check(look, next);
    }
}

fn run_interrupt_check(look: InterruptCheck, next: Instant) {
    let now = Instant::now();
    if now >= next {
        // Disabled while it runs, because it may run a signal handler of the program.
        WATCH.set(None);
        let ends = look();
        WATCH.set(Some((look, Instant::now() + POLL_INTERVAL)));
        if ends {
            IS_INTERRUPTED.store(true, Ordering::Relaxed);
        }
    }
}

/// Clears the interrupt flag, so that later work can run.
pub fn clear() {
    // Read before writing: a write would invalidate the cache line on all other cores.
    if IS_INTERRUPTED.load(Ordering::Relaxed) {
        IS_INTERRUPTED.store(false, Ordering::Relaxed);
    }
}

/// Runs `act` in the thread pool while this thread keeps checking for an interrupt.
///
/// Without this, the calling thread would sleep until a parallel loop of rayon is done. Work on few
/// elements, or without a check, runs on the calling thread.
pub fn run_in_pool<T: Send>(elements: usize, act: impl FnOnce() -> T + Send) -> T {
    if elements < MIN_POOLED_ELEMENTS || !is_watched() || rayon::current_thread_index().is_some() {
        return act();
    }
    let (done, bell) = (Mutex::new(false), Condvar::new());
    /// Notifies also after a panic, which the scope propagates.
    struct NotifyOnDrop<'a>(&'a Mutex<bool>, &'a Condvar);
    impl Drop for NotifyOnDrop<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.1.notify_one();
        }
    }
    let mut result = None;
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| {
            let _ring = NotifyOnDrop(&done, &bell);
            result = Some(act());
        });
        let mut is_done = done.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_done {
            (is_done, _) =
                bell.wait_timeout(is_done, POLL_INTERVAL).unwrap_or_else(PoisonError::into_inner);
            poll_without_unwinding();
        }
    });
    result.expect("done, or the scope has unwound")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread::sleep;

    /// A single test, because all threads share the flag.
    #[test]
    fn work_ends_when_the_thread_that_asked_says_so() {
        let forever = || {
            loop {
                poll();
                sleep(Duration::from_millis(1));
            }
        };
        let ended = catch_unwind(AssertUnwindSafe(|| with_interrupt_check(|| true, forever)));
        assert!(ended.unwrap_err().is::<Interrupted>());
        clear();
        let pooled_forever =
            || with_interrupt_check(|| true, || run_in_pool(MIN_POOLED_ELEMENTS, forever));
        assert!(catch_unwind(AssertUnwindSafe(pooled_forever)).unwrap_err().is::<Interrupted>());
        clear();
        assert_eq!(with_interrupt_check(|| false, || run_in_pool(MIN_POOLED_ELEMENTS, || 7)), 7);
        let short = || {
            sleep(2 * POLL_INTERVAL);
            poll();
        };
        with_interrupt_check(|| false, short);
        assert!(!is_watched());
        short();
    }
}
