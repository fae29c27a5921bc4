//! The box: what an array is now. Views share it; a write makes the next version.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dappled_kernels::Buffer;

use super::node::Node;

/// The current version of an array, shared by all its views.
pub(crate) struct Versions {
    current: Mutex<Arc<Node>>,
    /// Held by everybody outside who may read or write the memory without our knowing.
    lent: Arc<()>,
    /// Is it somebody else's memory?
    foreign: AtomicBool,
}

/// Memory that was lent to somebody outside. As long as it lives, the array stays in this memory.
#[derive(Clone, Debug)]
pub struct Loan {
    /// The memory.
    pub buffer: Buffer,
    _lent: Arc<()>,
}

impl Versions {
    pub fn new(node: Arc<Node>) -> Arc<Self> {
        let (lent, foreign) = (Arc::new(()), AtomicBool::new(false));
        Arc::new(Self { current: Mutex::new(node), lent, foreign })
    }

    /// An array in memory that somebody else owns, and may write.
    pub fn foreign(node: Arc<Node>) -> Arc<Self> {
        let versions = Self::new(node);
        versions.foreign.store(true, Ordering::Relaxed);
        versions
    }

    /// A panic elsewhere leaves it as it was: versions are replaced whole.
    fn locked(&self) -> MutexGuard<'_, Arc<Node>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn current(&self) -> Arc<Node> {
        self.locked().clone()
    }

    pub fn replace(&self, node: Arc<Node>) {
        *self.locked() = node;
    }

    /// Does somebody outside see the memory? Then what reads it is computed at once, and writes go
    /// in place.
    pub fn is_lent(&self) -> bool {
        self.foreign.load(Ordering::Relaxed) || Arc::strong_count(&self.lent) > 1
    }

    pub fn lend(&self, buffer: Buffer) -> Loan {
        Loan { buffer, _lent: self.lent.clone() }
    }
}
