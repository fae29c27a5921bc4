//! Thresholds of the transforms. `benches/fft_linalg.py` measures them.

/// Bytes of a batch of lines: the batch and the scratch memory stay in the L2 cache.
pub const BATCH_BYTES: usize = 1 << 17;

/// Minimum bytes of neighbouring elements in a batch: two cache lines.
pub const MIN_CONTIGUOUS_BYTES: usize = 128;

/// Maximum number of lines in a batch.
pub const MAX_BATCH_LINES: usize = 32;

/// Extra elements between the lines of a batch. Without them lines whose length is a power of two
/// would compete for a few sets of the cache.
pub const LINE_PADDING_ELEMENTS: usize = 8;

/// Length from which on the four-step algorithm is used if there are fewer lines than threads.
pub const MIN_FOUR_STEP_LENGTH_FEW_LINES: usize = 1 << 17;

/// Length from which on the four-step algorithm is always used: the line fits into no cache.
pub const MIN_FOUR_STEP_LENGTH: usize = 1 << 18;

/// Elements per parallel task when a packed spectrum is unpacked.
pub const UNPACK_CHUNK_ELEMENTS: usize = 1 << 13;

/// Plans kept per kind: enough for a transform over several axes in both directions, and a few
/// more. A plan has tables as long as its lines.
pub const MAX_CACHED_PLANS: usize = 24;

/// Bytes per element that a plan needs at most: for a prime length, tables of twice the length,
/// rounded up to a power of two. rustfft allocates them infallibly.
pub const PLAN_BYTES_PER_ELEMENT: usize = 128;
