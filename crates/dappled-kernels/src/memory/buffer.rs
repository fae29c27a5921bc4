//! Reference-counted memory that is never read while it is written.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

use dappled_base::{OutOfMemory, memory};

use super::foreign_claims::ForeignClaim;
use super::stats;
use crate::config::{
    BUFFER_ALIGN_BYTES, HUGE_PAGE_BYTES, MAX_HUGE_PAGE_SLACK_DIVISOR, MIN_HUGE_PAGE_BUFFER_BYTES,
};
use crate::error::Error;
use crate::types::element::{Element, bytes_of, typed};
use crate::types::scalar::Scalar;

/// The value of `claims` while a writer holds the buffer.
const WRITING: isize = -1;

/// Shared memory with run-time read and write claims. A clone shares the bytes.
///
/// Memory from this crate's allocator is aligned to 64 bytes.
///
/// ```
/// use dappled_kernels::Buffer;
/// let buffer = Buffer::from_slice(&[1.0, 2.0]);
/// assert_eq!(buffer.to_vec::<f64>(), [1.0, 2.0]);
/// let reading = buffer.read()?;
/// assert!(buffer.write().is_err());
/// # drop(reading);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Buffer(Arc<Allocation>);

#[derive(Debug)]
struct Allocation {
    start: NonNull<u8>,
    len: usize,
    /// The number of readers, or [`WRITING`]; foreign memory uses [`super::foreign_claims`].
    claims: AtomicIsize,
    owner: MemoryOwner,
    /// True while a buffer pool keeps the memory and no array uses it.
    is_pooled: AtomicBool,
}

#[derive(Debug)]
enum MemoryOwner {
    Owned { allocation: NonNull<u8>, layout: Layout },
    Vec(Vec<u8>),
    Foreign { _keeper: Box<dyn Any + Send + Sync> },
}

// SAFETY: the bytes are accessed only through a claim, which is one writer or many readers.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

impl Buffer {
    /// Allocates `len` zero bytes.
    ///
    /// Large allocations are untouched pages, so the zeros cost nothing. Unwinds with
    /// [`OutOfMemory`] if the allocation fails.
    pub fn zeroed(len: usize) -> Self {
        Self::try_zeroed(len).unwrap_or_else(|none| none.unwind())
    }

    /// Allocates `len` zero bytes, or returns an error if there is no memory.
    pub fn try_zeroed(len: usize) -> Result<Self, OutOfMemory> {
        // Requested with a small alignment and aligned here: for a larger alignment the system's
        // allocator writes the zeros itself, which touches every page.
        let (align, size) = alignment_and_size(len);
        let layout = Layout::from_size_align(size.saturating_add(align), 16);
        let Ok(layout) = layout else { return Err(OutOfMemory::temporary(len)) };
        // SAFETY: the layout is not empty.
        let allocation = NonNull::new(unsafe { alloc_zeroed(layout) });
        let Some(allocation) = allocation else { return Err(OutOfMemory::temporary(len)) };
        let pad = allocation.as_ptr().align_offset(align);
        // SAFETY: pad < align, so `pad + size` is inside the allocation.
        let start = unsafe { allocation.add(pad) };
        advise_huge_pages(start, size);
        Ok(Self::from_raw(start, len, MemoryOwner::Owned { allocation, layout }))
    }

    /// Allocates a copy of a slice of elements.
    pub fn from_slice<T: Element>(elements: &[T]) -> Self {
        let buffer = Self::zeroed(size_of_val(elements));
        buffer
            .write()
            .expect("a new buffer has no other holder")
            .copy_from_slice(bytes_of(elements));
        buffer
    }

    /// Takes over a vector as memory for elements of `itemsize` bytes; copies it if it is
    /// misaligned.
    pub fn from_vec(mut bytes: Vec<u8>, itemsize: usize) -> Self {
        let start = NonNull::new(bytes.as_mut_ptr()).expect("vector pointers are not null");
        match start.as_ptr().align_offset(itemsize.clamp(1, 16)) {
            0 => Self::from_raw(start, bytes.len(), MemoryOwner::Vec(bytes)),
            _ => Self::from_slice(&bytes),
        }
    }

