//! Transforms of the columns, and of the rows, of a matrix that lies in parts, as ranks have them or
//! have sent them: none is put beside another first.

use num_complex::Complex;

use crate::Direction;
use crate::bundles::{MOST, Strides, Walk, bundles};
use crate::disjoint::Disjoint;
use crate::kernels::{FromReal, Kernel, Straight};
use crate::plans::Float;
use crate::twiddles::{Twiddles, twist_line};

/// Rows of a matrix, some of whose columns are meant.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a, V> {
    /// The rows, one after the other.
    pub values: &'a [V],
    /// The length of a row.
    pub stride: usize,
    /// The first column that is meant.
    pub first: usize,
}

/// Parts one over the other.
#[derive(Clone, Debug)]
pub enum Stack<'a, T> {
    /// Of real numbers.
    Real(Vec<Part<'a, T>>),
    /// Of complex numbers.
    Complex(Vec<Part<'a, Complex<T>>>),
}

/// Which columns of the matrix of a long line these are.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// How many.
    pub width: usize,
    /// Their elements.
    pub height: usize,
    /// The number of the first one.
    pub first: usize,
    /// The length of the line.
    pub order: usize,
}

/// Transforms the columns of parts one over the other, and multiplies each element by the root of
/// unity that its row and column ask for. Of real ones the first half and the middle is made, if the
/// target has no room for more.
///
/// # Panics
/// If the sizes are not those of the columns.
pub fn columns<T: Float>(
    stack: &Stack<'_, T>,
    target: &mut [Complex<T>],
    columns: Columns,
    direction: Direction,
) {
    let Columns { width, height, .. } = columns;
    let twiddles = Twiddles::new(columns.order, direction);
    let is_whole = target.len() == width * height;
    let (straight, made) = (Straight::new(height, direction), Disjoint::new(target));
    match stack {
        Stack::Complex(parts) => columns.pass(&straight, read(parts, width), made, &twiddles),
        Stack::Real(parts) if is_whole => {
            let read = read(parts, width);
            let widened = |at, values: &mut [Complex<T>]| {
                let mut reals = [T::zero(); MOST];
                for (number, values) in values.chunks_mut(MOST).enumerate() {
                    let reals = &mut reals[..values.len()];
                    read(at + number * MOST, reals);
                    values.iter_mut().zip(reals).for_each(|(value, real)| *value = (*real).into());
                }
            };
            columns.pass(&straight, widened, made, &twiddles);
        }
        Stack::Real(parts) => {
            columns.pass(&FromReal::new(height), read(parts, width), made, &twiddles);
        }
    }
}

impl Columns {
    fn pass<K: Kernel<Out = Complex<T>, Real = T>, T: Float>(
        &self,
        kernel: &K,
        read: impl Fn(usize, &mut [K::In]) + Sync,
        target: Disjoint<'_, Complex<T>>,
        twiddles: &Twiddles<T>,
    ) {
        assert_eq!(target.len(), self.width * kernel.made(), "the target's size");
        let down = Strides { group: 0, line: 1, step: self.width };
        let walk = Walk { groups: 1, lines: self.width, given: self.height, from: down, to: down };
        bundles(walk, kernel, read, target, |column, values| {
            twist_line(values, self.first + column, 0, self.order, twiddles);
        });
    }
}

/// Reads from parts one over the other, of which so many columns are meant.
fn read<'a, V: Copy + Sync>(
    parts: &'a [Part<'a, V>],
    width: usize,
) -> impl Fn(usize, &mut [V]) + Sync + 'a {
    move |at, values| {
        // Columns of one element each are read as if they were rows.
        let (mut row, mut column, mut rest) = (at / width, at % width, values);
        while !rest.is_empty() {
            let (here, after) = rest.split_at_mut(rest.len().min(width - column));
            here.copy_from_slice(in_row(parts, row, column, here.len()));
            (row, column, rest) = (row + 1, 0, after);
        }
    }
}

/// So many elements of a row from a column on.
fn in_row<'a, V>(parts: &[Part<'a, V>], row: usize, column: usize, count: usize) -> &'a [V] {
    let mut left = row;
    for part in parts {
        let rows = part.values.len() / part.stride.max(1);
        if left < rows {
            return &part.values[left * part.stride + part.first + column..][..count];
        }
        left -= rows;
    }
    panic!("no row {row} in the parts")
}

/// Transforms the rows of parts beside each other, each with the length of its rows; row by row of
/// them comes out as column by column.
///
/// # Panics
/// If the sizes are not those of the rows.
pub fn rows<T: Float>(
    parts: &[(&[Complex<T>], usize)],
    target: &mut [Complex<T>],
    direction: Direction,
    scale: T,
) {
    let length: usize = parts.iter().map(|(_, width)| width).sum();
    let count = target.len() / length.max(1);
    for (values, width) in parts {
        assert_eq!(values.len(), width * count, "the size of a part");
    }
    assert_eq!(target.len(), length * count, "the target's size");
    let kernel = Straight::new(length, direction);
    let read = |at: usize, values: &mut [Complex<T>]| {
        let mut rest = values;
        for &(part, width) in parts {
            let (here, after) = rest.split_at_mut(width);
            here.copy_from_slice(&part[at / length * width..][..width]);
            rest = after;
        }
    };
    let along = Strides { group: 0, line: length, step: 1 };
    let turned = Strides { group: 0, line: 1, step: count };
    let walk = Walk { groups: 1, lines: count, given: length, from: along, to: turned };
    bundles(walk, &kernel, read, Disjoint::new(target), |_, values| kernel.scaled(values, scale));
}
