//! Memory: fresh, or used before.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dappled_kernels::{Buffer, Scalar};

/// Freed memory, by its length. Filling fresh pages costs as much as arithmetic.
#[derive(Default)]
pub(super) struct Freed {
    kept: Mutex<HashMap<usize, Vec<Buffer>>>,
    made: AtomicU64,
    reused: AtomicU64,
}

/// What was done with memory so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryStats {
    /// Arrays that got fresh memory.
    pub made: u64,
    /// Arrays that got memory used before.
    pub reused: u64,
    /// Bytes kept for reuse.
    pub kept: u64,
}

/// More pieces of one length than this are given back.
const KEPT: usize = 2;
/// Smaller ones are kept by the thread that gave them back.
pub(super) const WORTH: usize = 1 << 18;
/// So many small pieces a thread keeps: a chain of operations uses few at a time.
const FEW: usize = 8;

thread_local! {
    static SMALL: RefCell<Vec<Buffer>> = const { RefCell::new(Vec::new()) };
}

/// Small memory of this length; what is in it is of no meaning.
pub(super) fn small_memory(len: usize) -> Buffer {
    let used = SMALL.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        let at = kept.iter().rposition(|buffer| buffer.len() == len)?;
        Some(kept.swap_remove(at))
    });
    used.ok().flatten().unwrap_or_else(|| Buffer::zeroed(len))
}

/// Memory with one value everywhere.
pub(super) fn small_full(value: Scalar, len: usize) -> Buffer {
    let memory = small_memory(len * value.dtype().itemsize());
    value.fill(&mut memory.write().expect("nobody else has it"));
    memory
}

/// Keeps small memory that its last holder gives back.
pub(super) fn keep_small(buffer: Buffer) {
    if !buffer.is_unique() || buffer.is_foreign() || buffer.len() >= WORTH {
        return;
    }
    // While a thread ends there is nothing to keep it in.
    let _ = SMALL.try_with(|kept| {
        let mut kept = kept.borrow_mut();
        if kept.len() == FEW {
            kept.remove(0);
        }
        kept.push(buffer);
    });
}

impl Freed {
    /// Memory of this length; what is in it is of no meaning.
    pub fn memory(&self, len: usize) -> Buffer {
        if len < WORTH {
            return small_memory(len);
        }
        let used = self.kept().get_mut(&len).and_then(Vec::pop);
        let counter = if used.is_some() { &self.reused } else { &self.made };
        counter.fetch_add(1, Ordering::Relaxed);
        used.unwrap_or_else(|| Buffer::zeroed(len))
    }

    /// Keeps memory that its last holder gives back; what somebody else still holds is not kept.
    pub fn keep(&self, buffer: Buffer) {
        if !buffer.is_unique() || buffer.is_foreign() {
            return;
        }
        if buffer.len() < WORTH {
            return keep_small(buffer);
        }
        let mut all = self.kept();
        let kept = all.entry(buffer.len()).or_default();
        if kept.len() < KEPT {
            kept.push(buffer);
        }
    }

    pub fn stats(&self) -> MemoryStats {
        let kept = self.kept().iter().map(|(len, kept)| len * kept.len()).sum::<usize>() as u64;
        let [made, reused] = [&self.made, &self.reused].map(|count| count.load(Ordering::Relaxed));
        MemoryStats { made, reused, kept }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, HashMap<usize, Vec<Buffer>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
