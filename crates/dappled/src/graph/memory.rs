//! Memory: fresh, or used before.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dappled_base::OutOfMemory;
use dappled_base::memory::ArraySize;
use dappled_kernels::{Buffer, DType, Scalar, Usage, View};

use super::system;

/// Freed memory. Filling fresh pages costs as much as arithmetic.
pub(super) struct Freed {
    kept: Mutex<Kept>,
    /// So many bytes are kept at most.
    limit: AtomicUsize,
}

/// Memory that is kept, by the time when it was freed.
#[derive(Default)]
struct Kept {
    by_time: BTreeMap<u64, Buffer>,
    /// The times of those of one length.
    by_len: HashMap<usize, Vec<u64>>,
    bytes: usize,
    now: u64,
}

impl Kept {
    fn add(&mut self, buffer: Buffer) {
        self.now += 1;
        buffer.set_aside(true);
        self.bytes += buffer.len();
        self.by_len.entry(buffer.len()).or_default().push(self.now);
        self.by_time.insert(self.now, buffer);
    }

    /// The one of this length that was freed last: it may still be in a cache.
    fn take(&mut self, len: usize) -> Option<Buffer> {
        let time = self.by_len.get_mut(&len)?.pop()?;
        self.bytes -= len;
        self.by_time.remove(&time).inspect(|buffer| buffer.set_aside(false))
    }

    /// Lets the oldest go until no more than so many bytes are left.
    fn shrink(&mut self, limit: usize) -> Vec<Buffer> {
        let mut gone = Vec::new();
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
            gone.push(buffer);
        }
        gone
    }
}

/// What was done with memory so far, by all threads of this process: not what NumPy or somebody else
/// has made and owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryStats {
    /// Pieces of fresh memory, for arrays and for what is needed to compute them.
    pub made: u64,
    /// Arrays that got memory used before.
    pub reused: u64,
    /// Bytes in use now.
    pub live: u64,
    /// The most bytes that were in use at once.
    pub peak: u64,
    /// Bytes kept for reuse, not in use.
    pub kept: u64,
}

/// This part of the machine's memory is kept, if nobody says.
const PART: usize = 4;
/// Before so much fresh memory is asked for, it is seen whether the machine has it.
const MUCH: usize = 1 << 24;
/// Smaller ones are kept by the thread that gave them back.
pub(super) const WORTH: usize = 1 << 18;
/// So many small pieces a thread keeps: a chain of operations uses few at a time.
const FEW: usize = 8;

/// After so many reuses a thread tells of them.
const OFTEN: u64 = 64;

/// How often memory was reused, as far as threads have told.
static REUSED: AtomicU64 = AtomicU64::new(0);

/// Small memory that a thread keeps.
struct Small {
    kept: Vec<Buffer>,
    /// How often some was reused, not told yet: telling each time would cost as much as taking it.
    reused: u64,
}

thread_local! {
    static SMALL: RefCell<Small> = const { RefCell::new(Small { kept: Vec::new(), reused: 0 }) };
}

impl Small {
    fn take(&mut self, len: usize) -> Option<Buffer> {
        let at = self.kept.iter().rposition(|buffer| buffer.len() == len)?;
        self.reused += 1;
        if self.reused == OFTEN {
            self.tell();
        }
        Some(self.kept.swap_remove(at))
    }

    fn tell(&mut self) {
        REUSED.fetch_add(std::mem::take(&mut self.reused), Ordering::Relaxed);
    }

    /// The bytes that it keeps, having told what it reused.
    fn bytes(&mut self) -> usize {
        self.tell();
        self.kept.iter().map(Buffer::len).sum()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        self.tell();
    }
}

/// Small memory of this length; what is in it is of no meaning.
pub(super) fn small_memory(len: usize) -> Buffer {
    let used = SMALL.try_with(|small| small.borrow_mut().take(len));
    used.ok().flatten().unwrap_or_else(|| Buffer::zeroed(len))
}

/// Memory with one value everywhere.
pub(super) fn small_full(value: Scalar, len: usize) -> Buffer {
    let memory = small_memory(len * value.dtype().itemsize());
    let mut elements = memory.write().expect("nobody else has it");
    match value.bytes().iter().all(|&byte| byte == 0) {
        true => elements.fill(0),
        false => value.fill(&mut elements),
    }
    drop(elements);
    memory
}