    /// Returns the vector the buffer was made from, if no other handle shares it.
    pub fn into_vec(self) -> Option<Vec<u8>> {
        match &mut Arc::into_inner(self.0)?.owner {
            MemoryOwner::Vec(bytes) => Some(std::mem::take(bytes)),
            _ => None,
        }
    }

    /// Allocates `len` elements of the same value.
    pub fn full(value: Scalar, len: usize) -> Self {
        let buffer = Self::zeroed(len * value.dtype().itemsize());
        value.fill(&mut buffer.write().expect("a new buffer has no other holder"));
        buffer
    }

    /// Wraps memory that another library owns, for as long as `keeper` lives.
    ///
    /// # Safety
    /// The bytes must be valid and initialised until `keeper` is dropped. While a read claim on
    /// this buffer exists, they must not be written, and while a write claim exists they must not
    /// be accessed, except through other buffers: buffers over the same bytes exclude each other.
    pub unsafe fn foreign(
        start: NonNull<u8>,
        len: usize,
        keeper: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self::from_raw(start, len, MemoryOwner::Foreign { _keeper: keeper })
    }

    fn from_raw(start: NonNull<u8>, len: usize, owner: MemoryOwner) -> Self {
        if !matches!(owner, MemoryOwner::Foreign { .. }) {
            stats::record_allocation(len);
        }
        let (claims, is_aside) = (AtomicIsize::new(0), AtomicBool::new(false));
        Self(Arc::new(Allocation { start, len, claims, owner, is_pooled: is_aside }))
    }

    /// The number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// True if the buffer has no byte.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// The address of the first byte. Accessing the bytes requires a claim.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.0.start.as_ptr()
    }

    /// True if both handles share one allocation.
    pub fn is_same(&self, other: &Buffer) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// True if no other handle shares the memory, which then may be reused for a result.
    #[inline]
    pub fn is_unique(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// True if the memory does not come from this crate's allocator, so that no pool keeps it.
    #[inline]
    pub fn is_foreign(&self) -> bool {
        !matches!(self.0.owner, MemoryOwner::Owned { .. })
    }

    /// Marks the memory as kept by a buffer pool, or as in use by an array again.
    pub fn set_pooled(&self, is_aside: bool) {
        if self.0.is_pooled.swap(is_aside, Ordering::Relaxed) != is_aside {
            if is_aside { stats::record_release(self.len()) } else { stats::record_use(self.len()) }
        }
    }

    /// Claims the bytes for reading. Fails while a writer holds a claim.
    #[inline]
    pub fn read(&self) -> Result<ReadGuard<'_>, Error> {
        if let MemoryOwner::Foreign { .. } = self.0.owner {
            return self.foreign_claim(false).acquire().map(|()| ReadGuard(self));
        }
        let claims = &self.0.claims;
        let one_more = |readers: isize| (readers != WRITING).then_some(readers + 1);
        match claims.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(ReadGuard(self)),
            Err(_) => Err(Error::BufferBusy),
        }
    }

    /// Claims a range of the bytes for reading, with a guard that owns a handle.
    pub fn read_owned(&self, bytes: Range<usize>) -> Result<OwnedReadGuard, Error> {
        std::mem::forget(self.read()?);
        Ok(OwnedReadGuard { buffer: self.clone(), bytes })
    }

    /// Claims the bytes for writing. Fails while any other claim exists.
    #[inline]
    pub fn write(&self) -> Result<WriteGuard<'_>, Error> {
        if let MemoryOwner::Foreign { .. } = self.0.owner {
            return self.foreign_claim(true).acquire().map(|()| WriteGuard(self));
        }
        match self.0.claims.compare_exchange(0, WRITING, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(WriteGuard(self)),
            Err(_) => Err(Error::BufferBusy),
        }
    }

    /// The claim on memory that another library owns.
    fn foreign_claim(&self, is_writer: bool) -> ForeignClaim {
        let start = self.as_ptr().addr();
        ForeignClaim { addresses: start..start + self.len(), is_writer }
    }

    /// Copies all bytes to a vector of elements. Panics while the buffer is being written.
    pub fn to_vec<T: Element>(&self) -> Vec<T> {
        memory::copy_of(typed(&self.read().expect("no write claim exists")))
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if !matches!(self.owner, MemoryOwner::Foreign { .. }) && !*self.is_pooled.get_mut() {
            stats::record_release(self.len);
        }
        if let MemoryOwner::Owned { allocation, layout } = self.owner {
            // SAFETY: allocated with this layout by `try_zeroed`, and the last handle is gone.
            unsafe { dealloc(allocation.as_ptr(), layout) };
        }
    }
}

