//! The two passes of a distributed four-step FFT, on matrices that consist of parts.
//!
//! The parts are those that ranks hold or have received; they are read in place, not assembled
//! first.

use num_complex::Complex;

use crate::Direction;
use crate::batched::{LineGrid, LineStrides, transform_batches};
use crate::config::MAX_BATCH_LINES;
use crate::disjoint_slice::DisjointSlice;
use crate::plan_cache::Float;
use crate::transforms::{ComplexTransform, LineTransform, RealToComplexTransform};
use crate::twiddles::{Twiddles, apply_twiddles};

/// Rows of a matrix, of which a range of columns is used.
#[derive(Clone, Copy, Debug)]
pub struct MatrixPart<'a, V> {
    /// The rows, contiguous.
    pub values: &'a [V],
    /// Number of elements in a row.
    pub stride: usize,
    /// The first column to use.
    pub first_column: usize,
}

/// Parts stacked along the rows.
#[derive(Clone, Debug)]
pub enum StackedParts<'a, T> {
    /// Parts of real numbers.
    Real(Vec<MatrixPart<'a, T>>),
    /// Parts of complex numbers.
    Complex(Vec<MatrixPart<'a, Complex<T>>>),
}

/// A block of columns of the matrix of a long line.
#[derive(Clone, Copy, Debug)]
pub struct ColumnBlock {
    /// Number of columns.
    pub width: usize,
    /// Number of elements in a column.
    pub height: usize,
    /// Index of the first column.
    pub first: usize,
    /// Length of the line.
    pub line_length: usize,
}

/// Transforms the columns of stacked parts and multiplies them by twiddle factors. For real input
/// the target may have room for the first half of the spectrum only.
///
/// # Panics
///
/// If the slices do not have the sizes that `columns` implies.
pub fn transform_columns<T: Float>(
    stack: &StackedParts<'_, T>,
    target: &mut [Complex<T>],
    columns: ColumnBlock,
    direction: Direction,
) {
    let ColumnBlock { width, height, .. } = columns;
    let twiddles = Twiddles::new(columns.line_length, direction);
    let is_whole = target.len() == width * height;
    let (complex, output) = (ComplexTransform::new(height, direction), DisjointSlice::new(target));
    match stack {
        StackedParts::Complex(parts) => {
            columns.transform_with(&complex, read_stacked(parts, width), output, &twiddles)
        }
        StackedParts::Real(parts) if is_whole => {
            let read = read_stacked(parts, width);
            let read_real = |at, values: &mut [Complex<T>]| {
                let mut reals = [T::zero(); MAX_BATCH_LINES];
                for (number, values) in values.chunks_mut(MAX_BATCH_LINES).enumerate() {
                    let reals = &mut reals[..values.len()];
                    read(at + number * MAX_BATCH_LINES, reals);
                    values.iter_mut().zip(reals).for_each(|(value, real)| *value = (*real).into());
                }
            };
            columns.transform_with(&complex, read_real, output, &twiddles);
        }
        StackedParts::Real(parts) => {
            columns.transform_with(
                &RealToComplexTransform::new(height),
                read_stacked(parts, width),
                output,
                &twiddles,
            );
        }
    }
}

impl ColumnBlock {
    fn transform_with<K: LineTransform<Out = Complex<T>, Real = T>, T: Float>(
        &self,
        transform: &K,
        read: impl Fn(usize, &mut [K::In]) + Sync,
        target: DisjointSlice<'_, Complex<T>>,
        twiddles: &Twiddles<T>,
    ) {
        assert_eq!(
            target.len(),
            self.width * transform.output_len(),
            "the target has another length than the matrix"
        );
        let down = LineStrides { group: 0, line: 1, step: self.width };
        let grid = LineGrid {
            groups: 1,
            lines: self.width,
            input_length: self.height,
            from: down,
            to: down,
        };
        transform_batches(grid, transform, read, target, |column, values| {
            apply_twiddles(values, self.first + column, 0, self.line_length, twiddles);
        });
    }
}

/// Returns a function that reads from stacked parts with `width` columns.
fn read_stacked<'a, V: Copy + Sync>(
    parts: &'a [MatrixPart<'a, V>],
    width: usize,
) -> impl Fn(usize, &mut [V]) + Sync + 'a {
    move |at, values| {
        // Columns of one element are contiguous, so a read may span rows.
        let (mut row, mut column, mut rest) = (at / width, at % width, values);
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at_mut(rest.len().min(width - column));
            chunk.copy_from_slice(row_slice(parts, row, column, chunk.len()));
            (row, column, rest) = (row + 1, 0, after);
        }
    }
}

/// Returns `count` elements of a row, from a column on.
fn row_slice<'a, V>(
    parts: &[MatrixPart<'a, V>],
    row: usize,
    column: usize,
    count: usize,
) -> &'a [V] {
    let mut remaining = row;
    for part in parts {
        let rows = part.values.len() / part.stride.max(1);
        if remaining < rows {
            return &part.values[remaining * part.stride + part.first_column + column..][..count];
        }
        remaining -= rows;
    }
    panic!("row {row} is out of bounds")
}

/// Transforms the rows of parts that lie side by side, each given with its row length. Writes the
/// result transposed.
///
/// # Panics
///
/// If the slices do not have the sizes that the rows imply.
pub fn transform_rows<T: Float>(
    parts: &[(&[Complex<T>], usize)],
    target: &mut [Complex<T>],
    direction: Direction,
    scale: T,
) {
    let length: usize = parts.iter().map(|(_, width)| width).sum();
    let count = target.len() / length.max(1);
    for (values, width) in parts {
        assert_eq!(values.len(), width * count, "a part has another length than its rows");
    }
    assert_eq!(target.len(), length * count, "the target has another length than the matrix");
    let transform = ComplexTransform::new(length, direction);
    let read = |at: usize, values: &mut [Complex<T>]| {
        let mut rest = values;
        for &(part, width) in parts {
            let (chunk, after) = rest.split_at_mut(width);
            chunk.copy_from_slice(&part[at / length * width..][..width]);
            rest = after;
        }
    };
    let along = LineStrides { group: 0, line: length, step: 1 };
    let transposed = LineStrides { group: 0, line: 1, step: count };
    let grid =
        LineGrid { groups: 1, lines: count, input_length: length, from: along, to: transposed };
    transform_batches(grid, &transform, read, DisjointSlice::new(target), |_, values| {
        transform.scale(values, scale)
    });
}