/// Keeps small memory that its last holder gives back.
pub(super) fn keep_small(buffer: Buffer) {
    if !buffer.is_unique() || buffer.is_foreign() || buffer.len() >= WORTH {
        return;
    }
    // While a thread ends there is nothing to keep it in.
    let _ = SMALL.try_with(|small| {
        let kept = &mut small.borrow_mut().kept;
        if kept.len() == FEW {
            kept.remove(0);
        }
        kept.push(buffer);
    });
}

/// There is no memory for so many bytes of an array of this dtype and shape.
pub(super) fn refused(dtype: DType, shape: &[usize], bytes: usize) -> OutOfMemory {
    let (shape, all) = (shape.to_vec(), size_of_array(dtype, shape));
    let array = ArraySize { shape, dtype: dtype.name().into(), bytes: all };
    OutOfMemory { bytes, array: Some(array) }
}

/// Bytes of an array, which may be more than any machine has.
pub(super) fn size_of_array(dtype: DType, shape: &[usize]) -> u128 {
    let item = dtype.itemsize() as u128;
    shape.iter().fold(item, |bytes, &length| bytes.saturating_mul(length as u128))
}

impl Freed {
    /// None so far; what may be kept is shared with so many ranks.
    pub fn new(ranks: u64) -> Self {
        let limit =
            system::memory().map_or(1 << 30, |memory| memory.total / PART) / ranks.max(1) as usize;
        Self { kept: Mutex::default(), limit: AtomicUsize::new(limit) }
    }

    /// Memory for this rank's part of an array with this base; what is in it is of no meaning.
    ///
    /// Unwinds with an error that names the array where there is none.
    pub fn array(&self, len: usize, base: &View) -> Buffer {
        if len < WORTH {
            return small_memory(len);
        }
        let refused = |none: OutOfMemory| refused(base.dtype, &base.shape, none.bytes).unwind();
        self.large(len).unwrap_or_else(refused)
    }

    fn large(&self, len: usize) -> Result<Buffer, OutOfMemory> {
        let used = self.kept().take(len);
        REUSED.fetch_add(used.is_some().into(), Ordering::Relaxed);
        if let Some(used) = used {
            return Ok(used);
        }
        self.release_for(len);
        Buffer::try_zeroed(len).or_else(|_| {
            self.release();
            Buffer::try_zeroed(len)
        })
    }

    /// Gives back all that is kept.
    pub fn release(&self) {
        let gone = self.kept().shrink(0);
        drop(gone);
    }

    /// Gives back what is kept where the machine has too little left for so much more.
    fn release_for(&self, len: usize) {
        if len < MUCH || self.kept().bytes == 0 {
            return;
        }
        if system::memory().is_some_and(|memory| memory.available < len + memory.total / 16) {
            self.release();
        }
    }

    /// Keeps memory that its last holder gives back; what somebody else still holds is not kept.
    pub fn keep(&self, buffer: Buffer) {
        if !buffer.is_unique() || buffer.is_foreign() {
            return;
        }
        if buffer.len() < WORTH {
            return keep_small(buffer);
        }
        let mut kept = self.kept();
        kept.add(buffer);
        let gone = kept.shrink(self.limit.load(Ordering::Relaxed));
        // Freed without the lock: that may take long.
        drop(kept);
        drop(gone);
    }

    /// So many bytes are kept at most, from now on.
    pub fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
        let gone = self.kept().shrink(bytes);
        drop(gone);
    }

    pub fn stats(&self) -> MemoryStats {
        let small = SMALL.try_with(|small| small.borrow_mut().bytes()).unwrap_or(0) as u64;
        let (large, Usage { made, live, peak }) = (self.kept().bytes as u64, Usage::now());
        let reused = REUSED.load(Ordering::Relaxed);
        MemoryStats { made, reused, live: live.saturating_sub(small), peak, kept: large + small }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The newest of a length is reused; the oldest of any goes first.
    #[test]
    fn what_is_kept() {
        let freed = Freed::new(1);
        freed.set_limit(4 * WORTH);
        let sizes = [1, 1, 2];
        let buffers = sizes.map(|size| freed.large(size * WORTH).unwrap());
        let starts = buffers.each_ref().map(Buffer::as_ptr);
        buffers.into_iter().for_each(|buffer| freed.keep(buffer));
        assert_eq!(freed.kept().bytes, 4 * WORTH);
        let newest = freed.large(WORTH).unwrap();
        assert_eq!(newest.as_ptr(), starts[1]);
        freed.keep(Buffer::zeroed(2 * WORTH));
        // The first of all had to go.
        assert_eq!(freed.kept().bytes, 4 * WORTH);
        freed.set_limit(0);
        assert_eq!(freed.kept().bytes, 0);
    }
}
