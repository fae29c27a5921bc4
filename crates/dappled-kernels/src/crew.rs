//! Threads that stay awake for a moment when their work is done.
//!
//! Work comes in short pieces, one after the other, with a little Python in between; to wake a thread
//! that sleeps takes as long as such a piece.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use dappled_base::interrupt;

/// So long they wait awake; others that want the core get it meanwhile.
const AWAKE: Duration = Duration::from_micros(100);

/// How often they look before they see to others: some 10 µs, as work may come while they do.
const LOOKS: usize = 256;

/// What several threads do at the same time, until nothing is left of it.
type Work<'a> = dyn Fn() + Sync + 'a;

/// The same, as long as those that have it need it.
type Lasting = &'static Work<'static>;

pub(crate) struct Crew {
    threads: usize,
    now: Mutex<Now>,
    /// How often there was work.
    posted: AtomicUsize,
    /// How many are at work.
    busy: AtomicUsize,
    bell: Condvar,
}

/// What a job panicked with.
type Panic = Box<dyn Any + Send>;

#[derive(Default)]
struct Now {
    work: Option<Lasting>,
    /// How many more may take part.
    wanted: usize,
    asleep: usize,
    panic: Option<Panic>,
}

/// Work that others may have; taken back, and waited for, when this is dropped.
struct Posted<'a>(&'a Crew);

