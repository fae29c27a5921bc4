//! Settings of a process, and all thresholds of the crate.
//!
//! [`Config`] holds the settings that environment variables change; [`SETTINGS`] lists these
//! variables. The constants are thresholds that programs cannot change. Where a benchmark chose a
//! value, the comment names it.

use std::num::NonZeroUsize;
use std::str::FromStr;

use dappled_jit::JitMode;
use dappled_kernels::CpuVariant;
use thiserror::Error;

// Defaults of settings.

/// Bytes below which arrays are replicated.
pub(crate) const DEFAULT_REPLICATE_BELOW_BYTES: usize = 1 << 17;

/// Elements up to which operations are eager: deferring them costs more than running them.
pub(crate) const DEFAULT_EAGER_MAX_ELEMENTS: usize = 1 << 14;

/// Elements from which eager operations of one expression are fused. Chosen by the chains of 1,000
/// to 16,000 elements in `benches/small.py`: fusion costs 0.5 us, and saves memory traffic.
pub(crate) const DEFAULT_MIN_FUSED_ELEMENTS: usize = 2000;

/// Bytes of temporary memory of a redistribution: a small part of any machine's memory, and enough
/// for messages at full bandwidth.
pub(crate) const DEFAULT_REDISTRIBUTION_BYTES: u64 = 1 << 28;

/// Itemsize of the widest dtype, complex128.
pub(crate) const MAX_ITEMSIZE: usize = 16;

// Session.

/// Pending operations that one fused program may contain.
///
/// A node with more is evaluated when it is requested. Operations are counted, never timed, so that
/// every rank decides alike.
pub(crate) const MAX_FUSED_OPERATIONS: usize = 128;

/// Arrays of fewer bytes are created without testing whether the machine can hold them.
pub(crate) const MIN_CAPACITY_CHECK_BYTES: usize = 1 << 25;

/// Entries of a cache. A full cache is cleared, which costs little.
pub(crate) const MAX_CACHE_ENTRIES: usize = 256;

/// The buffer pools of a machine hold at most 1/n of its memory, shared by the ranks.
pub(crate) const POOL_MEMORY_DIVISOR: usize = 4;

/// Bytes of all buffer pools of a machine that does not report its memory.
pub(crate) const DEFAULT_POOL_BYTES: usize = 1 << 30;

/// Allocations of fewer bytes are made without testing whether the machine runs out of memory.
pub(crate) const MIN_SCARCITY_CHECK_BYTES: usize = 1 << 24;

/// The pool is cleared if less than 1/n of the machine's memory would stay available.
pub(crate) const MEMORY_RESERVE_DIVISOR: usize = 16;

/// Buffers of fewer bytes are cached per thread, others in the shared pool.
pub(crate) const MIN_SHARED_POOL_BYTES: usize = 1 << 18;

/// Buffers in the cache of a thread. A chain of operations uses few at a time.
pub(crate) const MAX_THREAD_CACHE_BUFFERS: usize = 8;

/// Reuses after which a thread updates the shared counter.
pub(crate) const REUSE_FLUSH_INTERVAL: u64 = 64;

/// Replicated operands of at most this many bytes are compared between ranks in full.
pub(crate) const MAX_COMPARED_BYTES: usize = 64;

/// Elements of larger replicated operands that are compared between ranks.
pub(crate) const COMPARED_SAMPLES: u64 = 32;

// Views.

/// Strides of a view of which all subsets are tried to find a shape with an axis mapping.
pub(crate) const MAX_FITTED_STRIDES: usize = 8;

// Graph.

/// Largest magnitude below which every integer is exact in every float dtype (float16 has 11 bits).
pub(crate) const MAX_EXACT_FLOAT_INTEGER: i64 = 2048;

/// Elements of the buffer of NumPy's iterator (`NPY_BUFSIZE`).
pub(crate) const NUMPY_BUFFER_ELEMENTS: usize = 8192;

/// Pending arrays below which dead entries are not removed.
pub(crate) const MIN_PRUNED_ENTRIES: usize = 64;

/// Bytes of operands that pending results may keep alive in addition to their own size.
pub(crate) const MAX_RETAINED_BYTES: usize = 256 << 20;

/// Retained bytes may exceed [`MAX_RETAINED_BYTES`] up to this multiple of those of one result.
pub(crate) const MAX_RETAINED_RESULTS: usize = 8;

/// Operations after which the arrays that a pending operation retains are counted again.
pub(crate) const RETENTION_CHECK_INTERVAL: usize = 8;

/// Ratio of sizes above which a pending result may not retain an operand.
pub(crate) const MAX_RETAINED_SIZE_RATIO: usize = 8;

/// Arrays of about its size that a pending result may retain: fusing more gains little.
pub(crate) const MAX_RETAINED_ARRAYS: usize = 8;