/// A read claim on a buffer, released on drop.
#[derive(Debug)]
pub struct ReadGuard<'a>(&'a Buffer);

/// A read claim on a range of a buffer that owns a handle, released on drop.
#[derive(Debug)]
pub struct OwnedReadGuard {
    buffer: Buffer,
    bytes: Range<usize>,
}

impl AsRef<[u8]> for OwnedReadGuard {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: initialised when allocated; this claim excludes writers.
        let all = unsafe { slice::from_raw_parts(self.buffer.as_ptr(), self.buffer.len()) };
        &all[self.bytes.clone()]
    }
}

impl Drop for OwnedReadGuard {
    fn drop(&mut self) {
        // Releases the claim that `read_owned` leaked.
        drop(ReadGuard(&self.buffer));
    }
}

/// The write claim on a buffer, released on drop.
#[derive(Debug)]
pub struct WriteGuard<'a>(&'a Buffer);

impl Deref for ReadGuard<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: initialised when allocated; this claim excludes writers.
        unsafe { slice::from_raw_parts(self.0.as_ptr(), self.0.len()) }
    }
}

impl Deref for WriteGuard<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: initialised when allocated; this claim excludes all others.
        unsafe { slice::from_raw_parts(self.0.as_ptr(), self.0.len()) }
    }
}

impl DerefMut for WriteGuard<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: this claim excludes all others.
        unsafe { slice::from_raw_parts_mut(self.0.as_ptr(), self.0.len()) }
    }
}

impl Drop for ReadGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        match self.0.0.owner {
            MemoryOwner::Foreign { .. } => self.0.foreign_claim(false).release(),
            _ => _ = self.0.0.claims.fetch_sub(1, Ordering::Release),
        }
    }
}

impl Drop for WriteGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        match self.0.0.owner {
            MemoryOwner::Foreign { .. } => self.0.foreign_claim(true).release(),
            _ => self.0.0.claims.store(0, Ordering::Release),
        }
    }
}

/// The alignment and the number of bytes to allocate for `len` bytes.
///
/// Large allocations start at a huge page, and fill the last one if that wastes little.
fn alignment_and_size(len: usize) -> (usize, usize) {
    if len < MIN_HUGE_PAGE_BUFFER_BYTES {
        return (BUFFER_ALIGN_BYTES, len);
    }
    let whole = len.checked_next_multiple_of(HUGE_PAGE_BYTES).unwrap_or(len);
    (HUGE_PAGE_BYTES, if whole - len <= len / MAX_HUGE_PAGE_SLACK_DIVISOR { whole } else { len })
}

/// Requests huge pages for a large allocation.
///
/// First writes are two to four times faster with pages of 2 MiB than of 4 KiB, and a loop over
/// several rows at once gains a fifth (measured in C). `start` is aligned to a huge page.
#[cfg(target_os = "linux")]
fn advise_huge_pages(start: NonNull<u8>, len: usize) {
    unsafe extern "C" {
        fn madvise(start: *mut u8, len: usize, advice: i32) -> i32;
    }
    const MADV_HUGEPAGE: i32 = 14;
    const PAGE: usize = 4096;
    if len >= MIN_HUGE_PAGE_BUFFER_BYTES {
        // SAFETY: whole pages inside our own allocation; the advice changes no byte, and a refusal
        // has no effect.
        unsafe { madvise(start.as_ptr(), len / PAGE * PAGE, MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_start: NonNull<u8>, _len: usize) {}
