//! The memory of one operand along an index space: accessed in place, gathered or scattered.

use std::ops::Range;

use super::iteration_space::{IndexExtent, IterationSpace, OperandLayout, RowSpan};
use crate::memory::strided_copy::copy_strided;
use crate::memory::transpose::Transpose;

/// An operand of a run, whose memory stays claimed while it exists.
#[derive(Clone, Copy)]
pub(crate) struct StridedOperand<'a> {
    pub base: *mut u8,
    pub layout: &'a OperandLayout,
    pub space: &'a IterationSpace,
}

impl StridedOperand<'_> {
    /// The address of these indices, if they are contiguous and aligned, so that a kernel can use
    /// them in place.
    pub fn contiguous_start(&self, extent: &IndexExtent) -> Option<*mut u8> {
        let (len, item) = (extent.len(), self.layout.itemsize);
        let in_one_row = extent.first.len == len && len > 0;
        if !in_one_row || (self.layout.row_stride() != item as isize && len > 1) {
            return None;
        }
        let start = self.start(extent.first);
        // A complex number needs only the alignment of its parts, but a stricter test merely costs
        // a copy.
        (start.addr() & (item - 1) == 0).then_some(start)
    }

    /// True if the elements of every row are contiguous and aligned.
    pub fn has_contiguous_rows(&self) -> bool {
        let (OperandLayout { offset, strides, itemsize }, digits) =
            (self.layout, self.layout.itemsize - 1);
        let aligned = |&stride: &isize| stride as usize & digits == 0;
        let start = self.base.wrapping_offset(*offset);
        self.layout.row_stride() == *itemsize as isize
            && start.addr() & digits == 0
            && strides.iter().all(aligned)
    }

    /// Copies the elements at these indices to a register.
    pub fn gather(&self, extent: &IndexExtent, out: &mut [u8]) {
        let item = self.layout.itemsize;
        for (start, bytes) in self.spans(extent) {
            let (count, out) = (bytes.len() / item, out[bytes].as_mut_ptr());
            let (from, to) = ((start.cast_const(), self.layout.row_stride()), (out, item as isize));
            // SAFETY: the elements are inside the claimed buffer and no other thread writes them;
            // the register is exclusive.
            unsafe { copy_strided(from, to, count, item) };
        }
    }

    /// Copies all rows of an extent's block to a register, [`block_row_pitch`] bytes apart.
    pub fn gather_block(&self, extent: &IndexExtent, out: &mut [u8]) {
        let RowSpan { column, len, .. } = extent.first;
        let (first, rows) = (extent.block.start, extent.block.len());
        let pitch = block_row_pitch(len, self.layout.itemsize);
        assert!(out.len() >= rows * pitch, "the register is too small for the block");
        let transpose = Transpose {
            from: self.start(RowSpan { row: first, column, len }),
            stride: self.layout.row_stride(),
            to: out.as_mut_ptr(),
            pitch: pitch as isize,
            rows,
            columns: len,
        };
        // SAFETY: adjacent rows inside the claimed buffer; the owner of a tile owns its whole
        // block, so no other thread writes them.
        unsafe { transpose.run(self.layout.itemsize) }
    }

    /// Copies a register to the elements at these indices.
    ///
    /// # Safety
    /// Only the caller may access these indices of the operand.
    pub unsafe fn scatter(&self, extent: &IndexExtent, from: *const u8) {
        let item = self.layout.itemsize;
        for (start, bytes) in self.spans(extent) {
            let from = (from.wrapping_add(bytes.start), item as isize);
            // SAFETY: inside the claimed buffer; exclusive access is guaranteed by the caller.
            unsafe {
                copy_strided(from, (start, self.layout.row_stride()), bytes.len() / item, item)
            };
        }
    }

    /// The address of the first element of a row span.
    #[inline]
    pub fn start(&self, run: RowSpan) -> *mut u8 {
        let row = self.space.row_offset(self.layout, run.row);
        self.base.wrapping_offset(row + run.column as isize * self.layout.row_stride())
    }

    /// The address of each row span, and its byte range in a register.
    fn spans(&self, extent: &IndexExtent) -> impl Iterator<Item = (*mut u8, Range<usize>)> {
        let mut done = 0;
        self.space.spans(extent).map(move |run| {
            let bytes = done..done + run.len * self.layout.itemsize;
            done = bytes.end;
            (self.start(run), bytes)
        })
    }
}

/// The distance in bytes between the rows of a block in a register.
///
/// Not a power of two, which would map all rows to the same cache sets.
pub(crate) fn block_row_pitch(len: usize, itemsize: usize) -> usize {
    (len * itemsize).next_multiple_of(64) + 64
}
