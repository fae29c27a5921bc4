//! Views of column-major matrices in slices.

use std::ops::Range;

use dappled_base::memory;

/// A column-major matrix: element (i, j) is at `i + j * stride`.
#[derive(Clone, Copy, Debug)]
pub struct MatrixRef<'a, T> {
    elements: &'a [T],
    rows: usize,
    columns: usize,
    stride: usize,
}

/// A writable column-major matrix.
#[derive(Debug)]
pub struct MatrixMut<'a, T> {
    elements: &'a mut [T],
    rows: usize,
    columns: usize,
    stride: usize,
}

/// Panics unless a matrix of these dimensions fits into its elements.
fn check(len: usize, rows: usize, columns: usize, stride: usize) {
    let is_empty = rows == 0 || columns == 0;
    assert!(
        stride >= rows.max(1) && (is_empty || (columns - 1) * stride + rows <= len),
        "a {rows} x {columns} matrix with stride {stride} in {len} elements"
    );
}

/// The elements of some columns in a slice of matrix elements, clamped to the slice.
fn span(len: usize, stride: usize, first_row: usize, columns: &Range<usize>) -> Range<usize> {
    let start = (columns.start * stride + first_row).min(len);
    start..(columns.end * stride).clamp(start, len)
}

impl<'a, T> MatrixRef<'a, T> {
    /// A matrix of contiguous columns.
    pub fn new(elements: &'a [T], rows: usize, columns: usize) -> Self {
        Self::with_stride(elements, rows, columns, rows.max(1))
    }

    /// A matrix whose columns are `stride` elements apart.
    pub fn with_stride(elements: &'a [T], rows: usize, columns: usize, stride: usize) -> Self {
        check(elements.len(), rows, columns, stride);
        Self { elements, rows, columns, stride }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The distance of columns in elements.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The elements, from the first.
    pub fn elements(&self) -> &'a [T] {
        self.elements
    }

    /// The elements of a column.
    pub fn column(&self, column: usize) -> &'a [T] {
        match self.rows {
            0 => &[],
            rows => &self.elements[column * self.stride..][..rows],
        }
    }

    /// Some rows and columns of the matrix.
    pub fn block(&self, rows: Range<usize>, columns: Range<usize>) -> MatrixRef<'a, T> {
        assert!(rows.end <= self.rows && columns.end <= self.columns, "a block of the matrix");
        let elements = &self.elements[span(self.elements.len(), self.stride, rows.start, &columns)];
        MatrixRef::with_stride(elements, rows.len(), columns.len(), self.stride)
    }
}

impl<T: Copy> MatrixRef<'_, T> {
    /// Copies the matrix into contiguous columns.
    pub fn to_vec(&self) -> Vec<T> {
        let mut copy = memory::with_capacity(self.rows * self.columns);
        (0..self.columns).for_each(|column| copy.extend_from_slice(self.column(column)));
        copy
    }
}

impl<'a, T> MatrixMut<'a, T> {
    /// A matrix of contiguous columns.
    pub fn new(elements: &'a mut [T], rows: usize, columns: usize) -> Self {
        Self::with_stride(elements, rows, columns, rows.max(1))
    }

    /// A matrix whose columns are `stride` elements apart.
    pub fn with_stride(elements: &'a mut [T], rows: usize, columns: usize, stride: usize) -> Self {
        check(elements.len(), rows, columns, stride);
        Self { elements, rows, columns, stride }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The distance of columns in elements.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The elements, from the first.
    pub fn elements_mut(&mut self) -> &mut [T] {
        self.elements
    }

    /// The matrix for reading.
    pub fn as_ref(&self) -> MatrixRef<'_, T> {
        let Self { rows, columns, stride, .. } = *self;
        MatrixRef { elements: self.elements, rows, columns, stride }
    }

    /// Borrows the matrix for a shorter time.
    pub fn reborrow(&mut self) -> MatrixMut<'_, T> {
        let Self { rows, columns, stride, .. } = *self;
        MatrixMut { elements: self.elements, rows, columns, stride }
    }

    /// The elements of a column.
    pub fn column_mut(&mut self, column: usize) -> &mut [T] {
        match self.rows {
            0 => &mut [],
            rows => &mut self.elements[column * self.stride..][..rows],
        }
    }

    /// Some rows and columns of the matrix.
    pub fn block(&mut self, rows: Range<usize>, columns: Range<usize>) -> MatrixMut<'_, T> {
        assert!(rows.end <= self.rows && columns.end <= self.columns, "a block of the matrix");
        let span = span(self.elements.len(), self.stride, rows.start, &columns);
        let elements = &mut self.elements[span];
        MatrixMut::with_stride(elements, rows.len(), columns.len(), self.stride)
    }

    /// The columns before a column, and those from it on.
    pub fn split_columns(&mut self, at: usize) -> (MatrixMut<'_, T>, MatrixMut<'_, T>) {
        let Self { rows, columns, stride, .. } = *self;
        let middle = (at * stride).min(self.elements.len());
        let (left, right) = self.elements.split_at_mut(middle);
        (
            MatrixMut::with_stride(left, rows, at, stride),
            MatrixMut::with_stride(right, rows, columns - at, stride),
        )
    }

    /// Swaps two rows.
    pub fn swap_rows(&mut self, one: usize, other: usize) {
        if one != other {
            for column in 0..self.columns {
                self.column_mut(column).swap(one, other);
            }
        }
    }

    /// Applies the row swaps of an LU factorisation, in order.
    pub fn apply_pivots(&mut self, pivots: &[usize]) {
        for column in 0..self.columns {
            let column = self.column_mut(column);
            for (row, &pivot) in pivots.iter().enumerate() {
                column.swap(row, pivot);
            }
        }
    }
}

impl<T: Copy> MatrixMut<'_, T> {
    /// Copies the elements of a matrix of the same dimensions.
    pub fn copy_from(&mut self, other: MatrixRef<'_, T>) {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns), "equal dimensions");
        for column in 0..self.columns {
            self.column_mut(column).copy_from_slice(other.column(column));
        }
    }
}
