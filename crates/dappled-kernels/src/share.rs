//! Work in parts, done by the thread that asks and by those of the pool that are free.
//!
//! The pool's own way is to do all of it elsewhere while the asking thread sleeps: that is two
//! threads to wake, and for short work that takes as long as the work.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dappled_base::{interrupt, memory};

use crate::crew::Crew;
use crate::pool;

/// Does all parts; the results in their order. The thread that asks begins with the first, others
/// with the last: so in a loop each finds in its cache what it had the last time.
pub(crate) fn share<P: Send, R: Send>(parts: Vec<P>, work: impl Fn(P) -> R + Sync) -> Vec<R> {
    let count = parts.len();
    let others = (rayon::current_num_threads() - 1).min(count.saturating_sub(1));
    if others == 0 || pool::is_alone() {
        return memory::collected(parts.into_iter().map(work));
    }
    let waiting = Mutex::new(VecDeque::from(memory::collected(parts.into_iter().enumerate())));
    let done = Mutex::new(memory::with_room(count));
    let first = || locked(&waiting).pop_front();
    let last = || locked(&waiting).pop_back();
    let run = |(at, part): (usize, P)| {
        let result = work(part);
        locked(&done).push((at, result));
    };
    let theirs = || std::iter::from_fn(last).for_each(run);
    let own = || {
        std::iter::from_fn(first).for_each(|part| {
            interrupt::look();
            run(part);
        });
    };
    // In a pool, that of a process that was forked or of a caller, there is no crew, or it is busy.
    let alone = rayon::current_thread_index().is_none();
    if !alone || Crew::own().with(others, &theirs, own).is_none() {
        rayon::in_place_scope(|scope| {
            (0..others).for_each(|_| scope.spawn(|_| theirs()));
            own();
        });
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|&(at, _)| at);
    memory::collected(done.into_iter().map(|(_, result)| result))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whoever_asks() {
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for count in [0, 1, 2, 100] {
                let squares = || share((0..count).collect(), |at: usize| at * at);
                let expected: Vec<usize> = (0..count).map(|at| at * at).collect();
                assert_eq!(squares(), expected);
                assert_eq!(pool.install(squares), expected);
            }
        }
    }
}
