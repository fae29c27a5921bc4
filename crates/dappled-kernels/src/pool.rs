//! Threads for a process that was forked: those of its parent were not copied with it.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Does something with threads that belong to this process, whatever was done before it was forked.
pub fn in_fresh_pool<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    match POOL.get_or_init(|| ThreadPoolBuilder::new().build().ok()) {
        Some(pool) => pool.install(act),
        None => act(),
    }
}
