//! Thread pools in a forked process, which inherits no threads.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

static FORKED: AtomicBool = AtomicBool::new(false);

/// Records that this process was forked, so that the threads of the pools no longer exist.
pub fn set_forked() {
    FORKED.store(true, Ordering::Relaxed);
}

/// True if no worker thread exists that could help this thread.
pub(crate) fn has_no_workers() -> bool {
    FORKED.load(Ordering::Relaxed) && rayon::current_thread_index().is_none()
}

/// A thread pool and the id of the process that owns its threads.
struct ProcessPool {
    process: u32,
    /// `None` if the threads could not be created.
    threads: Option<ThreadPool>,
}

/// Runs a closure in a thread pool that belongs to this process.
///
/// Uses no lock, since another thread may have held it during the fork.
pub fn install_after_fork<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    static CURRENT: AtomicPtr<ProcessPool> = AtomicPtr::new(null_mut());
    let process = std::process::id();
    // SAFETY: null, or a pointer from `Box::leak` below.
    let current = unsafe { CURRENT.load(Ordering::Acquire).as_ref() };
    let pool = current.filter(|pool| pool.process == process).unwrap_or_else(|| {
        // Two threads may both create a pool: each uses its pool, and later calls use the last one
        // stored.
        let threads = ThreadPoolBuilder::new().build().ok();
        let pool = Box::leak(Box::new(ProcessPool { process, threads }));
        CURRENT.store(pool, Ordering::Release);
        pool
    });
    match &pool.threads {
        Some(threads) => threads.install(work),
        None => work(),
    }
}
