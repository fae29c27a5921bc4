//! Buffer pool: reuses freed memory for new arrays.
//!
//! Buffers below `MIN_SHARED_POOL_BYTES` are cached per thread, without a lock; larger ones are
//! shared by all threads of a session.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dappled_base::OutOfMemory;
use dappled_base::memory::ArraySize;
use dappled_kernels::{Buffer, BufferStats, DType, Scalar, View};

use super::meminfo;
use crate::config::{
    DEFAULT_POOL_BYTES, MAX_THREAD_CACHE_BUFFERS, MEMORY_RESERVE_DIVISOR, MIN_SCARCITY_CHECK_BYTES,
    MIN_SHARED_POOL_BYTES, POOL_MEMORY_DIVISOR, REUSE_FLUSH_INTERVAL,
};

/// Pool of freed buffers. Page faults of new memory cost as much as the arithmetic on it.
pub(crate) struct BufferPool {
    free_list: Mutex<FreeList>,
    /// Bytes that the pool holds at most.
    limit: AtomicUsize,
}

/// Free buffers, ordered by the time at which they were freed.
#[derive(Default)]
struct FreeList {
    by_time: BTreeMap<u64, Buffer>,
    /// Times of the buffers of each length, oldest first.
    by_len: HashMap<usize, Vec<u64>>,
    bytes: usize,
    clock: u64,
}

impl FreeList {
    fn add(&mut self, buffer: Buffer) {
        self.clock += 1;
        buffer.set_pooled(true);
        self.bytes += buffer.len();
        self.by_len.entry(buffer.len()).or_default().push(self.clock);
        self.by_time.insert(self.clock, buffer);
    }

    /// Takes the most recently freed buffer of a length: it may still be in the CPU cache.
    fn take(&mut self, len: usize) -> Option<Buffer> {
        let time = self.by_len.get_mut(&len)?.pop()?;
        self.bytes -= len;
        self.by_time.remove(&time).inspect(|buffer| buffer.set_pooled(false))
    }

    /// Removes the oldest buffers until at most `limit` bytes are left, and returns them.
    fn evict_to(&mut self, limit: usize) -> Vec<Buffer> {
        let mut evicted = Vec::new();
        while self.bytes > limit
            && let Some((time, buffer)) = self.by_time.pop_first()
        {
            self.bytes -= buffer.len();
            if let Some(times) = self.by_len.get_mut(&buffer.len()) {
                times.retain(|&other| other != time);
                if times.is_empty() {
                    self.by_len.remove(&buffer.len());
                }
            }
            evicted.push(buffer);
        }
        evicted
    }
}

/// Memory statistics of all threads of this process. Memory that NumPy owns is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryStats {
    /// Buffers allocated so far, for arrays and for temporary results.
    pub allocations: u64,
    /// Arrays placed in a buffer of the pool.
    pub reuses: u64,
    /// Bytes in use.
    pub live_bytes: u64,
    /// Maximum of the bytes in use.
    pub peak_bytes: u64,
    /// Bytes in the pool.
    pub pooled_bytes: u64,
}

/// Number of reuses that threads have reported.
static REUSES: AtomicU64 = AtomicU64::new(0);

/// Small free buffers of one thread.
struct ThreadCache {
    buffers: Vec<Buffer>,
    /// Reuses not yet reported: an atomic increment per reuse would cost as much as the reuse.
    reused: u64,
}

thread_local! {
    static THREAD_CACHE: RefCell<ThreadCache> = const { RefCell::new(ThreadCache { buffers: Vec::new(), reused: 0 }) };
}

impl ThreadCache {
    fn take(&mut self, len: usize) -> Option<Buffer> {
        let at = self.buffers.iter().rposition(|buffer| buffer.len() == len)?;
        self.reused += 1;
        if self.reused == REUSE_FLUSH_INTERVAL {
            self.flush_stats();
        }
        Some(self.buffers.swap_remove(at))
    }

    fn flush_stats(&mut self) {
        REUSES.fetch_add(std::mem::take(&mut self.reused), Ordering::Relaxed);
    }

    /// Bytes in the cache. Reports the reuses first.
    fn bytes(&mut self) -> usize {
        self.flush_stats();
        self.buffers.iter().map(Buffer::len).sum()
    }
}

impl Drop for ThreadCache {
    fn drop(&mut self) {
        self.flush_stats();
    }
}

/// Returns a small buffer of a length, with unspecified contents.
pub(crate) fn take_small_buffer(len: usize) -> Buffer {
    let used = THREAD_CACHE.try_with(|small| small.borrow_mut().take(len));
    used.ok().flatten().unwrap_or_else(|| Buffer::zeroed(len))
}

/// Returns a small buffer filled with one value.
pub(crate) fn small_buffer_filled(value: Scalar, len: usize) -> Buffer {
    let memory = take_small_buffer(len * value.dtype().itemsize());
    let mut elements = memory.write().expect("a new buffer has no other holder");
    match value.bytes().iter().all(|&byte| byte == 0) {
        true => elements.fill(0),
        false => value.fill(&mut elements),
    }
    drop(elements);
    memory
}

/// Returns a small buffer to the cache of this thread, unless there are other holders.
pub(crate) fn recycle_small(buffer: Buffer) {
    if !buffer.is_unique() || buffer.is_foreign() || buffer.len() >= MIN_SHARED_POOL_BYTES {
        return;
    }
    // The cache is gone while the thread exits.
    let _ = THREAD_CACHE.try_with(|small| {
        let buffers = &mut small.borrow_mut().buffers;
        if buffers.len() == MAX_THREAD_CACHE_BUFFERS {
            buffers.remove(0);
        }
        buffers.push(buffer);
    });
}

