//! Every performance threshold of the crate, with its unit and meaning.
//!
//! The bits of results do not depend on these values. The comments state the measurement behind a
//! value where it is known.

use std::time::Duration;

// Memory

/// Alignment of buffers: a cache line, and the width of the widest vectors.
pub(crate) const BUFFER_ALIGN_BYTES: usize = 64;

/// Buffers of at least this size request huge pages.
pub(crate) const MIN_HUGE_PAGE_BUFFER_BYTES: usize = 4 << 20;

/// Size of a huge page.
pub(crate) const HUGE_PAGE_BYTES: usize = 2 << 20;

/// The last huge page of a buffer is allocated whole if it adds at most one part in this many.
pub(crate) const MAX_HUGE_PAGE_SLACK_DIVISOR: usize = 8;

/// Partial sums that the overlap test tries before it answers "maybe".
pub(crate) const MAX_OVERLAP_SEARCH_STEPS: u32 = 4096;

/// Size of a cache line. Rows whose elements are at least this far apart are worth transposing.
pub(crate) const CACHE_LINE_BYTES: usize = 64;

/// Rows transposed at a time by a copy, so that the written rows stay in the L1 cache.
pub(crate) const TRANSPOSE_BLOCK_ROWS: usize = 64;

/// Rows of fewer elements cost more to set up than to traverse, if another axis is long.
pub(crate) const SHORT_ROW_ELEMENTS: usize = 16;

/// An axis of at least this length replaces short rows.
pub(crate) const MIN_LONG_AXIS_ELEMENTS: usize = 64;

/// Bytes per `memcpy` call.
///
/// From 4 KiB on, the system's copy uses an instruction that on some CPUs is ten times slower if
/// the target is slightly behind the source, modulo the page size.
pub(crate) const COPY_CHUNK_BYTES: usize = 2048;

/// Maximal bytes copied at a time when filling memory, so that the source stays in the L1 cache.
pub(crate) const FILL_CHUNK_BYTES: usize = 8192;

// Iteration

/// Maximal elements of a tile. A float64 register of this length is 4 KiB, so several fit in the L1
/// cache.
pub(crate) const TILE_ELEMENTS: usize = 512;

/// Shorter rows are gathered, several to a tile; longer ones are used in place.
pub(crate) const MIN_ROW_TILE_ELEMENTS: usize = 64;

/// Contiguous bytes read across the rows of a block, so that each jump in memory is worthwhile.
pub(crate) const MIN_BLOCK_ROW_BYTES: usize = 4 * CACHE_LINE_BYTES;

// Execution

/// Work, in element additions, from which a run is parallel: about 30 µs.
pub(crate) const MIN_PARALLEL_WORK: usize = 1 << 17;

/// Work, in element additions, from which a run is parallel if workers are awake, which makes
/// handing over cheap.
pub(crate) const MIN_PARALLEL_WORK_AWAKE: usize = 1 << 15;

/// Chunks per thread: more than one, so that a late thread does not delay all.
pub(crate) const CHUNKS_PER_THREAD: usize = 4;

/// Bytes of an operand that a single operation processes at a time, as nothing stays in the cache
/// for a next one.
pub(crate) const SINGLE_OP_TILE_BYTES: usize = 1 << 14;

/// Cached schedules of a program, one per set of broadcast operands.
pub(crate) const MAX_CACHED_SCHEDULES: usize = 8;

/// Elements of a compute-bound operation worth a task of their own if a worker is awake: about 2
/// µs, the time to hand them over.
pub(crate) const MIN_SINGLE_OP_CHUNK_ELEMENTS: usize = 2500;

/// Elements up to which one operation processes a whole chunk at a time; beyond, tiles with
/// prefetching are faster.
pub(crate) const MAX_SINGLE_OP_ELEMENTS: usize = 1 << 18;

/// Chunk lengths are multiples of this: whole cache lines, and at least the minimum of a fused
/// loop.
pub(crate) const CHUNK_GRAIN_ELEMENTS: usize = 64;

/// Registers that a thread keeps between runs.
pub(crate) const MAX_SPARE_REGISTERS: usize = 32;

/// Size of a register up to which it is kept; blocks of rows exceed it.
pub(crate) const MAX_SPARE_REGISTER_BYTES: usize = 1 << 14;

/// Values computed at a time by a single fused loop; they stay in the L1 cache.
pub(crate) const VALUE_TILE_ELEMENTS: usize = 4 * TILE_ELEMENTS;

/// Tiles between two polls for interrupts: about a millisecond.
pub(crate) const TILES_PER_INTERRUPT_POLL: usize = 1 << 10;

