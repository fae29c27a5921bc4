//! Memory that arrays live in: shared by counting, and never read while it is written.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

use dappled_base::{OutOfMemory, memory};

use crate::element::{Element, bytes_of, typed};
use crate::foreign::Claim;
use crate::usage;
use crate::{Error, Scalar};

/// A cache line, and what the widest vectors like.
const ALIGN: usize = 64;

/// From here on huge pages are asked for.
const HUGE: usize = 4 << 20;

/// Bytes of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// The last huge page is taken whole where that is no more than this part of all.
const NEGLIGIBLE: usize = 8;

/// The claim of a writer, in place of the count of readers.
const WRITING: isize = -1;

/// Bytes, 64-byte aligned where they are our own. A clone shares them.
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
pub struct Buffer(Arc<Memory>);

#[derive(Debug)]
struct Memory {
    start: NonNull<u8>,
    len: usize,
    /// How many read it, or [`WRITING`]; of foreign memory see [`crate::foreign`].
    claims: AtomicIsize,
    owner: Owner,
    /// Is it kept for reuse, and no array's?
    is_aside: AtomicBool,
}

#[derive(Debug)]
enum Owner {
    Ours { allocation: NonNull<u8>, layout: Layout },
    Vec(Vec<u8>),
    Foreign { _keeper: Box<dyn Any + Send + Sync> },
}

// SAFETY: the bytes are reached only through a claim, which is one writer or many readers.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Buffer {
    /// So many zero bytes. Large memory comes as untouched pages: the zeros cost nothing. Unwinds
    /// with [`OutOfMemory`] where there is none.
    pub fn zeroed(len: usize) -> Self {
        Self::try_zeroed(len).unwrap_or_else(|none| none.unwind())
    }

    /// So many zero bytes, or an error where there is no memory for them.
    pub fn try_zeroed(len: usize) -> Result<Self, OutOfMemory> {
        // Asked for with a plain alignment and aligned by hand: the system's allocator writes
        // zeros itself, touching every page, as soon as a larger alignment is wanted.
        let (align, room) = placed(len);
        let layout = Layout::from_size_align(room.saturating_add(align), 16);
        let Ok(layout) = layout else { return Err(OutOfMemory::of(len)) };
        // SAFETY: the layout is not empty.
        let allocation = NonNull::new(unsafe { alloc_zeroed(layout) });
        let Some(allocation) = allocation else { return Err(OutOfMemory::of(len)) };
        let pad = allocation.as_ptr().align_offset(align);
        // SAFETY: pad < align, so `pad + room` is inside the allocation.
        let start = unsafe { allocation.add(pad) };
        ask_for_huge_pages(start, room);
        Ok(Self::over(start, len, Owner::Ours { allocation, layout }))
    }

    /// A copy of these elements.
    pub fn from_slice<T: Element>(elements: &[T]) -> Self {
        let buffer = Self::zeroed(size_of_val(elements));
        buffer.write().expect("nobody else has it yet").copy_from_slice(bytes_of(elements));
        buffer
    }

    /// These bytes, for elements of this size, without a copy where they lie as such elements must.
    pub fn from_vec(mut bytes: Vec<u8>, itemsize: usize) -> Self {
        let start = NonNull::new(bytes.as_mut_ptr()).expect("a vector points somewhere");
        match start.as_ptr().align_offset(itemsize.clamp(1, 16)) {
            0 => Self::over(start, bytes.len(), Owner::Vec(bytes)),
            _ => Self::from_slice(&bytes),
        }
    }

    /// The vector that this was made of, if nobody else holds it.
    pub fn into_vec(self) -> Option<Vec<u8>> {
        match &mut Arc::into_inner(self.0)?.owner {
            Owner::Vec(bytes) => Some(std::mem::take(bytes)),
            _ => None,
        }
    }

    /// `len` times the same element.
    pub fn full(value: Scalar, len: usize) -> Self {
        let buffer = Self::zeroed(len * value.dtype().itemsize());
        value.fill(&mut buffer.write().expect("nobody else has it yet"));
        buffer
    }

    /// Memory that somebody else owns, for as long as `keeper` lives.
    ///
    /// # Safety
    /// The bytes must be valid and initialised until `keeper` is dropped, and while a claim on
    /// this buffer lives nobody may write them, nor read them if the claim is a writer's, but through
    /// another buffer: buffers over the same bytes exclude each other.
    pub unsafe fn foreign(
        start: NonNull<u8>,
        len: usize,
        keeper: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self::over(start, len, Owner::Foreign { _keeper: keeper })
    }

    fn over(start: NonNull<u8>, len: usize, owner: Owner) -> Self {
        if !matches!(owner, Owner::Foreign { .. }) {
            usage::made(len);
        }
        let (claims, is_aside) = (AtomicIsize::new(0), AtomicBool::new(false));
        Self(Arc::new(Memory { start, len, claims, owner, is_aside }))
    }

    /// How many bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Is there no byte?
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// Where the bytes are, to be handed out without a copy; reading them needs a claim.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        self.0.start.as_ptr()
    }

    /// Do both share the same memory?
    pub fn is_same(&self, other: &Buffer) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Does nobody else hold it? Then it may be reused for a result.
    #[inline]
    pub fn is_unique(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Is it not from our own allocator, and so not kept for reuse?
    #[inline]
    pub fn is_foreign(&self) -> bool {
        !matches!(self.0.owner, Owner::Ours { .. })
    }

    /// Counts it as kept for reuse, or as an array's again.
    pub fn set_aside(&self, is_aside: bool) {
        if self.0.is_aside.swap(is_aside, Ordering::Relaxed) != is_aside {
            if is_aside { usage::gone(self.len()) } else { usage::back(self.len()) }
        }
    }

    /// The bytes, to read, unless somebody writes them.
    #[inline]
    pub fn read(&self) -> Result<Reading<'_>, Error> {
        if let Owner::Foreign { .. } = self.0.owner {
            return self.foreign_claim(false).make().map(|()| Reading(self));
        }
        let claims = &self.0.claims;
        let one_more = |readers: isize| (readers != WRITING).then_some(readers + 1);
        match claims.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(Reading(self)),
            Err(_) => Err(Error::Busy),
        }
    }

    /// A reader's claim that needs no borrow, on some of the bytes.
    pub fn keep(&self, bytes: Range<usize>) -> Result<Kept, Error> {
        std::mem::forget(self.read()?);
        Ok(Kept { buffer: self.clone(), bytes })
    }

    /// The bytes, to write, unless somebody reads or writes them.
    #[inline]
    pub fn write(&self) -> Result<Writing<'_>, Error> {
        if let Owner::Foreign { .. } = self.0.owner {
            return self.foreign_claim(true).make().map(|()| Writing(self));
        }
        match self.0.claims.compare_exchange(0, WRITING, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(Writing(self)),
            Err(_) => Err(Error::Busy),
        }
    }

    /// A claim on memory that somebody else owns.
    fn foreign_claim(&self, is_writer: bool) -> Claim {
        let start = self.as_ptr().addr();
        Claim { addresses: start..start + self.len(), is_writer }
    }

    /// A copy of all of it as elements. Panics while it is being written.
    pub fn to_vec<T: Element>(&self) -> Vec<T> {
        memory::copied(typed(&self.read().expect("nobody writes it")))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !matches!(self.owner, Owner::Foreign { .. }) && !*self.is_aside.get_mut() {
            usage::gone(self.len);
        }
        if let Owner::Ours { allocation, layout } = self.owner {
            // SAFETY: allocated with this layout by `zeroed`; the last holder is gone.
            unsafe { dealloc(allocation.as_ptr(), layout) };
        }
    }
}

