//! Thread pool whose workers spin briefly before they sleep.
//!
//! Work arrives as a sequence of short jobs with a little Python in between, and waking a sleeping
//! thread takes as long as such a job.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use crate::config::{SPIN_DURATION, SPINS_PER_YIELD};
use dappled_base::interrupt;

/// Work that several threads execute at the same time until none is left.
type Job<'a> = dyn Fn() + Sync + 'a;

/// A job whose lifetime is erased; [`PostedJob`] outlives every use.
type StaticJob = &'static Job<'static>;

pub(crate) struct SpinPool {
    threads: usize,
    state: Mutex<PoolState>,
    /// The number of jobs posted so far.
    job_count: AtomicUsize,
    /// The number of workers that execute the current job.
    active_workers: AtomicUsize,
    wakeup: Condvar,
}

/// The payload of a job's panic.
type Panic = Box<dyn Any + Send>;

#[derive(Default)]
struct PoolState {
    job: Option<StaticJob>,
    /// How many more workers may join the job.
    open_slots: usize,
    asleep: usize,
    panic: Option<Panic>,
}

/// A job that workers may join; dropping it withdraws the job and waits for its workers.
struct PostedJob<'a>(&'a SpinPool);

impl SpinPool {
    /// The pool of this process, with one worker less than there are threads.
    pub fn global() -> &'static Self {
        static POOL: OnceLock<&SpinPool> = OnceLock::new();
        POOL.get_or_init(|| Self::with_workers(rayon::current_num_threads() - 1))
    }

    fn with_workers(threads: usize) -> &'static Self {
        let pool: &'static Self = Box::leak(Box::new(Self {
            threads,
            state: Mutex::default(),
            job_count: AtomicUsize::new(0),
            active_workers: AtomicUsize::new(0),
            wakeup: Condvar::new(),
        }));
        for _ in 0..threads {
            // A worker that could not be created only reduces parallelism: the caller does the
            // remaining work.
            let _ = thread::Builder::new().name("dappled".into()).spawn(|| pool.worker_loop());
        }
        pool
    }

    /// True if the previous call was a moment ago, so that workers are awake or worth waking.
    pub fn is_awake() -> bool {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        static LAST: AtomicU64 = AtomicU64::new(0);
        let now = START.elapsed().as_nanos() as u64;
        let before = LAST.swap(now, Ordering::Relaxed);
        rayon::current_num_threads() > 1
            && now.saturating_sub(before) < SPIN_DURATION.as_nanos() as u64
    }

    /// Runs `own` while up to `others` workers run `theirs`. Returns `None`, with nothing run, if
    /// the pool is busy.
    pub fn run_with<T>(
        &self,
        others: usize,
        theirs: &Job<'_>,
        own: impl FnOnce() -> T,
    ) -> Option<T> {
        // SAFETY: the borrow outlives its uses: `PostedJob`, which is dropped before this function
        // returns or unwinds, withdraws the job and waits for every worker that has it.
        let theirs = unsafe { std::mem::transmute::<&Job<'_>, StaticJob>(theirs) };
        let posted = self.post(theirs, others)?;
        let result = own();
        let panic = posted.wait_for_workers();
        drop(posted);
        match panic {
            Some(panic) => resume_unwind(panic),
            None => Some(result),
        }
    }

    fn post(&self, job: StaticJob, others: usize) -> Option<PostedJob<'_>> {
        let mut state = self.lock_state();
        if state.job.is_some() {
            return None;
        }
        (state.job, state.open_slots, state.panic) = (Some(job), others, None);
        self.job_count.fetch_add(1, Ordering::Release);
        let awake = self.threads - state.asleep;
        (awake..others).for_each(|_| self.wakeup.notify_one());
        Some(PostedJob(self))
    }

    /// Executes jobs for the lifetime of the process.
    fn worker_loop(&self) {
        let mut seen = 0;
        loop {
            seen = self.wait_for_job(seen);
            let Some(job) = self.take_job() else { continue };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(job)) {
                self.lock_state().panic = Some(panic);
            }
            self.active_workers.fetch_sub(1, Ordering::Release);
        }
    }

    /// The current job, if it accepts another worker.
    fn take_job(&self) -> Option<StaticJob> {
        let mut state = self.lock_state();
        state.open_slots = state.open_slots.checked_sub(1)?;
        self.active_workers.fetch_add(1, Ordering::Relaxed);
        state.job
    }

    /// Waits for a job after the first `seen` ones: spinning, then asleep. Returns the new count.
    fn wait_for_job(&self, seen: usize) -> usize {
        let since = Instant::now();
        while since.elapsed() < SPIN_DURATION {
            for _ in 0..SPINS_PER_YIELD {
                let posted = self.job_count.load(Ordering::Acquire);
                if posted != seen {
                    return posted;
                }
                std::hint::spin_loop();
            }
            thread::yield_now();
        }
        let mut state = self.lock_state();
        while self.job_count.load(Ordering::Relaxed) == seen {
            state.asleep += 1;
            state = self.wakeup.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep -= 1;
        }
        self.job_count.load(Ordering::Relaxed)
    }

    fn lock_state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PostedJob<'_> {
    /// Waits until no worker has the job, and returns the panic of one of them.
    ///
    /// The panic is read while the job is still posted: after its withdrawal another thread may
    /// post a job with panics of its own.
    fn wait_for_workers(&self) -> Option<Panic> {
        let pool = self.0;
        pool.lock_state().open_slots = 0;
        let mut spins = 0;
        while pool.active_workers.load(Ordering::Acquire) > 0 {
            std::hint::spin_loop();
            spins += 1;
            if spins % SPINS_PER_YIELD == 0 {
                interrupt::poll_without_unwinding();
                thread::yield_now();
            }
        }
        pool.lock_state().panic.take()
    }
}