/// Minimal elements of the buffer of selected values; they stay in the L1 cache.
pub(crate) const MIN_COMPACTION_BUFFER_ELEMENTS: usize = 4 * TILE_ELEMENTS;

/// In-place chunks must be at least this many times as long as the shift of their inputs.
pub(crate) const MIN_CHUNK_TO_SHIFT_RATIO: usize = 4;

/// Maximal elements written ahead of their reduction; their inputs are then still in the L1 cache.
pub(crate) const FUSED_WRITE_ELEMENTS: usize = 1024;

// Fused loops

/// Maximal elements of a tile that a single fused loop computes, which stores no intermediate
/// results.
pub(crate) const FUSED_TILE_ELEMENTS: usize = 4096;

/// The largest minimum of elements that a fused loop may have.
pub(crate) const MAX_LOOP_BLOCK_ELEMENTS: usize = 16;

/// Maximal rows that one loop reduces at a time.
pub(crate) const MAX_LOOP_ROWS: usize = 8;

/// Maximal rows of all inputs of a multi-row loop: the general registers available for their
/// addresses.
pub(crate) const MAX_LOOP_STREAMS: usize = 11;

/// Maximal steps of a multi-row loop; a longer one takes more time to compile than it saves.
pub(crate) const MAX_UNROLLED_STEPS: usize = 64;

// Masks

/// Blocks of a selection per task.
pub(crate) const SELECTION_BLOCKS_PER_TASK: usize = 64;

/// Words of a bitmap that a thread keeps: 16 MB, for 134 million elements. New memory would be
/// cleared by one thread.
pub(crate) const MAX_SPARE_BITMAP_WORDS: usize = 1 << 21;

// Reductions and scans

/// Elements of a reduction or scan worth a task of their own.
pub(crate) const MIN_REDUCE_TASK_ELEMENTS: usize = 1 << 15;

/// Approximate tree nodes per thread: enough that a late thread does not delay all, few enough that
/// the cost per node is negligible.
pub(crate) const TREE_NODES_PER_THREAD: usize = 64;

/// Adjacent columns worth a task of their own; another thread reads the memory between the rows of
/// a strip.
pub(crate) const MIN_STRIP_ELEMENTS: usize = 512;

/// Blocks per thread: more than one, so that a late thread does not delay all. Strips have one
/// each, since narrow ones are slow to read.
pub(crate) const REDUCE_BLOCKS_PER_THREAD: usize = 2;

/// Partial results computed before their accumulator takes them.
pub(crate) const MAX_PENDING_PARTIALS: usize = 1024;

/// Elements of a row reduced at a time if they pass through no register.
pub(crate) const ROW_REDUCE_ELEMENTS: usize = 8 * TILE_ELEMENTS;

/// Rows of fewer elements are slow to reduce.
pub(crate) const SHORT_REDUCE_ROW_ELEMENTS: usize = 64;

/// Outer axes of at least this length replace short rows of a reduction.
pub(crate) const MIN_ROTATED_ROW_ELEMENTS: usize = 256;

/// Bools examined between two tests for an early exit of `all` and `any`.
pub(crate) const BOOL_CHUNK_ELEMENTS: usize = 1024;

/// Runs of at least this size use the vectorised pairwise sum.
pub(crate) const MIN_LONG_RUN_BYTES: usize = 1024;

/// Rows reduced per pass: memory is read in as many streams, and accumulators are read and written
/// once for all.
pub(crate) const ROWS_PER_PASS: usize = 8;

/// Elements that argmin and argmax test between two branches.
pub(crate) const SEARCH_BLOCK_ELEMENTS: usize = 32;

// Loops

/// Prefetch distance of reductions. Without prefetching, a stream stalls at the end of each page.
pub(crate) const PREFETCH_BYTES: usize = 4096;

/// Prefetch distance of comparisons and compaction.
pub(crate) const MASK_PREFETCH_BYTES: usize = 2048;

/// Streams into which a comparison divides its input, for memory parallelism.
pub(crate) const COMPARE_STREAMS: usize = 4;

/// Complex numbers deinterleaved at a time.
pub(crate) const DEINTERLEAVE_ELEMENTS: usize = 64;

// Random numbers

/// Random words generated at a time; they stay in the L1 cache.
pub(crate) const RANDOM_TILE_WORDS: usize = 512;

/// Draws per task.
pub(crate) const RANDOM_TASK_ELEMENTS: usize = 1 << 15;

// Threads

/// How long idle workers spin before they end. They run other tasks of the thread pool meanwhile.
pub(crate) const SPIN_DURATION: Duration = Duration::from_micros(100);

/// Spins between two yields: about 10 µs, as work may arrive meanwhile.
pub(crate) const SPINS_PER_YIELD: usize = 256;
