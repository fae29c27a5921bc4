//! QR factorisation of tall, narrow matrices (TSQR).
//!
//! Each rank factors its rows. Pairs of triangles are stacked and factored once more, up a binary
//! tree; the factors of the stacks then go down the tree to the rows (Demmel, Grigori, Hoemmen and
//! Langou, 2012). A rank holds a few matrices of the order of the triangle.

use dappled_base::memory;
use dappled_kernels::DType;
use dappled_linalg::{MatrixMut, MatrixRef, Routines, Trans};
use dappled_protocol::Distribution;

use super::{LapackField, LocalColumns, OPERATION, dimensions, result_dtype, routines, with_field};
use crate::array::Array;
use crate::error::{LinalgError, Result};
use crate::run::collective::{broadcast, neighbor_all_to_all};
use crate::session::Session;

impl Array {
    /// Returns true if each rank has at least as many rows as there are columns. Not collective.
    pub fn is_tall_skinny(&self) -> bool {
        let ranks = self.session().fabric().size() as usize;
        matches!(*self.shape(), [rows, columns] if columns > 0 && columns * ranks <= rows)
    }

    /// Q and R with NumPy's signs. Collective.
    ///
    /// Q of a tall, narrow matrix is distributed by rows. Other matrices are gathered on one rank.
    pub fn qr(&self) -> Result<[Array; 2]> {
        let (session, dtype) = (self.session(), result_dtype(&[self]));
        let &[rows, columns] = self.shape() else {
            return Err(LinalgError::NoMatrix { ndim: self.shape().len() }.into());
        };
        let count = rows.min(columns);
        with_field!(dtype, T => {
            let (q, r) = match self.is_tall_skinny() {
                true => {
                    let TallQr { q, r } = TallQr::<T>::factor(self)?;
                    (in_block_rows(q, session, dtype)?, r)
                }
                false => {
                    let (q, r) = factor_on_root::<T>(self)?;
                    (from_columns(session, [rows, count], &q, dtype)?, r)
                }
            };
            Ok([q, from_columns(session, [count, columns], &r, dtype)?])
        })
    }
}

/// A matrix in C order from its columns, which every rank has, in the default distribution.
/// Collective.
fn from_columns<T: LapackField>(
    session: &Session,
    [rows, columns]: [usize; 2],
    elements: &[T],
    dtype: DType,
) -> Result<Array> {
    let transposed = Array::from_slice(session, &[columns, rows], elements);
    let matrix = transposed.transposed(&[1, 0]).cast_copy(dtype)?;
    matrix.in_default_distribution()
}

/// Q and R of a matrix that is gathered on rank 0, column by column. Collective.
fn factor_on_root<T: LapackField>(matrix: &Array) -> Result<(Vec<T>, Vec<T>)> {
    let (session, [rows, columns]) = (matrix.session(), dimensions(matrix));
    let mut q = matrix.transposed(&[1, 0]).with_dtype(T::DTYPE)?.to_vec::<T>()?;
    let mut r = Vec::new();
    if session.fabric().rank() == 0 {
        r = routines::<T>(session).qr(MatrixMut::new(&mut q, rows, columns));
        q.truncate(rows * rows.min(columns));
    }
    Ok((broadcast(session, OPERATION, 0, q)?, broadcast(session, OPERATION, 0, r)?))
}

/// The distribution of a transpose in blocks of whole columns, which are rows of the matrix.
pub(super) fn row_blocks(session: &Session, [rows, columns]: [usize; 2]) -> Distribution {
    let spec = Distribution::spec(&[columns as u64, rows as u64]).dist("nb");
    spec.nprocs(session.fabric().size()).build().expect("every shape can be distributed by rows")
}

/// A matrix in blocks of rows, cast to a dtype. Collective.
pub(super) fn in_block_rows<T: LapackField>(
    rows: LocalColumns<T>,
    session: &Session,
    dtype: DType,
) -> Result<Array> {
    let shape = rows.distribution.shape();
    let spec = Distribution::spec(&[shape[1], shape[0]]).dist("bn");
    let target = spec.nprocs(session.fabric().size()).build();
    let LocalColumns { distribution, buffer, view, .. } = rows;
    let matrix = Array::from_owned_piece(session, distribution, buffer, view);
    let matrix = matrix.transposed(&[1, 0]).with_dtype(dtype)?;
    matrix.redistribute(&target.expect("every shape can be distributed by rows"))
}

