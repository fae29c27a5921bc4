//! A box-shaped region of a C-contiguous array, row by row.

use std::ops::Range;

use smallvec::SmallVec;

use crate::memory::view::View;

/// A box-shaped region of a C-contiguous array.
pub(crate) struct ArrayRegion {
    /// The number of elements of a row of the array.
    pub row_len: usize,
    /// The outer axes of the array: their lengths, and the range of each in the region.
    outer_axes: SmallVec<[(usize, Range<usize>); 4]>,
    columns: Range<usize>,
}

/// Consecutive elements of one row of the array that are in the region.
pub(crate) struct RegionSpan {
    /// Flat indices in the array.
    pub array_indices: Range<usize>,
    /// Flat indices in the region.
    pub region_indices: Range<usize>,
}

impl ArrayRegion {
    /// The region of a view; `None` if the view is no box of the array, or the array is not
    /// contiguous.
    pub fn new(array: &View, part: &View) -> Option<Self> {
        if !array.is_contiguous() || array.strides != part.strides {
            return None;
        }
        let mut left = part.offset.checked_sub(array.offset)?;
        let mut sides = SmallVec::new();
        for ((&size, &stride), &length) in array.shape.iter().zip(&array.strides).zip(&part.shape) {
            let start = left / stride as usize;
            left %= stride as usize;
            sides.push((size, start..start + length));
        }
        let inside = |(size, side): &(usize, Range<usize>)| side.end <= *size;
        let fits = left == 0 && part.dtype == array.dtype && sides.iter().all(inside);
        let (row, columns) = sides.pop().filter(|_| fits)?;
        Some(Self { row_len: row, outer_axes: sides, columns })
    }

    /// The region of another array of the same shape.
    pub fn apply_to(&self, view: &View) -> View {
        let sides = self.outer_axes.iter().map(|(_, side)| side).chain([&self.columns]);
        sides.enumerate().fold(view.clone(), |view, (axis, side)| {
            view.slice_axis(axis, side.start, 1, side.len())
        })
    }

    /// The row of the region in a row of the array.
    fn region_row(&self, row: usize) -> Option<usize> {
        let (mut left, mut found, mut rows) = (row, 0, 1);
        for (size, side) in self.outer_axes.iter().rev() {
            let at = left % size;
            left /= size;
            if !side.contains(&at) {
                return None;
            }
            found += (at - side.start) * rows;
            rows *= side.len();
        }
        Some(found)
    }

    /// The part of a range within one row of the array that is in the region.
    pub(crate) fn span_within(&self, elements: Range<usize>) -> Option<RegionSpan> {
        let row = elements.start / self.row_len;
        let first = row * self.row_len;
        let column = |at: usize| (at - first).clamp(self.columns.start, self.columns.end);
        let (start, end) = (column(elements.start), column(elements.end));
        let before = self.region_row(row)? * self.columns.len();
        let number = |column: usize| before + column - self.columns.start;
        let (elements, region_indices) = (first + start..first + end, number(start)..number(end));
        (start < end).then_some(RegionSpan { array_indices: elements, region_indices })
    }
}
