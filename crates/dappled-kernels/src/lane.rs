//! One operand's memory along the indices of a space: used in place, gathered, or scattered.

use std::ops::Range;

use crate::space::{Extent, Run, Space, Track};
use crate::strided::copy_strided;
use crate::turn::Turn;

/// An operand of a run. The memory of all indices of the space is claimed while it lives.
#[derive(Clone, Copy)]
pub(crate) struct Lane<'a> {
    pub base: *mut u8,
    pub track: &'a Track,
    pub space: &'a Space,
}

impl Lane<'_> {
    /// Where these indices begin, if they lie one after the other and aligned, so that a kernel
    /// can use them where they are.
    pub fn in_place(&self, extent: &Extent) -> Option<*mut u8> {
        let (len, item) = (extent.len(), self.track.itemsize);
        let in_one_row = extent.first.len == len && len > 0;
        if !in_one_row || (self.track.row_stride() != item as isize && len > 1) {
            return None;
        }
        let start = self.start(extent.first);
        // A complex number is aligned as its parts are; asking for more only costs a copy.
        (start.addr() & (item - 1) == 0).then_some(start)
    }

    /// Do the elements of every row lie one after the other and aligned?
    pub fn is_straight(&self) -> bool {
        let (Track { offset, strides, itemsize }, digits) = (self.track, self.track.itemsize - 1);
        let aligned = |&stride: &isize| stride as usize & digits == 0;
        let start = self.base.wrapping_offset(*offset);
        self.track.row_stride() == *itemsize as isize
            && start.addr() & digits == 0
            && strides.iter().all(aligned)
    }

    /// Copies the elements at these indices into a register.
    pub fn gather(&self, extent: &Extent, out: &mut [u8]) {
        let item = self.track.itemsize;
        for (start, bytes) in self.spans(extent) {
            let (count, out) = (bytes.len() / item, out[bytes].as_mut_ptr());
            let (from, to) = ((start.cast_const(), self.track.row_stride()), (out, item as isize));
            // SAFETY: the elements are inside the claimed buffer and no other thread writes
            // them; a register is memory of our own.
            unsafe { copy_strided(from, to, count, item) };
        }
    }

    /// Copies all rows of an extent's block into a register, from row to row [`pitch`] bytes.
    pub fn gather_block(&self, extent: &Extent, out: &mut [u8]) {
        let Run { column, len, .. } = extent.first;
        let (first, rows) = (extent.block.start, extent.block.len());
        let pitch = pitch(len, self.track.itemsize);
        assert!(out.len() >= rows * pitch, "room for all rows");
        let turn = Turn {
            from: self.start(Run { row: first, column, len }),
            stride: self.track.row_stride(),
            to: out.as_mut_ptr(),
            pitch: pitch as isize,
            rows,
            columns: len,
        };
        // SAFETY: rows that lie beside each other, inside the claimed buffer; whoever holds a
        // tile holds all of its block, so no other thread writes them.
        unsafe { turn.run(self.track.itemsize) }
    }

    /// Copies a register to the elements at these indices.
    ///
    /// # Safety
    /// Only the caller may touch these indices of this operand.
    pub unsafe fn scatter(&self, extent: &Extent, from: *const u8) {
        let item = self.track.itemsize;
        for (start, bytes) in self.spans(extent) {
            let from = (from.wrapping_add(bytes.start), item as isize);
            // SAFETY: inside the claimed buffer, and the caller's promise.
            unsafe {
                copy_strided(from, (start, self.track.row_stride()), bytes.len() / item, item)
            };
        }
    }

    /// Where a run begins.
    #[inline]
    pub fn start(&self, run: Run) -> *mut u8 {
        let row = self.space.row_offset(self.track, run.row);
        self.base.wrapping_offset(row + run.column as isize * self.track.row_stride())
    }

    /// The start of each run in the operand's memory, and its bytes in a register's.
    fn spans(&self, extent: &Extent) -> impl Iterator<Item = (*mut u8, Range<usize>)> {
        let mut done = 0;
        self.space.runs(extent).map(move |run| {
            let bytes = done..done + run.len * self.track.itemsize;
            done = bytes.end;
            (self.start(run), bytes)
        })
    }
}

/// Bytes from one row of a block in a register to the next: not a power of two, whose rows would
/// all meet in the same lines of the cache.
pub(crate) fn pitch(len: usize, itemsize: usize) -> usize {
    (len * itemsize).next_multiple_of(64) + 64
}
