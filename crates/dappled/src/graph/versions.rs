//! The box: what an array is now. Views share it; a write makes the next version.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use dappled_kernels::Buffer;

use super::Session;
use super::node::Node;

/// The current version of an array, shared by all its views.
pub(crate) struct Versions {
    pub session: Session,
    current: Mutex<Arc<Node>>,
    /// How many outside may read or write the memory without our knowing.
    lent: AtomicUsize,
    /// How many outside may read it: of a whole array on several ranks, on this rank alone. So nothing
    /// that ranks do together depends on it.
    shown: AtomicUsize,
    /// How many writes there were, for iterators that fetch elements in advance.
    writes: AtomicU64,
}

/// Memory that was lent to somebody outside. As long as it lives, the array stays in this memory.
pub struct Loan {
    /// The memory.
    pub buffer: Buffer,
    versions: Arc<Versions>,
    is_shown: bool,
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.versions.count(self.is_shown).fetch_sub(1, Ordering::Relaxed);
    }
}

impl Versions {
    pub fn new(session: &Session, node: Arc<Node>) -> Arc<Self> {
        Self::made(session, node, 0)
    }

    /// An array in memory that somebody else owns, and may write as long as it lives.
    pub fn foreign(session: &Session, node: Arc<Node>) -> Arc<Self> {
        Self::made(session, node, 1)
    }

    fn made(session: &Session, node: Arc<Node>, lent: usize) -> Arc<Self> {
        let (session, current) = (session.clone(), Mutex::new(node));
        let (lent, shown) = (AtomicUsize::new(lent), AtomicUsize::new(0));
        Arc::new(Self { session, current, lent, shown, writes: AtomicU64::new(0) })
    }

    /// A panic elsewhere leaves it as it was: versions are replaced whole.
    fn locked(&self) -> MutexGuard<'_, Arc<Node>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn current(&self) -> Arc<Node> {
        self.locked().clone()
    }

    /// Looks at the current version, without holding it.
    #[inline]
    pub fn with_current<T>(&self, look: impl FnOnce(&Node) -> T) -> T {
        look(&self.locked())
    }

    /// The same, unless somebody else does: who holds one box does not wait for another.
    #[inline]
    pub fn try_with_current<T>(&self, look: impl FnOnce(&Node) -> T) -> Option<T> {
        match self.current.try_lock() {
            Ok(current) => Some(look(&current)),
            Err(TryLockError::Poisoned(current)) => Some(look(&current.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The memory, if all of it is here and may be written as it is: nobody else needs the current
    /// version, or somebody outside is to see what is written.
    #[inline]
    pub fn with_writable<T>(&self, act: impl FnOnce(&Buffer) -> Option<T>) -> Option<T> {
        let current = self.locked();
        let writable = Arc::strong_count(&current) == 1 || self.is_lent();
        self.count_write();
        writable.then(|| current.whole_memory()).flatten().and_then(act)
    }

    /// Counts a write, before or after it is done.
    #[inline]
    pub fn count_write(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    /// How many writes there were; None if somebody outside may write without our knowing.
    pub fn writes(&self) -> Option<u64> {
        (!self.is_lent()).then(|| self.writes.load(Ordering::Relaxed))
    }

    pub fn replace(&self, node: Arc<Node>) {
        *self.locked() = node;
    }

    /// Does somebody outside see the memory? Then what reads it is computed at once, and writes go
    /// in place.
    pub fn is_lent(&self) -> bool {
        self.lent.load(Ordering::Relaxed) > 0
    }

    /// Lent from now on, however long the loans live: ranks drop theirs at different times, and have
    /// to do the same all the same.
    pub fn stays_lent(&self) {
        self.lent.fetch_add(1, Ordering::Relaxed);
    }

    fn count(&self, is_shown: bool) -> &AtomicUsize {
        if is_shown { &self.shown } else { &self.lent }
    }

    /// Lends the memory; `is_shown` if it is only to be read.
    pub fn lend(self: &Arc<Self>, buffer: Buffer, is_shown: bool) -> Loan {
        self.count(is_shown).fetch_add(1, Ordering::Relaxed);
        Loan { buffer, versions: self.clone(), is_shown }
    }
}
