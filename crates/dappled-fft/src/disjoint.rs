//! Memory that several threads write, each in places of its own.

use std::marker::PhantomData;

/// A slice of which each thread reads and writes elements that no other touches meanwhile.
pub struct Disjoint<'a, T> {
    start: *mut T,
    length: usize,
    _slice: PhantomData<&'a mut [T]>,
}

impl<T> Clone for Disjoint<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Disjoint<'_, T> {}

// SAFETY: elements are reached only through `read` and `write`, whose callers promise that no two
// threads are at the same element at the same time.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}
// SAFETY: as above; the slice is borrowed for as long as this lives.
unsafe impl<T: Send> Send for Disjoint<'_, T> {}

impl<'a, T: Copy> Disjoint<'a, T> {
    pub fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), _slice: PhantomData }
    }

    pub fn len(&self) -> usize {
        self.length
    }

    /// Copies the elements from a place on.
    ///
    /// # Safety
    /// No other thread writes them meanwhile.
    pub unsafe fn read(&self, at: usize, into: &mut [T]) {
        assert!(at <= self.length && into.len() <= self.length - at);
        // SAFETY: inside the slice; the caller promises that nobody writes there; `into` is borrowed
        // for writing and so is other memory.
        unsafe { self.start.add(at).copy_to_nonoverlapping(into.as_mut_ptr(), into.len()) }
    }

    /// Writes the elements from a place on.
    ///
    /// # Safety
    /// No other thread reads or writes them meanwhile, and the values are not among them.
    pub unsafe fn write(&self, at: usize, values: &[T]) {
        assert!(at <= self.length && values.len() <= self.length - at);
        // SAFETY: inside the slice; the caller promises that nobody else is there.
        unsafe { self.start.add(at).copy_from_nonoverlapping(values.as_ptr(), values.len()) }
    }
}