/// The error for `bytes` that could not be allocated for an array of this dtype and shape.
pub(crate) fn out_of_memory(dtype: DType, shape: &[usize], bytes: usize) -> OutOfMemory {
    let (shape, all) = (shape.to_vec(), array_bytes(dtype, shape));
    let array = ArraySize { shape, dtype: dtype.name().into(), bytes: all };
    OutOfMemory { bytes, array: Some(array) }
}

/// Bytes of an array. The product may exceed the memory of any machine.
pub(crate) fn array_bytes(dtype: DType, shape: &[usize]) -> u128 {
    let item = dtype.itemsize() as u128;
    shape.iter().fold(item, |bytes, &length| bytes.saturating_mul(length as u128))
}

impl BufferPool {
    /// Creates an empty pool. The ranks of a node share its memory limit.
    pub fn new(ranks: u64) -> Self {
        let limit = meminfo::system_memory()
            .map_or(DEFAULT_POOL_BYTES, |memory| memory.total / POOL_MEMORY_DIVISOR)
            / ranks.max(1) as usize;
        Self { free_list: Mutex::default(), limit: AtomicUsize::new(limit) }
    }

    /// Allocates this rank's piece of an array with this base, with unspecified contents.
    ///
    /// Unwinds with an error that names the array if there is not enough memory.
    pub fn allocate(&self, len: usize, base: &View) -> Buffer {
        if len < MIN_SHARED_POOL_BYTES {
            return take_small_buffer(len);
        }
        let refused =
            |none: OutOfMemory| out_of_memory(base.dtype, &base.shape, none.bytes).unwind();
        self.allocate_large(len).unwrap_or_else(refused)
    }

    fn allocate_large(&self, len: usize) -> Result<Buffer, OutOfMemory> {
        let used = self.free_list().take(len);
        REUSES.fetch_add(used.is_some().into(), Ordering::Relaxed);
        if let Some(used) = used {
            return Ok(used);
        }
        self.clear_if_scarce(len);
        Buffer::try_zeroed(len).or_else(|_| {
            self.clear();
            Buffer::try_zeroed(len)
        })
    }

    /// Frees all buffers of the pool.
    pub fn clear(&self) {
        let evicted = self.free_list().evict_to(0);
        drop(evicted);
    }

    /// Frees the pool if the machine has too little memory left for `len` more bytes.
    fn clear_if_scarce(&self, len: usize) {
        if len < MIN_SCARCITY_CHECK_BYTES || self.free_list().bytes == 0 {
            return;
        }
        if meminfo::system_memory()
            .is_some_and(|memory| memory.available < len + memory.total / MEMORY_RESERVE_DIVISOR)
        {
            self.clear();
        }
    }

    /// Returns a buffer to the pool, unless it is foreign or has other holders.
    pub fn recycle(&self, buffer: Buffer) {
        if !buffer.is_unique() || buffer.is_foreign() {
            return;
        }
        if buffer.len() < MIN_SHARED_POOL_BYTES {
            return recycle_small(buffer);
        }
        let mut free_list = self.free_list();
        free_list.add(buffer);
        let evicted = free_list.evict_to(self.limit.load(Ordering::Relaxed));
        // Freed after the lock is released: `munmap` of large buffers is slow.
        drop(free_list);
        drop(evicted);
    }

    /// Sets the bytes that the pool holds at most.
    pub fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
        let evicted = self.free_list().evict_to(bytes);
        drop(evicted);
    }

    pub fn stats(&self) -> MemoryStats {
        let small = THREAD_CACHE.try_with(|small| small.borrow_mut().bytes()).unwrap_or(0) as u64;
        let (large, BufferStats { allocations: made, live, peak }) =
            (self.free_list().bytes as u64, BufferStats::current());
        let reused = REUSES.load(Ordering::Relaxed);
        MemoryStats {
            allocations: made,
            reuses: reused,
            live_bytes: live.saturating_sub(small),
            peak_bytes: peak,
            pooled_bytes: large + small,
        }
    }

    fn free_list(&self) -> MutexGuard<'_, FreeList> {
        self.free_list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The newest buffer of a length is reused; the oldest of any length is evicted first.
    #[test]
    fn newest_is_reused_and_oldest_is_evicted() {
        let pool = BufferPool::new(1);
        pool.set_limit(4 * MIN_SHARED_POOL_BYTES);
        let sizes = [1, 1, 2];
        let buffers = sizes.map(|size| pool.allocate_large(size * MIN_SHARED_POOL_BYTES).unwrap());
        let starts = buffers.each_ref().map(Buffer::as_ptr);
        buffers.into_iter().for_each(|buffer| pool.recycle(buffer));
        assert_eq!(pool.free_list().bytes, 4 * MIN_SHARED_POOL_BYTES);
        let newest = pool.allocate_large(MIN_SHARED_POOL_BYTES).unwrap();
        assert_eq!(newest.as_ptr(), starts[1]);
        pool.recycle(Buffer::zeroed(2 * MIN_SHARED_POOL_BYTES));
        // The buffer freed first was evicted.
        assert_eq!(pool.free_list().bytes, 4 * MIN_SHARED_POOL_BYTES);
        pool.set_limit(0);
        assert_eq!(pool.free_list().bytes, 0);
    }
}
