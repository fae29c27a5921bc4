//! Thresholds of the algorithms. `benches/functions.py` and `benches/ranks_functions.py` measure
//! them.

/// Elements per parallel task; enough that starting the task is cheap.
pub(crate) const PARALLEL_CHUNK_ELEMENTS: usize = 1 << 15;

/// Average number of values per bucket of the parallel sort: their keys fit into the L2 cache.
pub(crate) const BUCKET_VALUES: usize = 10 << 10;

/// Maximum number of buckets of the parallel sort, all of which are written to at once.
pub(crate) const MAX_BUCKETS: usize = 1 << 12;

/// Maximum number of tasks that sort buckets; a task reuses its buffers for all its buckets.
pub(crate) const MAX_SORT_TASKS: usize = 64;

/// Number of samples that determine the bucket boundaries.
pub(crate) const BUCKET_SAMPLES: usize = 4096;

/// Number of samples at either end that do not influence the bucket boundaries.
pub(crate) const IGNORED_EXTREMES: usize = 4;

/// Blocks of values distributed between two interrupt checks.
pub(crate) const BLOCKS_PER_INTERRUPT_CHECK: usize = 4096;

/// Bits per radix digit: the write position of each digit value stays in the L1 cache.
pub(crate) const DIGIT_BITS: u32 = 10;

/// Fewer keys than this are sorted by comparison.
pub(crate) const MIN_RADIX_KEYS: usize = 1 << 10;

/// From this number of keys on the radix sort uses three digits instead of two, so that few keys
/// have equal digits.
pub(crate) const MIN_THREE_DIGIT_KEYS: usize = 1 << 16;

/// Maximum number of ranges that argsort sorts in parallel; the thread of each reads all values.
pub(crate) const MAX_RANGES: usize = 16;

/// Samples per range from which argsort chooses its splitters.
pub(crate) const SAMPLES_PER_RANGE: usize = 64;

/// Maximum number of parts into which `put` splits its target, each written by one thread.
pub(crate) const MAX_TARGET_PARTS: usize = 8;

/// Elements between a prefetch and the access to the element.
pub(crate) const PREFETCH_DISTANCE: usize = 64;

/// Memory up to this size stays in a cache, so that prefetching gains nothing, in bytes.
pub(crate) const MAX_CACHED_BYTES: usize = 8 << 20;

/// Indices per thread below which requests are built by fewer threads.
pub(crate) const MIN_INDICES_PER_THREAD: usize = 1 << 13;

/// Up to this number of parts each part scans all indices with SIMD; with more parts the indices
/// are bucketed.
pub(crate) const MAX_SCANNED_PARTS: usize = 12;
