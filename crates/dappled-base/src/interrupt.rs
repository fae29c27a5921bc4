//! Interruption: long loops and waits look now and then whether they should end.
//!
//! The thread that asked for the work says what it looks at with [`watched`]: Python's signals, which
//! only its main thread may see. [`poll`] looks, at most every [`EVERY`]. Who finds that the work
//! should end sets a flag for all threads, and each unwinds with [`Interrupted`] at its next
//! [`check`] or [`poll`].

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two looks.
pub const EVERY: Duration = Duration::from_millis(50);

/// Elements from which on work may last so long that somebody interrupts it.
const LONG: usize = 1 << 20;

/// Work was interrupted. The payload of an unwinding panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Says whether the work of this thread should end.
pub type Look = fn() -> bool;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What this thread looks at, and when it does so next.
    static WATCH: Cell<Option<(Look, Instant)>> = const { Cell::new(None) };
}

/// Does some work that ends early where `look`, called now and then on this thread, says so.
///
/// Whoever catches the unwinding panic, or finds the work done, calls [`clear`].
pub fn watched<T>(look: Look, act: impl FnOnce() -> T) -> T {
    /// Restores what was watched before, also if there was a panic.
    struct Before(Option<(Look, Instant)>);
    impl Drop for Before {
        fn drop(&mut self) {
            WATCH.set(self.0);
        }
    }
    let _before = Before(WATCH.replace(Some((look, Instant::now() + EVERY))));
    act()
}

/// Does this thread watch for an interruption?
pub fn is_watched() -> bool {
    WATCH.get().is_some()
}

/// Unwinds if the work should end.
#[inline]
pub fn check() {
    if INTERRUPTED.load(Ordering::Relaxed) {
        resume_unwind(Box::new(Interrupted));
    }
}

/// Looks, if it is time to, and unwinds if the work should end.
#[inline]
pub fn poll() {
    look();
    check();
}

/// Looks, if it is time to; does not unwind.
#[inline]
pub fn look() {
    if let Some((look, next)) = WATCH.get() {
        look_at(look, next);
    }
}

fn look_at(look: Look, next: Instant) {
    let now = Instant::now();
    if now >= next {
        // Not again while it looks, which may run a program's handler.
        WATCH.set(None);
        let ends = look();
        WATCH.set(Some((look, Instant::now() + EVERY)));
        if ends {
            INTERRUPTED.store(true, Ordering::Relaxed);
        }
    }
}

/// Lets work go on that begins after this.
pub fn clear() {
    // Read first: written by one thread, it would have to be fetched again by all others.
    if INTERRUPTED.load(Ordering::Relaxed) {
        INTERRUPTED.store(false, Ordering::Relaxed);
    }
}

/// Does work on so many elements in the thread pool while this thread watches, if it does.
///
/// For what rayon shares among its threads: the thread that asks would sleep until all is done. What
/// is short, or not watched, is done here.
pub fn pooled<T: Send>(elements: usize, act: impl FnOnce() -> T + Send) -> T {
    if elements < LONG || !is_watched() || rayon::current_thread_index().is_some() {
        return act();
    }
    let (done, bell) = (Mutex::new(false), Condvar::new());
    /// Rings also if there was a panic, which the scope passes on.
    struct Ring<'a>(&'a Mutex<bool>, &'a Condvar);
    impl Drop for Ring<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.1.notify_one();
        }
    }
    let mut result = None;
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| {
            let _ring = Ring(&done, &bell);
            result = Some(act());
        });
        let mut is_done = done.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_done {
            (is_done, _) =
                bell.wait_timeout(is_done, EVERY).unwrap_or_else(PoisonError::into_inner);
            look();
        }
    });
    result.expect("done, or the scope has unwound")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread::sleep;

    /// One test: the flag is shared by all threads.
    #[test]
    fn work_ends_when_the_thread_that_asked_says_so() {
        let forever = || {
            loop {
                poll();
                sleep(Duration::from_millis(1));
            }
        };
        let ended = catch_unwind(AssertUnwindSafe(|| watched(|| true, forever)));
        assert!(ended.unwrap_err().is::<Interrupted>());
        clear();
        let pooled_forever = || watched(|| true, || pooled(LONG, forever));
        assert!(catch_unwind(AssertUnwindSafe(pooled_forever)).unwrap_err().is::<Interrupted>());
        clear();
        assert_eq!(watched(|| false, || pooled(LONG, || 7)), 7);
        let short = || {
            sleep(2 * EVERY);
            poll();
        };
        watched(|| false, short);
        assert!(!is_watched());
        short();
    }
}