impl Crew {
    /// That of this process: as many as there are threads beside the one that asks.
    pub fn own() -> &'static Self {
        static CREW: OnceLock<&Crew> = OnceLock::new();
        CREW.get_or_init(|| Self::of(rayon::current_num_threads() - 1))
    }

    fn of(threads: usize) -> &'static Self {
        let crew: &'static Self = Box::leak(Box::new(Self {
            threads,
            now: Mutex::default(),
            posted: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
            bell: Condvar::new(),
        }));
        for _ in 0..threads {
            // One that can't be had is missed by nobody: who asks does all that others don't.
            let _ = thread::Builder::new().name("dappled".into()).spawn(|| crew.serve());
        }
        crew
    }

    /// Was this asked a moment ago as well? Then others are awake, or worth waking.
    pub fn is_at_hand() -> bool {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        static LAST: AtomicU64 = AtomicU64::new(0);
        let now = START.elapsed().as_nanos() as u64;
        let before = LAST.swap(now, Ordering::Relaxed);
        rayon::current_num_threads() > 1 && now.saturating_sub(before) < AWAKE.as_nanos() as u64
    }

    /// Does its own while up to so many others do theirs; None, with nothing done, where somebody
    /// else has the crew.
    pub fn with<T>(&self, others: usize, theirs: &Work<'_>, own: impl FnOnce() -> T) -> Option<T> {
        // SAFETY: the borrow outlives its use by others: `Posted`, which is dropped before this
        // function ends in whatever way, takes it back and waits for those that have it.
        let theirs = unsafe { std::mem::transmute::<&Work<'_>, Lasting>(theirs) };
        let posted = self.post(theirs, others)?;
        let result = own();
        let panic = posted.finish();
        drop(posted);
        match panic {
            Some(panic) => resume_unwind(panic),
            None => Some(result),
        }
    }

    fn post(&self, work: Lasting, others: usize) -> Option<Posted<'_>> {
        let mut now = self.locked();
        if now.work.is_some() {
            return None;
        }
        (now.work, now.wanted, now.panic) = (Some(work), others, None);
        self.posted.fetch_add(1, Ordering::Release);
        let awake = self.threads - now.asleep;
        (awake..others).for_each(|_| self.bell.notify_one());
        Some(Posted(self))
    }

    /// What one of the crew does all its life.
    fn serve(&self) {
        let mut seen = 0;
        loop {
            seen = self.next(seen);
            let Some(work) = self.join() else { continue };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
                self.locked().panic = Some(panic);
            }
            self.busy.fetch_sub(1, Ordering::Release);
        }
    }

    /// The work, if it wants one more.
    fn join(&self) -> Option<Lasting> {
        let mut now = self.locked();
        now.wanted = now.wanted.checked_sub(1)?;
        self.busy.fetch_add(1, Ordering::Relaxed);
        now.work
    }

    /// Waits until there is other work than was seen: awake, then asleep.
    fn next(&self, seen: usize) -> usize {
        let since = Instant::now();
        while since.elapsed() < AWAKE {
            for _ in 0..LOOKS {
                let posted = self.posted.load(Ordering::Acquire);
                if posted != seen {
                    return posted;
                }
                std::hint::spin_loop();
            }
            thread::yield_now();
        }
        let mut now = self.locked();
        while self.posted.load(Ordering::Relaxed) == seen {
            now.asleep += 1;
            now = self.bell.wait(now).unwrap_or_else(PoisonError::into_inner);
            now.asleep -= 1;
        }
        self.posted.load(Ordering::Relaxed)
    }

    fn locked(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Posted<'_> {
    /// Waits until no other thread has the work, and returns the panic of one of them.
    ///
    /// The panic is read while the work is still posted: once it is withdrawn another thread may
    /// post, whose jobs have panics of their own.
    fn finish(&self) -> Option<Panic> {
        let crew = self.0;
        crew.locked().wanted = 0;
        let mut looks = 0;
        while crew.busy.load(Ordering::Acquire) > 0 {
            std::hint::spin_loop();
            looks += 1;
            if looks % LOOKS == 0 {
                interrupt::look();
                thread::yield_now();
            }
        }
        crew.locked().panic.take()
    }
}

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        // The panic of another thread gives way to one of this thread's.
        drop(self.finish());
        // Only now may somebody else post: those at work are counted together.
        self.0.locked().work = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers below a bound that several threads have added up.
    fn sum(crew: &Crew, bound: usize) -> Option<usize> {
        let (next, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < bound);
            for at in std::iter::from_fn(take) {
                total.fetch_add(at, Ordering::Relaxed);
            }
        };
        crew.with(2, &work, work).map(|()| total.into_inner())
    }

    #[test]
    fn all_is_done_once_awake_or_asleep_and_by_one_at_a_time() {
        let crew = Crew::of(2);
        for turn in 0..2000 {
            assert_eq!(sum(crew, 100), Some(4950));
            if turn % 500 == 0 {
                thread::sleep(2 * AWAKE);
            }
        }
        let asked = || (0..500).filter_map(|_| sum(crew, 100)).all(|total| total == 4950);
        thread::scope(|scope| {
            let asking: Vec<_> = (0..3).map(|_| scope.spawn(asked)).collect();
            assert!(asking.into_iter().all(|thread| thread.join().unwrap()));
        });
    }

    #[test]
    fn a_panic_comes_back_and_the_crew_goes_on() {
        let crew = Crew::of(1);
        let started = AtomicUsize::new(0);
        let panics = || {
            started.fetch_add(1, Ordering::Relaxed);
            panic!("as it should");
        };
        let own = || {
            while started.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
        };
        let asked = || crew.with(1, &panics, own);
        assert!(catch_unwind(AssertUnwindSafe(asked)).is_err());
        assert_eq!(sum(crew, 10), Some(45));
    }

    /// A panic reaches the thread whose job it was, and no other, while several threads post jobs.
    #[test]
    fn a_panic_is_not_lost_to_another_thread_that_posts() {
        let crew = Crew::of(1);
        let done = AtomicUsize::new(0);
        let posts = || {
            let mut wrong = 0;
            while done.load(Ordering::Relaxed) == 0 {
                let asked = || sum(crew, 3).is_none_or(|total| total == 3);
                wrong += usize::from(!catch_unwind(AssertUnwindSafe(asked)).unwrap_or(false));
            }
            wrong
        };
        let panics = || {
            let mut lost = 0;
            for _ in 0..20_000 {
                let started = AtomicUsize::new(0);
                let theirs = || {
                    started.store(1, Ordering::Relaxed);
                    // Without the message that `panic!` prints.
                    resume_unwind(Box::new("as it should"));
                };
                let own = || {
                    let since = Instant::now();
                    while started.load(Ordering::Relaxed) == 0 && since.elapsed() < 10 * AWAKE {
                        thread::yield_now();
                    }
                    started.load(Ordering::Relaxed)
                };
                let asked = || crew.with(1, &theirs, own);
                lost += usize::from(matches!(catch_unwind(AssertUnwindSafe(asked)), Ok(Some(1))));
            }
            done.store(1, Ordering::Relaxed);
            lost
        };
        thread::scope(|scope| {
            let posting: Vec<_> = (0..2).map(|_| scope.spawn(posts)).collect();
            assert_eq!(panics(), 0, "panics that nobody saw");
            assert!(posting.into_iter().all(|thread| thread.join().unwrap() == 0));
        });
    }
}
