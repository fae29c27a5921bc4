//! Threads: their number, and how work is divided among them.
//!
//! `parallel_map` runs a list of tasks on the calling thread and on idle workers of the
//! `spin_pool`; `after_fork` provides threads to a forked process. Results are in the order of the
//! tasks, whatever thread ran them.

#[allow(unsafe_code)]
pub(crate) mod after_fork;
pub(crate) mod parallel_map;
#[allow(unsafe_code)]
pub(crate) mod spin_pool;

/// Sets the number of threads. Returns false if parallel work has already started.
pub fn set_thread_count(count: usize) -> bool {
    rayon::ThreadPoolBuilder::new().num_threads(count).build_global().is_ok()
}

/// The number of threads.
pub fn thread_count() -> usize {
    rayon::current_num_threads()
}