/// The QR factorisation of a matrix in block rows.
pub(super) struct TallQr<T> {
    /// This rank's rows of Q.
    pub q: LocalColumns<T>,
    /// R, column by column; on every rank.
    pub r: Vec<T>,
}

/// Two triangles that were stacked and factored.
struct StackedTriangles<T> {
    /// The rank that had the second triangle is so far away.
    distance: u64,
    /// Rows of the first and of the second triangle.
    rows: [usize; 2],
    /// Q of the stack, column by column.
    q: Vec<T>,
    /// The number of its columns.
    columns: usize,
}

impl<T: LapackField> TallQr<T> {
    /// Factors a matrix with at least as many rows on each rank as columns. Collective.
    pub fn factor(matrix: &Array) -> Result<Self> {
        let session = matrix.session();
        let q = LocalColumns::<T>::copy(matrix, row_blocks(session, dimensions(matrix)))?;
        let (rows, order) = (q.view.shape[1], q.view.shape[0]);
        let r = q.with_elements(|elements| {
            let local = routines::<T>(session).qr(MatrixMut::new(elements, rows, order));
            if session.fabric().size() == 1 {
                return Ok(local);
            }
            let (stacks, triangle) = reduce_triangles(session, local, order)?;
            let count = rows.min(order);
            let leaf = MatrixRef::new(&elements[..rows * count], rows, count);
            let (factor, r) = distribute_factors(session, &stacks, leaf, triangle, order)?;
            let leaf = leaf.to_vec();
            let leaf = (Trans::None, MatrixRef::new(&leaf, rows, count));
            let factor = (Trans::None, MatrixRef::new(&factor, count, order));
            let output = MatrixMut::new(elements, rows, order);
            routines::<T>(session).gemm(T::from_f64(1.0), leaf, factor, T::default(), output);
            Ok(r)
        })?;
        Ok(Self { q, r })
    }
}

/// Distances of the ranks in the levels of a binary tree.
fn distances(session: &Session) -> impl DoubleEndedIterator<Item = u64> {
    let levels = session.fabric().size().next_power_of_two().trailing_zeros();
    (0..levels).map(|level| 1 << level)
}

/// Stacks and factors pairs of triangles up the tree; rank 0 gets the last one. Collective.
fn reduce_triangles<T: LapackField>(
    session: &Session,
    mut triangle: Vec<T>,
    order: usize,
) -> Result<(Vec<StackedTriangles<T>>, Vec<T>)> {
    let (rank, ranks) = (session.fabric().rank(), session.fabric().size());
    let mut stacks = Vec::new();
    for distance in distances(session) {
        let position = rank % (2 * distance);
        let is_receiver = position == 0 && rank + distance < ranks;
        let sends = match position == distance {
            true => vec![(rank - distance, memory::copy_of(&triangle))],
            false => Vec::new(),
        };
        let receives = if is_receiver { vec![rank + distance] } else { Vec::new() };
        let received = neighbor_all_to_all(session, OPERATION, sends, &receives)?;
        let Some(second) = received.into_iter().next() else { continue };
        let rows = [triangle.len() / order, second.len() / order];
        let count = rows[0] + rows[1];
        let mut stacked = memory::filled(T::default(), count * order);
        let mut stack = MatrixMut::new(&mut stacked, count, order);
        let parts = [(0, &triangle), (rows[0], &second)];
        for ((first, part), height) in parts.into_iter().zip(rows) {
            let part = MatrixRef::new(part, height, order);
            stack.block(first..first + height, 0..order).copy_from(part);
        }
        triangle = routines::<T>(session).qr(stack);
        let columns = count.min(order);
        stacked.truncate(count * columns);
        stacks.push(StackedTriangles { distance, rows, q: stacked, columns });
    }
    Ok((stacks, triangle))
}

