//! Every threshold of the crate, with its unit and meaning.

/// Compiled loops that are cached; then the cache is emptied, and loops are freed with their last
/// users.
pub(crate) const MAX_CACHED_LOOPS: usize = 256;

/// Work, in elements times steps, that the interpreter does in about the time of a compilation.
pub(crate) const MIN_COMPILE_WORK: usize = 1 << 21;

/// Steps from which a fused loop is faster than precompiled kernels.
pub(crate) const MIN_FUSED_STEPS: usize = 2;

/// Broadcast inputs that stay in vector registers for the whole loop.
pub(crate) const MAX_PINNED_BROADCASTS: usize = 5;
