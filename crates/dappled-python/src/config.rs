//! Thresholds and limits of the Python extension.
//!
//! Values that a user may set are in `dappled::config`.

// Sizes that decide how a call runs.

/// Elements up to which a locked operation keeps the GIL; above, other Python threads may run.
pub const MAX_ATTACHED_ELEMENTS: usize = 1 << 14;

/// Elements of an index array or mask from which `a[key]` selects on all threads.
pub const MIN_PARALLEL_TAKE_ELEMENTS: usize = 1 << 17;

/// Bytes of the smallest temporary whose memory NumPy reuses for a result.
pub const MIN_ELISION_BYTES: usize = 256 * 1024;

/// Elements up to which NumPy's own function is called directly on an array's memory.
///
/// The general function in Python would take longer than the computation.
pub const MAX_NUMPY_ELEMENTS: usize = 1 << 14;

/// [`MAX_NUMPY_ELEMENTS`] for functions with a fast parallel implementation.
pub const MAX_NUMPY_ELEMENTS_LOW: usize = 1 << 12;

/// [`MAX_NUMPY_ELEMENTS`] for functions that threads and fusion speed up only above this size.
pub const MAX_NUMPY_ELEMENTS_HIGH: usize = 1 << 17;

/// Elements above which a new array is left to the general function.
///
/// Counts and byte sizes of smaller arrays cannot overflow.
pub const MAX_FAST_CREATION_ELEMENTS: u64 = 1 << 40;

/// Axes that a NumPy array may have (`NPY_MAXDIMS`).
pub const MAX_NDIM: usize = 64;

// How far nested Python sequences are read.

/// Levels of nested lists that `array` and `asarray` search for anything but numbers.
pub const MAX_LITERAL_NESTING: usize = 3;

/// Levels of nested lists that are searched for objects with `__array_function__`.
pub const MAX_DISPATCH_NESTING: usize = 2;

/// Levels of nested lists in the arguments of a direct call of NumPy.
pub const MAX_NUMPY_NESTING: usize = 2;

/// Items of a list or tuple in the arguments of a direct call of NumPy.
pub const MAX_NUMPY_SEQUENCE_LENGTH: usize = 32;

/// Levels of nested lists that enter the fingerprint of a call.
pub const MAX_FINGERPRINT_NESTING: usize = 3;

/// Items of a list that enter the fingerprint of a call.
pub const MAX_FINGERPRINT_ITEMS: usize = 64;

/// Levels of nested lists read as protocol values; deeper ones are shown as text.
///
/// A list may contain itself.
pub const MAX_PROTOCOL_NESTING: usize = 3;

/// Items read of a list that is no list of dimensions or labels.
pub const MAX_PROTOCOL_ITEMS: usize = 9;

/// Length above which a sequence is not read: `range(2**62)` is cheap to write.
pub const MAX_PROTOCOL_SEQUENCE_LENGTH: usize = 1 << 28;

/// Items of a list that the `repr` of a distribution shows.
pub const MAX_REPR_ITEMS: usize = 12;

// Entries of caches that are emptied when full.

/// Call sites whose use of the result is cached.
pub const MAX_CACHED_CALL_SITES: usize = 4096;

/// Instructions whose opcode is cached.
pub const MAX_CACHED_OPCODES: usize = 4096;

/// Instructions whose source line is cached.
pub const MAX_CACHED_LINES: usize = 4096;
