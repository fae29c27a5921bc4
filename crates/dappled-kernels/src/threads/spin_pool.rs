//! Workers on rayon's threads that spin briefly for the next job before they end.
//!
//! Work arrives as a sequence of short jobs with a little Python in between, and waking a sleeping
//! thread takes as long as such a job. A worker is a task of the process's one thread pool, rayon's
//! global one; while it spins, it executes other tasks of that pool.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use crate::config::{SPIN_DURATION, SPINS_PER_YIELD};
use dappled_base::interrupt;

/// Work that several threads execute at the same time until none is left.
type Job<'a> = dyn Fn() + Sync + 'a;

/// A job whose lifetime is erased; [`PostedJob`] outlives every use.
type StaticJob = &'static Job<'static>;

pub(crate) struct SpinPool {
    state: Mutex<PoolState>,
    /// The number of jobs posted so far.
    job_count: AtomicUsize,
    /// The number of workers that execute the current job.
    active_workers: AtomicUsize,
}

/// The payload of a job's panic.
type Panic = Box<dyn Any + Send>;

#[derive(Default)]
struct PoolState {
    job: Option<StaticJob>,
    /// How many more workers may join the job.
    open_slots: usize,
    /// The workers that were started and have not ended.
    workers: usize,
    panic: Option<Panic>,
}

/// A job that workers may join; dropping it withdraws the job and waits for its workers.
struct PostedJob<'a>(&'a SpinPool);

impl SpinPool {
    /// The pool of this process.
    pub fn global() -> &'static Self {
        static POOL: OnceLock<SpinPool> = OnceLock::new();
        POOL.get_or_init(Self::new)
    }

    fn new() -> Self {
        Self {
            state: Mutex::default(),
            job_count: AtomicUsize::new(0),
            active_workers: AtomicUsize::new(0),
        }
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
        &'static self,
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

    fn post(&'static self, job: StaticJob, others: usize) -> Option<PostedJob<'static>> {
        let mut state = self.lock_state();
        if state.job.is_some() {
            return None;
        }
        (state.job, state.open_slots, state.panic) = (Some(job), others, None);
        self.job_count.fetch_add(1, Ordering::Release);
        let missing = others.saturating_sub(state.workers);
        state.workers += missing;
        drop(state);
        let posted = PostedJob(self);
        (0..missing).for_each(|_| rayon::spawn(|| self.run_worker()));
        Some(posted)
    }

    /// Executes jobs until none comes for a while.
    fn run_worker(&self) {
        let mut seen = self.job_count.load(Ordering::Acquire);
        loop {
            if let Some(job) = self.take_job() {
                if let Err(panic) = catch_unwind(AssertUnwindSafe(job)) {
                    self.lock_state().panic = Some(panic);
                }
                self.active_workers.fetch_sub(1, Ordering::Release);
            }
            match self.wait_for_job(seen) {
                Some(posted) => seen = posted,
                None => return,
            }
        }
    }

    /// The current job, if it accepts another worker.
    fn take_job(&self) -> Option<StaticJob> {
        let mut state = self.lock_state();
        state.open_slots = state.open_slots.checked_sub(1)?;
        self.active_workers.fetch_add(1, Ordering::Relaxed);
        state.job
    }

    /// Spins for a job after the first `seen` ones and returns the new count; `None` if the worker
    /// has ended.
    fn wait_for_job(&self, seen: usize) -> Option<usize> {
        let since = Instant::now();
        while since.elapsed() < SPIN_DURATION {
            for _ in 0..SPINS_PER_YIELD {
                let posted = self.job_count.load(Ordering::Acquire);
                if posted != seen {
                    return Some(posted);
                }
                std::hint::spin_loop();
            }
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                thread::yield_now();
            }
        }
        let mut state = self.lock_state();
        // A job that was posted since counts on this worker.
        let posted = self.job_count.load(Ordering::Relaxed);
        if posted != seen {
            return Some(posted);
        }
        state.workers -= 1;
        None
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

    fn leaked_pool() -> &'static SpinPool {
        Box::leak(Box::new(SpinPool::new()))
    }

    /// The sum of the numbers below `bound`, computed by several threads.
    fn sum(pool: &'static SpinPool, bound: usize) -> Option<usize> {
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
        let pool = leaked_pool();
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
        let pool = leaked_pool();
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
        let pool = leaked_pool();
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