/// Ratio of elements computed to elements read from which a result is cheaper to recompute.
pub(crate) const MIN_EXPANSION_RATIO: usize = 4;

/// Cheap operations that take no longer than loading an element from memory.
pub(crate) const MAX_RECOMPUTED_OPERATIONS: usize = 4;

/// Depth of pending operations searched for foreign memory: the requested operation and the casts
/// of its operands. Earlier requests have been evaluated.
pub(crate) const ALIAS_SEARCH_DEPTH: usize = 2;

/// Bytes of an array that the last-level cache of most machines holds twice.
pub(crate) const MAX_CACHED_COPY_BYTES: usize = 8 << 20;

// Eager operations.

/// Inputs of an operation chain.
pub(crate) const MAX_CHAIN_INPUTS: usize = 6;

/// Constants of an operation chain.
pub(crate) const MAX_CHAIN_CONSTANTS: usize = 4;

/// Steps of an operation chain.
pub(crate) const MAX_CHAIN_STEPS: usize = 12;

/// Bytes of the buffer that repeats a scalar operand: few calls, and little to fill.
pub(crate) const SCALAR_FILL_BYTES: usize = 1024;

/// Elements of a boolean array that one thread searches before all threads do.
pub(crate) const MAX_SERIAL_SCAN_ELEMENTS: usize = 1 << 18;

/// Elements of a boolean array that are tested at a time.
pub(crate) const BOOL_SCAN_BLOCK: usize = 256;

/// Copies of at most this multiple of the elements of an eager operation are eager.
pub(crate) const EAGER_COPY_FACTOR: usize = 8;

// Matrix product.

/// Bytes of both panels of a distributed product: small beside the pieces, large enough for BLAS.
pub(crate) const SUMMA_PANEL_BYTES: usize = 1 << 25;

/// Columns of a panel of a block-cyclic matrix: enough for BLAS, few beside those of a rank.
pub(crate) const MAX_PANEL_COLUMNS: usize = 64;

/// Columns of a panel of a distributed product, at least.
pub(crate) const MIN_SUMMA_PANEL_WIDTH: usize = 64;

// Plan.

/// Tiles of a plan; an operand that would produce more is assembled instead.
pub(crate) const MAX_TILES: usize = 1024;

// Run.

/// Ratio of the main tile to all others above which an assignment runs in place.
pub(crate) const MIN_MAIN_TILE_RATIO: u64 = 8;

/// Bytes filled between two tests for an interrupt.
pub(crate) const FILL_CHUNK_BYTES: usize = 1 << 24;

/// Bytes from which a message is sent from the array's memory instead of a packed copy.
pub(crate) const MIN_ZERO_COPY_BYTES: usize = 32 << 10;

/// Average cells of a box from which boxes are copied as strided blocks.
pub(crate) const MIN_BLOCK_COPY_CELLS: usize = 64;

// Files.

/// Bytes that a rank writes in one round: its memory beside the pieces.
pub(crate) const FILE_ROUND_BYTES: usize = 1 << 25;

// Distributed algorithms.

/// Slices that a reindexing operation copies one by one.
pub(crate) const MAX_SLICES: usize = 64;

/// Neighbours that the explanation of a plan lists.
pub(crate) const MAX_LISTED_NEIGHBOURS: usize = 8;

/// Indices that `take` requests in one round, for each rank.
pub(crate) const INDICES_PER_RANK_AND_ROUND: usize = 1 << 16;

/// Bytes of the buffer for the positions that are requested from a rank in one round: slightly more
/// than evenly distributed requests need.
pub(crate) const REQUEST_BUFFER_BYTES: usize = INDICES_PER_RANK_AND_ROUND * 9 / 2;

/// Length from which NumPy's pairwise sum uses several accumulators.
pub(crate) const MIN_PAIRWISE_LENGTH: usize = 8;

/// Messages in which a rank passes the accumulators of a pipelined reduction on.
pub(crate) const MAX_PIPELINE_MESSAGES: usize = 16;

/// Bytes of a message of a pipelined reduction.
pub(crate) const MIN_PIPELINE_MESSAGE_BYTES: usize = 1 << 16;

/// Elements that `all` and `any` test before they reduce in parallel.
pub(crate) const EARLY_EXIT_ELEMENTS: usize = 1 << 12;

/// Elements that a thread transforms before they are copied into messages: they stay in the L2 cache.
pub(crate) const FFT_ROW_ELEMENTS_PER_THREAD: usize = 1 << 16;

/// Candidates for all splitters of a sort that ranks count in one round, if the limits below allow.
pub(crate) const SPLITTER_CANDIDATES: usize = 1 << 12;

/// Minimum number of candidates for one splitter: with fewer, many rounds are needed.
pub(crate) const MIN_SPLITTER_CANDIDATES: usize = 16;

