//! A slice whose disjoint elements several threads access.

use std::marker::PhantomData;

/// A slice that threads share; each accesses elements that no other accesses at the time.
pub struct DisjointSlice<'a, T> {
    start: *mut T,
    length: usize,
    _slice: PhantomData<&'a mut [T]>,
}

impl<T> Clone for DisjointSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DisjointSlice<'_, T> {}

// SAFETY: elements are accessed only through `read` and `write`, whose callers guarantee that no
// two threads access the same element at once.
unsafe impl<T: Send> Sync for DisjointSlice<'_, T> {}
// SAFETY: as for `Sync`; the slice is borrowed for the lifetime of this value.
unsafe impl<T: Send> Send for DisjointSlice<'_, T> {}

impl<'a, T: Copy> DisjointSlice<'a, T> {
    pub fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), _slice: PhantomData }
    }

    pub fn len(&self) -> usize {
        self.length
    }

    /// Copies the elements from offset `at` on.
    ///
    /// # Safety
    ///
    /// No other thread writes these elements at the same time.
    pub unsafe fn read(&self, at: usize, into: &mut [T]) {
        assert!(at <= self.length && into.len() <= self.length - at);
        // SAFETY: in bounds; the caller guarantees that no thread writes there; `into` is borrowed
        // mutably, so it is other memory.
        unsafe { self.start.add(at).copy_to_nonoverlapping(into.as_mut_ptr(), into.len()) }
    }

    /// Writes elements from offset `at` on.
    ///
    /// # Safety
    ///
    /// No other thread accesses these elements at the same time, and `values` does not overlap
    /// them.
    pub unsafe fn write(&self, at: usize, values: &[T]) {
        assert!(at <= self.length && values.len() <= self.length - at);
        // SAFETY: in bounds; the caller guarantees exclusive access.
        unsafe { self.start.add(at).copy_from_nonoverlapping(values.as_ptr(), values.len()) }
    }
}