/// A reader's claim on a buffer, until it is dropped.
#[derive(Debug)]
pub struct Reading<'a>(&'a Buffer);

/// A reader's claim on some bytes of a buffer that it holds, until it is dropped.
#[derive(Debug)]
pub struct Kept {
    buffer: Buffer,
    bytes: Range<usize>,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: initialised when allocated; this claim keeps writers out.
        let all = unsafe { slice::from_raw_parts(self.buffer.as_ptr(), self.buffer.len()) };
        &all[self.bytes.clone()]
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // The claim that `keep` did not give back.
        drop(Reading(&self.buffer));
    }
}

/// The writer's claim on a buffer, until it is dropped.
#[derive(Debug)]
pub struct Writing<'a>(&'a Buffer);

impl Deref for Reading<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: initialised when allocated; this claim keeps writers out.
        unsafe { slice::from_raw_parts(self.0.as_ptr(), self.0.len()) }
    }
}

impl Deref for Writing<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: initialised when allocated; this claim keeps everybody else out.
        unsafe { slice::from_raw_parts(self.0.as_ptr(), self.0.len()) }
    }
}

impl DerefMut for Writing<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: this claim keeps everybody else out.
        unsafe { slice::from_raw_parts_mut(self.0.as_ptr(), self.0.len()) }
    }
}

impl Drop for Reading<'_> {
    #[inline]
    fn drop(&mut self) {
        match self.0.0.owner {
            Owner::Foreign { .. } => self.0.foreign_claim(false).end(),
            _ => _ = self.0.0.claims.fetch_sub(1, Ordering::Release),
        }
    }
}

impl Drop for Writing<'_> {
    #[inline]
    fn drop(&mut self) {
        match self.0.0.owner {
            Owner::Foreign { .. } => self.0.foreign_claim(true).end(),
            _ => self.0.0.claims.store(0, Ordering::Release),
        }
    }
}

/// Where so many bytes should begin, and how many to ask for: whole huge pages, where they are large.
fn placed(len: usize) -> (usize, usize) {
    if len < HUGE {
        return (ALIGN, len);
    }
    let whole = len.checked_next_multiple_of(HUGE_PAGE).unwrap_or(len);
    (HUGE_PAGE, if whole - len <= len / NEGLIGIBLE { whole } else { len })
}

/// Fresh memory is filled two to four times faster by pages of 2 MiB than of 4 KiB, and a loop over
/// several rows at once is a fifth faster in C. Begins with such a page.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(start: NonNull<u8>, len: usize) {
    unsafe extern "C" {
        fn madvise(start: *mut u8, len: usize, advice: i32) -> i32;
    }
    const MADV_HUGEPAGE: i32 = 14;
    const PAGE: usize = 4096;
    if len >= HUGE {
        // SAFETY: whole pages inside our own allocation; the advice changes no byte, and where
        // it is refused nothing happens.
        unsafe { madvise(start.as_ptr(), len / PAGE * PAGE, MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_start: NonNull<u8>, _len: usize) {}