/// Maximum number of candidates for one splitter: with these, a few rounds are enough.
pub(crate) const MAX_SPLITTER_CANDIDATES: usize = 1 << 10;

/// Elements of all ranks in the sample of a selection; as few candidates are gathered.
pub(crate) const SELECT_SAMPLE_ELEMENTS: usize = 1 << 14;

/// An environment variable of the array crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of the variable.
    pub name: &'static str,
    /// Default, as text.
    pub default: &'static str,
    /// Meaning and unit.
    pub meaning: &'static str,
}

/// All environment variables that [`Config`] reads.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "DAPPLED_THREADS",
        default: "all cores; with several ranks on a node, a rank's share",
        meaning: "threads of a process",
    },
    Setting {
        name: "DAPPLED_REPLICATE_BELOW",
        default: "131072",
        meaning: "bytes below which an array is replicated on every rank",
    },
    Setting {
        name: "DAPPLED_EAGER_MAX",
        default: "16384",
        meaning: "elements up to which operations are eager",
    },
    Setting {
        name: "DAPPLED_FUSE_FROM",
        default: "2000",
        meaning: "elements from which eager operations of one expression are fused",
    },
    Setting {
        name: "DAPPLED_CACHE",
        default: "a quarter of the machine's memory, shared by the ranks",
        meaning: "bytes of the buffer pool of a rank",
    },
    Setting {
        name: "DAPPLED_BUDGET",
        default: "268435456",
        meaning: "bytes of temporary memory of a redistribution on each rank",
    },
    Setting {
        name: "DAPPLED_CHECK",
        default: "0",
        meaning: "1 compares replicated operands of any size between ranks, 0 up to 64 bytes and a \
                  sample of larger ones",
    },
    Setting {
        name: "DAPPLED_COMPILE",
        default: "when there is enough to do",
        meaning: "when fused loops are compiled: 'always', 'never', or 'refused' by the system, for tests",
    },
    Setting {
        name: "DAPPLED_CPU",
        default: "the newest that the CPUs of all ranks have",
        meaning: "newest instruction set of loops: 'plain', 'avx2' or 'avx512'",
    },
];

/// An environment variable has an invalid value.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{name}={value}: expected {expected}")]
pub struct ConfigError {
    /// Name of the variable.
    pub name: &'static str,
    /// Value of the variable.
    pub value: String,
    /// Description of the valid values.
    pub expected: &'static str,
}

/// Sizes that separate small arrays from large ones. Equal on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Arrays of fewer bytes are replicated.
    pub replicate_below: usize,
    /// Operations on at most this many elements are eager: deferring them costs more than running
    /// them.
    pub eager_max: usize,
}

impl Limits {
    /// Elements of an eager operation, for a given itemsize: narrow elements are processed faster.
    #[inline]
    pub(crate) fn eager_max_of(&self, itemsize: usize) -> usize {
        // Itemsizes are powers of two: a shift takes less time than a division.
        self.eager_max * (8 >> itemsize.trailing_zeros()).max(1)
    }

    /// Copies of at most this many elements are eager: deferring or threads would not pay.
    pub fn eager_copy_max(&self) -> usize {
        EAGER_COPY_FACTOR * self.eager_max
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            replicate_below: DEFAULT_REPLICATE_BELOW_BYTES,
            eager_max: DEFAULT_EAGER_MAX_ELEMENTS,
        }
    }
}

/// Settings that environment variables change; see [`SETTINGS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// `DAPPLED_REPLICATE_BELOW` and `DAPPLED_EAGER_MAX`: sizes that separate small arrays from large
    /// ones.
    pub limits: Limits,
    /// `DAPPLED_FUSE_FROM`: elements from which eager operations of one expression are fused.
    pub fuse_from: usize,
    /// `DAPPLED_BUDGET`: bytes of temporary memory of a redistribution on each rank.
    pub budget: u64,
    /// `DAPPLED_CACHE`: bytes of the buffer pool of a rank; by default a share of the machine's
    /// memory.
    pub cache: Option<usize>,
    /// `DAPPLED_CHECK`: whether replicated operands of any size are compared between ranks.
    pub check: bool,
    /// `DAPPLED_THREADS`: threads of this process; by default one for each core.
    pub threads: Option<NonZeroUsize>,
    /// `DAPPLED_COMPILE`: when the JIT compiles fused loops.
    pub compile: JitMode,
    /// `DAPPLED_CPU`: the newest instruction set that loops use; by default that of the CPU.
    pub variant: Option<CpuVariant>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            fuse_from: DEFAULT_MIN_FUSED_ELEMENTS,
            budget: DEFAULT_REDISTRIBUTION_BYTES,
            cache: None,
            check: false,
            threads: None,
            compile: JitMode::Auto,
            variant: None,
        }
    }
}

