//! Threads for a process that was forked: those of its parent were not copied with it.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

static FORKED: AtomicBool = AtomicBool::new(false);

/// Says that this process was forked after its parent had threads: none of them is here.
pub fn set_forked() {
    FORKED.store(true, Ordering::Relaxed);
}

/// Is this thread one that no other thread can help, as those of the pools are gone?
pub(crate) fn is_alone() -> bool {
    FORKED.load(Ordering::Relaxed) && rayon::current_thread_index().is_none()
}

/// A thread pool, and the process that its threads are in.
struct Own {
    process: u32,
    /// None where threads can't be had.
    pool: Option<ThreadPool>,
}

/// Does something with threads that belong to this process, whatever was done before it was forked.
///
/// Uses no lock: one could have been held by another thread when the process was forked.
pub fn in_fresh_pool<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    static OWN: AtomicPtr<Own> = AtomicPtr::new(null_mut());
    let process = std::process::id();
    // SAFETY: null, or made by `Box::leak` below.
    let found = unsafe { OWN.load(Ordering::Acquire).as_ref() };
    let own = found.filter(|own| own.process == process).unwrap_or_else(|| {
        // Two threads may both make one: each is used by who made it, and the last one by all after.
        let pool = ThreadPoolBuilder::new().build().ok();
        let own = Box::leak(Box::new(Own { process, pool }));
        OWN.store(own, Ordering::Release);
        own
    });
    match &own.pool {
        Some(pool) => pool.install(act),
        None => act(),
    }
}
