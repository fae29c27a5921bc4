//! How many threads loops run on.

/// From now on so many. Too late, and refused, where a loop has run on several threads already.
pub fn use_threads(count: usize) -> bool {
    rayon::ThreadPoolBuilder::new().num_threads(count).build_global().is_ok()
}

/// How many it is.
pub fn threads() -> usize {
    rayon::current_num_threads()
}
