//! Parallel map over a list of tasks, in which the calling thread takes part.
//!
//! Rayon would run all tasks elsewhere while the caller sleeps; waking two threads takes as long as
//! a short task.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dappled_base::{interrupt, memory};

use super::after_fork;
use super::spin_pool::SpinPool;

/// Maps all tasks and returns the results in order.
///
/// The caller starts with the first task and the workers with the last: in a loop, each thread
/// finds its data of the previous call in its cache.
pub(crate) fn parallel_map<P: Send, R: Send>(
    tasks: Vec<P>,
    work: impl Fn(P) -> R + Sync,
) -> Vec<R> {
    let count = tasks.len();
    let workers = (rayon::current_num_threads() - 1).min(count.saturating_sub(1));
    if workers == 0 || after_fork::has_no_workers() {
        return memory::collect(tasks.into_iter().map(work));
    }
    let queue = Mutex::new(VecDeque::from(memory::collect(tasks.into_iter().enumerate())));
    let done = Mutex::new(memory::with_capacity(count));
    let first = || lock(&queue).pop_front();
    let last = || lock(&queue).pop_back();
    let run = |(at, task): (usize, P)| {
        let result = work(task);
        lock(&done).push((at, result));
    };
    let worker = || std::iter::from_fn(last).for_each(run);
    let caller = || {
        std::iter::from_fn(first).for_each(|task| {
            interrupt::poll_without_unwinding();
            run(task);
        });
    };
    // Inside a rayon pool, that of a forked process or of a caller, the spin pool is absent or
    // busy.
    let outside_rayon = rayon::current_thread_index().is_none();
    if !outside_rayon || SpinPool::global().run_with(workers, &worker, caller).is_none() {
        rayon::in_place_scope(|scope| {
            (0..workers).for_each(|_| scope.spawn(|_| worker()));
            caller();
        });
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|&(at, _)| at);
    memory::collect(done.into_iter().map(|(_, result)| result))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_on_any_thread() {
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for count in [0, 1, 2, 100] {
                let squares = || parallel_map((0..count).collect(), |at: usize| at * at);
                let expected: Vec<usize> = (0..count).map(|at| at * at).collect();
                assert_eq!(squares(), expected);
                assert_eq!(pool.install(squares), expected);
            }
        }
    }
}