impl Config {
    /// Reads the environment variables of this process.
    pub fn from_environment() -> Result<Self, ConfigError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Reads variables from a function. Empty variables count as not set.
    ///
    /// ```
    /// use dappled::config::Config;
    /// let cache = |text: &'static str| {
    ///     Config::from_variables(move |name| (name == "DAPPLED_CACHE").then(|| text.into()))
    /// };
    /// assert_eq!(cache("1000").unwrap().cache, Some(1000));
    /// assert_eq!(
    ///     cache("abc").unwrap_err().to_string(),
    ///     "DAPPLED_CACHE=abc: expected a number of bytes"
    /// );
    /// ```
    pub fn from_variables(
        variable: impl Fn(&'static str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let variables = Variables(&variable);
        let default = Self::default();
        let limits = Limits {
            replicate_below: variables
                .bytes("DAPPLED_REPLICATE_BELOW")?
                .unwrap_or(default.limits.replicate_below),
            eager_max: variables.elements("DAPPLED_EAGER_MAX")?.unwrap_or(default.limits.eager_max),
        };
        let is_checked = variables.parsed("DAPPLED_CHECK", "0 or 1", |text| match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        })?;
        let modes = "'always', 'never' or 'refused'";
        let compile = variables.parsed("DAPPLED_COMPILE", modes, |text| match text {
            "always" => Some(JitMode::Always),
            "never" => Some(JitMode::Never),
            "refused" => Some(JitMode::NoExecutableMemory),
            _ => None,
        })?;
        Ok(Self {
            limits,
            fuse_from: variables.elements("DAPPLED_FUSE_FROM")?.unwrap_or(default.fuse_from).max(1),
            budget: variables.bytes("DAPPLED_BUDGET")?.unwrap_or(default.budget),
            cache: variables.bytes("DAPPLED_CACHE")?,
            check: is_checked.unwrap_or(default.check),
            threads: variables.parsed("DAPPLED_THREADS", "a number of threads", parse_number)?,
            compile: compile.unwrap_or(default.compile),
            variant: variables.parsed(
                "DAPPLED_CPU",
                "'plain', 'avx2' or 'avx512'",
                parse_number,
            )?,
        })
    }
}

/// Parses the values of variables.
struct Variables<'a>(&'a dyn Fn(&'static str) -> Option<String>);

impl Variables<'_> {
    fn bytes<T: FromStr>(&self, name: &'static str) -> Result<Option<T>, ConfigError> {
        self.parsed(name, "a number of bytes", parse_number)
    }

    fn elements(&self, name: &'static str) -> Result<Option<usize>, ConfigError> {
        self.parsed(name, "a number of elements", parse_number)
    }

    fn parsed<T>(
        &self,
        name: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(value) = self.0(name).filter(|value| !value.is_empty()) else { return Ok(None) };
        match parse(value.trim()) {
            Some(parsed) => Ok(Some(parsed)),
            None => Err(ConfigError { name, value, expected }),
        }
    }
}

fn parse_number<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &str) -> Result<Config, ConfigError> {
        let value = value.to_string();
        Config::from_variables(move |requested| (requested == name).then(|| value.clone()))
    }

    #[test]
    fn unset_variables_have_defaults() {
        assert_eq!(Config::from_variables(|_| None), Ok(Config::default()));
        assert_eq!(Config::from_variables(|_| Some(String::new())), Ok(Config::default()));
    }

    #[test]
    fn invalid_values_are_errors() {
        for &Setting { name, .. } in SETTINGS {
            for value in ["abc", "-1", "1.5", "99999999999999999999999"] {
                let error = with(name, value).unwrap_err();
                assert_eq!((error.name, &*error.value), (name, value));
            }
        }
        assert!(with("DAPPLED_THREADS", "0").is_err());
    }

    #[test]
    fn defaults_of_the_table_are_the_defaults() {
        for &Setting { name, default, .. } in SETTINGS {
            if default.parse::<usize>().is_ok() {
                assert_eq!(with(name, default), Ok(Config::default()), "{name}");
            }
        }
    }

    #[test]
    fn values_are_parsed() {
        assert_eq!(with("DAPPLED_CACHE", " 0 ").unwrap().cache, Some(0));
        assert_eq!(with("DAPPLED_FUSE_FROM", "0").unwrap().fuse_from, 1);
        assert_eq!(with("DAPPLED_REPLICATE_BELOW", "7").unwrap().limits.replicate_below, 7);
        assert_eq!(with("DAPPLED_COMPILE", "never").unwrap().compile, JitMode::Never);
        assert_eq!(with("DAPPLED_CPU", "plain").unwrap().variant, Some(CpuVariant::Plain));
        assert!(with("DAPPLED_CHECK", "1").unwrap().check);
    }
}
