//! Copy-on-write storage: the current version of an array, which all its views share.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use dappled_kernels::Buffer;

use super::node::Node;
use super::ownership::KnownHolders;
use crate::session::Session;

/// The current version of an array, shared by all its views.
pub(crate) struct Storage {
    pub session: Session,
    current: Mutex<Arc<Node>>,
    /// Number of loans whose holders may read or write the memory unobserved.
    loans: AtomicUsize,
    /// Number of read-only loans of replicated memory on several ranks. It differs between ranks,
    /// so no collective decision may depend on it.
    read_loans: AtomicUsize,
    /// Number of writes, by which iterators notice that prefetched elements are stale.
    write_count: AtomicU64,
}

/// Loan of an array's memory to foreign code. While it lives, the array stays in this memory.
pub struct Loan {
    /// The memory.
    pub buffer: Buffer,
    storage: Arc<Storage>,
    is_read_only: bool,
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.storage.loan_counter(self.is_read_only).fetch_sub(1, Ordering::Relaxed);
    }
}

impl Storage {
    pub fn new(session: &Session, node: Arc<Node>) -> Arc<Self> {
        Self::with_loans(session, node, 0)
    }

    /// Creates storage in foreign memory, whose owner may write it at any time.
    pub fn foreign(session: &Session, node: Arc<Node>) -> Arc<Self> {
        Self::with_loans(session, node, 1)
    }

    fn with_loans(session: &Session, node: Arc<Node>, loans: usize) -> Arc<Self> {
        let (session, current) = (session.clone(), Mutex::new(node));
        let (loans, read_loans) = (AtomicUsize::new(loans), AtomicUsize::new(0));
        Arc::new(Self { session, current, loans, read_loans, write_count: AtomicU64::new(0) })
    }

    /// Ignores poisoning: versions are replaced as a whole, so a panic cannot leave one
    /// half-written.
    fn lock(&self) -> MutexGuard<'_, Arc<Node>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn current(&self) -> Arc<Node> {
        self.lock().clone()
    }

    /// Calls a function with the current version, without incrementing its reference count.
    #[inline]
    pub fn with_current<T>(&self, look: impl FnOnce(&Node) -> T) -> T {
        look(&self.lock())
    }

    /// Like [`Self::with_current`], but returns None instead of blocking.
    ///
    /// Locks two storages without a deadlock.
    #[inline]
    pub fn try_with_current<T>(&self, look: impl FnOnce(&Node) -> T) -> Option<T> {
        match self.current.try_lock() {
            Ok(current) => Some(look(&current)),
            Err(TryLockError::Poisoned(current)) => Some(look(&current.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Calls a function with the memory, if it is replicated and may be written in place.
    ///
    /// In-place writes require that the current version has no other holder, or that the memory is
    /// lent, so that the borrower sees the write.
    #[inline]
    pub fn with_writable<T>(&self, act: impl FnOnce(&Buffer) -> Option<T>) -> Option<T> {
        let current = self.lock();
        let writable = !current.is_shared(KnownHolders::ONE) || self.is_lent();
        self.count_write();
        writable.then(|| current.replicated_buffer()).flatten().and_then(act)
    }

    /// Counts a write. May be called before or after it.
    #[inline]
    pub fn count_write(&self) {
        self.write_count.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of writes; None if foreign code may write unobserved.
    pub fn write_count(&self) -> Option<u64> {
        (!self.is_lent()).then(|| self.write_count.load(Ordering::Relaxed))
    }

    pub fn replace(&self, node: Arc<Node>) {
        *self.lock() = node;
    }

    /// Returns true if the memory is lent. Reads are then eager, and writes are in place.
    pub fn is_lent(&self) -> bool {
        self.loans.load(Ordering::Relaxed) > 0
    }

    /// Marks the memory as lent for ever.
    ///
    /// Ranks drop their loans at different times; collective decisions must not depend on that.
    pub fn pin_lent(&self) {
        self.loans.fetch_add(1, Ordering::Relaxed);
    }

    fn loan_counter(&self, is_read_only: bool) -> &AtomicUsize {
        if is_read_only { &self.read_loans } else { &self.loans }
    }

    /// Lends the memory, for reading only if `is_read_only`.
    pub fn lend(self: &Arc<Self>, buffer: Buffer, is_read_only: bool) -> Loan {
        self.loan_counter(is_read_only).fetch_add(1, Ordering::Relaxed);
        Loan { buffer, storage: self.clone(), is_read_only }
    }
}