impl Drop for PostedJob<'_> {
    fn drop(&mut self) {
        // A panic of this thread takes precedence over a worker's.
        drop(self.wait_for_workers());
        // Only now may another thread post: `active_workers` counts the workers of one job.
        self.0.lock_state().job = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of the numbers below `bound`, computed by several threads.
    fn sum(pool: &SpinPool, bound: usize) -> Option<usize> {
        let (next, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&at| at < bound);
            for at in std::iter::from_fn(take) {
                total.fetch_add(at, Ordering::Relaxed);
            }
        };
        pool.run_with(2, &work, work).map(|()| total.into_inner())
    }

    #[test]
    fn jobs_run_once_and_one_at_a_time() {
        let pool = SpinPool::with_workers(2);
        for round in 0..2000 {
            assert_eq!(sum(pool, 100), Some(4950));
            if round % 500 == 0 {
                thread::sleep(2 * SPIN_DURATION);
            }
        }
        let call = || (0..500).filter_map(|_| sum(pool, 100)).all(|total| total == 4950);
        thread::scope(|scope| {
            let callers: Vec<_> = (0..3).map(|_| scope.spawn(call)).collect();
            assert!(callers.into_iter().all(|thread| thread.join().unwrap()));
        });
    }

    #[test]
    fn a_panic_propagates_and_the_pool_survives() {
        let pool = SpinPool::with_workers(1);
        let started = AtomicUsize::new(0);
        let panics = || {
            started.fetch_add(1, Ordering::Relaxed);
            panic!("expected");
        };
        let own = || {
            while started.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
        };
        let call = || pool.run_with(1, &panics, own);
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        assert_eq!(sum(pool, 10), Some(45));
    }

    /// A panic reaches the thread that posted the job, and no other, while several threads post.
    #[test]
    fn a_panic_reaches_the_thread_that_posted_the_job() {
        let pool = SpinPool::with_workers(1);
        let done = AtomicUsize::new(0);
        let posts = || {
            let mut wrong = 0;
            while done.load(Ordering::Relaxed) == 0 {
                let call = || sum(pool, 3).is_none_or(|total| total == 3);
                wrong += usize::from(!catch_unwind(AssertUnwindSafe(call)).unwrap_or(false));
            }
            wrong
        };
        let panics = || {
            let mut lost = 0;
            for _ in 0..20_000 {
                let started = AtomicUsize::new(0);
                let theirs = || {
                    started.store(1, Ordering::Relaxed);
                    // `panic!` would print a message.
                    resume_unwind(Box::new("expected"));
                };
                let own = || {
                    let since = Instant::now();
                    while started.load(Ordering::Relaxed) == 0
                        && since.elapsed() < 10 * SPIN_DURATION
                    {
                        thread::yield_now();
                    }
                    started.load(Ordering::Relaxed)
                };
                let call = || pool.run_with(1, &theirs, own);
                lost += usize::from(matches!(catch_unwind(AssertUnwindSafe(call)), Ok(Some(1))));
            }
            done.store(1, Ordering::Relaxed);
            lost
        };
        thread::scope(|scope| {
            let posting: Vec<_> = (0..2).map(|_| scope.spawn(posts)).collect();
            assert_eq!(panics(), 0, "lost panics");
            assert!(posting.into_iter().all(|thread| thread.join().unwrap() == 0));
        });
    }
}
