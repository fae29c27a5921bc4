//! A box of an array in C order: which of the array's elements are in it, row by row.

use std::ops::Range;

use smallvec::SmallVec;

use crate::View;

/// A box of an array in C order.
pub(crate) struct Window {
    /// Elements of a row of the array.
    pub row: usize,
    /// The array's other axes: their lengths, and the part of each that is in the box.
    around: SmallVec<[(usize, Range<usize>); 4]>,
    columns: Range<usize>,
}

/// Elements of one row of an array that are in a box of it.
pub(super) struct Inside {
    /// By their numbers in the array.
    pub elements: Range<usize>,
    /// By their numbers in the box.
    pub numbers: Range<usize>,
}

impl Window {
    /// None where the part is no box of the array, or that is not in C order.
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
        Some(Self { row, around: sides, columns })
    }

    /// What is in the box of an array of the same shape.
    pub fn of(&self, view: &View) -> View {
        let sides = self.around.iter().map(|(_, side)| side).chain([&self.columns]);
        sides
            .enumerate()
            .fold(view.clone(), |view, (axis, side)| view.region(axis, side.start, 1, side.len()))
    }

    /// The row of the box that is in a row of the array.
    fn row(&self, row: usize) -> Option<usize> {
        let (mut left, mut found, mut rows) = (row, 0, 1);
        for (size, side) in self.around.iter().rev() {
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

    /// Those of some elements of one row of the array that are in the box.
    pub(super) fn inside(&self, elements: Range<usize>) -> Option<Inside> {
        let row = elements.start / self.row;
        let first = row * self.row;
        let column = |at: usize| (at - first).clamp(self.columns.start, self.columns.end);
        let (start, end) = (column(elements.start), column(elements.end));
        let before = self.row(row)? * self.columns.len();
        let number = |column: usize| before + column - self.columns.start;
        let (elements, numbers) = (first + start..first + end, number(start)..number(end));
        (start < end).then_some(Inside { elements, numbers })
    }
}
