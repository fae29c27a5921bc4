//! Pending arrays: arrays that are held and not computed yet.
//!
//! Which of them are alive may differ between ranks, because garbage is collected at different
//! times. Ranks therefore agree first on those that are alive everywhere, and evaluate these
//! together. A pending array is identified by the hash of its definition.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::array::node::Node;
use crate::array::storage::Storage;
use crate::config::{MAX_RETAINED_BYTES, MAX_RETAINED_RESULTS, MIN_PRUNED_ENTRIES};
use crate::session::Session;
use crate::session::layer_state::{LayerSlot, LayerState};

/// The pending arrays of a session, in program order.
#[derive(Default)]
pub(crate) struct PendingArrays {
    list: Mutex<PendingList>,
    /// The deferred write, if there is one.
    deferred_write: Mutex<Weak<Node>>,
}

impl LayerState for PendingArrays {
    const SLOT: LayerSlot = LayerSlot::Graph;
}

#[derive(Default)]
struct PendingList {
    entries: Vec<PendingEntry>,
    /// Upper bound of the bytes that all entries retain: some are dropped or evaluated by now.
    retained_bytes: usize,
    /// Number of entries at which dead ones are removed.
    prune_at: usize,
}

struct PendingEntry {
    scope: PendingScope,
    storage: Weak<Storage>,
    /// Bytes of the largest operand beyond the size of the result.
    retained_bytes: usize,
}

impl PendingEntry {
    /// The storage, if it is alive and still pending.
    fn pending_storage(&self) -> Option<Arc<Storage>> {
        let storage = self.storage.upgrade()?;
        storage.current().state().is_pending().then_some(storage)
    }
}

impl PendingList {
    /// Removes dead entries, and duplicates: each deferred write adds its storage again.
    fn prune(&mut self) {
        self.entries.retain(|entry| entry.storage.strong_count() > 0);
        if self.entries.len() < MIN_PRUNED_ENTRIES / 2 {
            return;
        }
        let mut unique = HashSet::new();
        self.entries.retain(|entry| {
            entry.scope != PendingScope::Local || unique.insert(entry.storage.as_ptr())
        });
    }
}

/// Which ranks evaluate an array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PendingScope {
    /// This rank alone.
    Local,
    /// All ranks together.
    Collective,
}

impl PendingArrays {
    /// The deferred write, if there is one.
    pub fn deferred_write(&self) -> MutexGuard<'_, Weak<Node>> {
        self.deferred_write.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an array, which all ranks evaluate and have added if `is_collective`.
    ///
    /// `retained` is the size of the largest operand beyond that of the result, in bytes.
    pub fn add(&self, storage: &Arc<Storage>, is_collective: bool, retained: usize) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if list.entries.len() >= list.prune_at.max(MIN_PRUNED_ENTRIES) {
            list.prune();
            list.prune_at = 2 * list.entries.len();
        }
        let scope = if is_collective { PendingScope::Collective } else { PendingScope::Local };
        let retained = if is_collective { 0 } else { retained };
        list.retained_bytes = list.retained_bytes.saturating_add(retained);
        list.entries.push(PendingEntry {
            scope,
            storage: Arc::downgrade(storage),
            retained_bytes: retained,
        });
    }

    /// Returns true if pending results, and one more that retains `retained` bytes, may exceed the
    /// budget.
    pub fn exceeds_budget(&self, retained: usize) -> bool {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        retained > 0
            && list.retained_bytes.saturating_add(retained)
                > MAX_RETAINED_BYTES.max(retained.saturating_mul(MAX_RETAINED_RESULTS))
    }

    /// Removes the arrays that retain operands, if they exceed the budget; otherwise updates the
    /// total.
    pub fn take_over_budget(&self, retained: usize) -> Vec<Arc<Storage>> {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let holders = list.entries.iter().filter(|entry| entry.retained_bytes > 0);
        let candidates =
            holders.filter_map(|entry| Some((entry.retained_bytes, entry.pending_storage()?)));
        let candidates: Vec<(usize, Arc<Storage>)> = candidates.collect();
        let total = candidates
            .iter()
            .map(|(retained, _)| retained)
            .fold(retained, |sum, &retained| sum.saturating_add(retained));
        if total <= MAX_RETAINED_BYTES.max(retained.saturating_mul(MAX_RETAINED_RESULTS)) / 2 {
            list.retained_bytes = total - retained;
            return Vec::new();
        }
        list.retained_bytes = 0;
        list.entries.retain(|entry| entry.retained_bytes == 0);
        candidates.into_iter().map(|(_, storage)| storage).collect()
    }

    /// Removes and returns the arrays that are alive and still pending.
    pub fn take_all(&self) -> Vec<(PendingScope, Arc<Storage>)> {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.retained_bytes = 0;
        let entries = std::mem::take(&mut list.entries);
        drop(list);
        entries
            .into_iter()
            .filter_map(|entry| Some((entry.scope, entry.pending_storage()?)))
            .collect()
    }

    /// Adds an array that stays pending.
    pub fn restore(&self, scope: PendingScope, storage: &Arc<Storage>) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.entries.push(PendingEntry {
            scope,
            storage: Arc::downgrade(storage),
            retained_bytes: 0,
        });
    }
}

impl Session {
    /// The pending arrays.
    pub(crate) fn pending(&self) -> &PendingArrays {
        self.layer()
    }
}
