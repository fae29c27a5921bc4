//! Ownership of versions: whether a version may be written in place.
//!
//! A version of an array is held by its storage, by operations that read it, and by the functions
//! that work on it. A write in place is correct if every holder is known to the writer: any other
//! holder needs the old values. The holders may differ between ranks, because ranks collect garbage
//! at different times, so communication must not depend on them.

use std::sync::Arc;

use super::node::Node;

/// The holders of a version that its user accounts for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownHolders(usize);

impl KnownHolders {
    /// One holder: the storage while it is locked, an operation, or a deferred write.
    pub const ONE: Self = Self(1);
    /// The storage, and the function that writes.
    pub const STORAGE_AND_WRITER: Self = Self(2);
    /// The input of an operation, and the function that reads it.
    pub const INPUT_AND_READER: Self = Self(2);

    /// Adds the reads of an operation whose result overwrites the version.
    pub fn with_reads(self, reads: usize) -> Self {
        Self(self.0 + reads)
    }
}

impl Node {
    /// Returns true if the version has other holders than the known ones: they need its values.
    #[inline]
    pub fn is_shared(self: &Arc<Self>, known: KnownHolders) -> bool {
        Arc::strong_count(self) > known.0
    }
}