/// Multiplies the factors of the stacks down the tree. Collective.
///
/// Returns the matrix that this rank's rows of Q are multiplied with, and R.
fn distribute_factors<T: LapackField>(
    session: &Session,
    stacks: &[StackedTriangles<T>],
    leaf: MatrixRef<'_, T>,
    triangle: Vec<T>,
    order: usize,
) -> Result<(Vec<T>, Vec<T>)> {
    let (rank, routines) = (session.fabric().rank(), routines::<T>(session));
    let (mut factor, mut r) = (Vec::new(), Vec::new());
    if rank == 0 {
        let mut unit = memory::filled(T::default(), order * order);
        unit.iter_mut().step_by(order + 1).for_each(|element| *element = T::from_f64(1.0));
        let chain = stacks.iter().rev().fold(memory::copy_of(&unit), |chain, stack| {
            stack.multiply(routines, 0, &chain, order)
        });
        let top = leaf.block(0..order, 0..leaf.columns());
        let mut rows = memory::filled(T::default(), order * order);
        let chain = (Trans::None, MatrixRef::new(&chain, leaf.columns(), order));
        let target = MatrixMut::new(&mut rows, order, order);
        routines.gemm(T::from_f64(1.0), (Trans::None, top), chain, T::default(), target);
        let signs = householder_signs(MatrixMut::new(&mut rows, order, order), &triangle);
        (factor, r) = (unit, triangle);
        for (at, &sign) in signs.iter().enumerate() {
            factor[at * order + at] = sign;
            r.iter_mut().skip(at).step_by(order).for_each(|value| *value *= sign.conjugate());
        }
    }
    for distance in distances(session).rev() {
        let stack = stacks.iter().find(|stack| stack.distance == distance);
        let sends = match stack {
            Some(stack) => {
                let mut message = stack.multiply(routines, 1, &factor, order);
                memory::append(&mut message, &r);
                factor = stack.multiply(routines, 0, &factor, order);
                vec![(rank + distance, message)]
            }
            None => Vec::new(),
        };
        let is_receiver = rank % (2 * distance) == distance;
        let receives = if is_receiver { vec![rank - distance] } else { Vec::new() };
        let received = neighbor_all_to_all(session, OPERATION, sends, &receives)?;
        if let Some(mut message) = received.into_iter().next() {
            r = message.split_off(message.len() - order * order);
            factor = message;
        }
    }
    Ok((factor, r))
}

impl<T: LapackField> StackedTriangles<T> {
    /// The rows of Q that belong to the first or second triangle, times a factor.
    fn multiply(
        &self,
        routines: &dyn Routines<T>,
        which: usize,
        factor: &[T],
        order: usize,
    ) -> Vec<T> {
        let first = if which == 0 { 0 } else { self.rows[0] };
        let (rows, columns) = (self.rows[which], self.columns);
        let q = MatrixRef::new(&self.q, self.rows[0] + self.rows[1], columns);
        let q = (Trans::None, q.block(first..first + rows, 0..columns));
        let factor = (Trans::None, MatrixRef::new(factor, columns, order));
        let mut product = memory::filled(T::default(), rows * order);
        let output = MatrixMut::new(&mut product, rows, order);
        routines.gemm(T::from_f64(1.0), q, factor, T::default(), output);
        product
    }
}

/// The signs that make Q that of LAPACK's Householder QR.
///
/// They follow from the first rows of Q (Ballard and others, 2014, "Reconstructing Householder
/// vectors").
fn householder_signs<T: LapackField>(mut top: MatrixMut<'_, T>, triangle: &[T]) -> Vec<T> {
    let order = top.rows();
    let mut signs = memory::with_capacity(order);
    for at in 0..order {
        let diagonal = triangle[at * order + at];
        let size = diagonal.magnitude();
        let positive = match size == 0.0 {
            true => T::from_f64(1.0),
            false => diagonal * T::from_f64(1.0 / size),
        };
        // The triangle would have a positive diagonal.
        top.column_mut(at).iter_mut().for_each(|value| *value *= positive);
        signs.push(positive);
    }
    for at in 0..order {
        let pivot = top.as_ref().column(at)[at];
        let sign = T::from_f64(if pivot.real() >= 0.0 { -1.0 } else { 1.0 });
        signs[at] *= sign;
        let pivot = pivot - sign;
        let (mut done, mut rest) = top.split_columns(at + 1);
        let below = &mut done.column_mut(at)[at + 1..];
        below.iter_mut().for_each(|value| *value = *value / pivot);
        for later in 0..rest.columns() {
            let column = rest.column_mut(later);
            let factor = column[at];
            for (value, &left) in column[at + 1..].iter_mut().zip(below.iter()) {
                *value -= left * factor;
            }
        }
    }
    signs
}
