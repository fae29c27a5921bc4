//! Singular values and least squares of tall, narrow matrices, by their QR factorisation.

use dappled_base::memory;
use dappled_kernels::DType;
use dappled_linalg::{LinalgElement, MatrixMut, MatrixRef, Routines, Svd, Trans};

use super::tall_skinny::{TallQr, in_block_rows, row_blocks};
use super::{LapackField, LocalColumns, OPERATION, dimensions, result_dtype, routines, with_field};
use crate::array::Array;
use crate::error::{LinalgError, Result};
use crate::run::collective::{allreduce, broadcast};
use crate::session::Session;

/// The singular value decomposition `U diag(s) V^H` of a tall, narrow matrix.
#[derive(Clone)]
pub struct SingularValues {
    /// The left singular vectors, distributed by rows.
    pub u: Array,
    /// The singular values, from the largest; replicated.
    pub values: Array,
    /// The right singular vectors, conjugated, one in each row; replicated.
    pub vh: Array,
}

/// A solution of a least-squares problem.
#[derive(Clone)]
pub struct LeastSquares {
    /// The solution of the smallest norm, one column for each right-hand side; replicated.
    pub solution: Array,
    /// The sum of squared residuals of each right-hand side; replicated.
    pub residuals: Array,
    /// The rank of the matrix.
    pub rank: usize,
    /// The singular values of the matrix; replicated.
    pub values: Array,
}

impl Array {
    /// The singular values of a tall, narrow matrix; replicated. Collective.
    pub fn singular_values(&self) -> Result<Array> {
        let (session, dtype) = (self.session(), result_dtype(&[self]));
        with_field!(dtype, T => {
            let factors = TallQr::<T>::factor(self)?;
            let svd = decompose(session, &factors.r, LinalgError::Svd)?;
            replicate(session, &svd.values, &[svd.values.len()], dtype.real())
        })
    }

    /// The singular value decomposition of a tall, narrow matrix. Collective.
    pub fn svd(&self) -> Result<SingularValues> {
        let (session, dtype) = (self.session(), result_dtype(&[self]));
        with_field!(dtype, T => {
            let TallQr { q, r } = TallQr::<T>::factor(self)?;
            let Svd { u, values, v } = decompose(session, &r, LinalgError::Svd)?;
            let (rows, order) = (q.view.shape[1], values.len());
            q.with_elements(|elements| {
                let left = memory::copy_of(elements);
                let left = (Trans::None, MatrixRef::new(&left, rows, order));
                let u = (Trans::None, MatrixRef::new(&u, order, order));
                let output = MatrixMut::new(elements, rows, order);
                routines::<T>(session).gemm(T::from_f64(1.0), left, u, T::default(), output);
                Ok(())
            })?;
            // The rows of V^H are the conjugated columns of V.
            let vh = memory::collect(v.iter().map(|value| value.conjugate()));
            Ok(SingularValues {
                u: in_block_rows(q, session, dtype)?,
                values: replicate(session, &values, &[order], dtype.real())?,
                vh: replicate(session, &vh, &[order; 2], dtype)?,
            })
        })
    }

    /// Solves a least-squares problem with a tall, narrow matrix. Collective.
    ///
    /// Singular values up to `limit` times the largest are treated as zero.
    pub fn lstsq(&self, sides: &Array, limit: f64) -> Result<LeastSquares> {
        let dtype = result_dtype(&[self, sides]);
        with_field!(dtype, T => solve::<T>(self, sides, limit, dtype))
    }
}

/// A replicated array of elements in C order, cast to a dtype.
fn replicate<T: LapackField>(
    session: &Session,
    elements: &[T],
    shape: &[usize],
    dtype: DType,
) -> Result<Array> {
    Array::from_slice(session, shape, elements).with_dtype(dtype)
}

/// The decomposition of a triangle by rank 0; the same bits on every rank. Collective.
fn decompose<T: LapackField>(
    session: &Session,
    triangle: &[T],
    error: LinalgError,
) -> Result<Svd<T>> {
    let order = triangle.len().isqrt();
    let mut message = Vec::new();
    if session.fabric().rank() == 0 {
        let mut copy = memory::copy_of(triangle);
        if let Some(svd) = routines::<T>(session).svd(MatrixMut::new(&mut copy, order, order)) {
            message = svd.u;
            memory::append(&mut message, &svd.v);
            message.extend(svd.values.into_iter().map(T::from_f64));
        }
    }
    let mut u = broadcast(session, OPERATION, 0, message)?;
    if u.len() != order * (2 * order + 1) {
        return Err(error.into());
    }
    let values = u.split_off(2 * order * order);
    let v = u.split_off(order * order);
    Ok(Svd { u, values: memory::collect(values.into_iter().map(T::real)), v })
}

/// Solves a least-squares problem. Collective.
fn solve<T: LapackField>(
    matrix: &Array,
    sides: &Array,
    limit: f64,
    dtype: DType,
) -> Result<LeastSquares> {
    let (session, order, count) = (matrix.session(), matrix.shape()[1], sides.shape()[1]);
    let TallQr { q, r } = TallQr::<T>::factor(matrix)?;
    let rows = q.view.shape[1];
    let own = LocalColumns::<T>::copy(sides, row_blocks(session, dimensions(sides)))?;
    let routines = routines::<T>(session);
    let one = T::from_f64(1.0);
    let (products, squares) = q.with_elements(|q| {
        own.with_elements(|own| {
            let q = MatrixRef::new(q, rows, order);
            let mut products = memory::filled(T::default(), order * count);
            let sides = (Trans::None, MatrixRef::new(own, rows, count));
            let output = MatrixMut::new(&mut products, order, count);
            routines.gemm(one, (Trans::Adjoint, q), sides, T::default(), output);
            let products = allreduce(session, OPERATION, &products, |sum, value| sum + value)?;
            // The residual of the projection on the columns of Q
            let projection = (Trans::None, MatrixRef::new(&products, order, count));
            let output = MatrixMut::new(own, rows, count);
            routines.gemm(-one, (Trans::None, q), projection, one, output);
            let column = |at: usize| &own[at * rows..][..rows];
            let square = |at: usize| column(at).iter().map(|value| value.norm_squared()).sum();
            let squares: Vec<f64> = memory::collect((0..count).map(square));
            Ok((products, allreduce(session, OPERATION, &squares, |sum, value| sum + value)?))
        })
    })?;
    let svd = decompose(session, &r, LinalgError::LeastSquares)?;
    let limit = if limit < 0.0 { T::EPSILON } else { limit };
    let largest = svd.values.first().copied().unwrap_or(0.0);
    let rank = svd.values.iter().filter(|&&value| value > limit * largest).count();
    let solution = pseudo_solve(routines, &svd, &products, rank, count);
    Ok(LeastSquares {
        solution: replicate(session, &solution, &[order, count], dtype)?,
        residuals: replicate(session, &squares, &[count], dtype.real())?,
        rank,
        values: replicate(session, &svd.values, &[order], dtype.real())?,
    })
}

/// `V diag(1 / s) U^H b` with the first singular values, in C order.
fn pseudo_solve<T: LapackField>(
    routines: &dyn Routines<T>,
    svd: &Svd<T>,
    sides: &[T],
    rank: usize,
    count: usize,
) -> Vec<T> {
    let (order, one) = (svd.values.len(), T::from_f64(1.0));
    let first = |vectors| MatrixRef::new(vectors, order, order).block(0..order, 0..rank);
    let mut scaled = memory::filled(T::default(), rank * count);
    let sides = (Trans::None, MatrixRef::new(sides, order, count));
    let output = MatrixMut::new(&mut scaled, rank, count);
    routines.gemm(one, (Trans::Adjoint, first(&svd.u[..])), sides, T::default(), output);
    for (at, value) in scaled.iter_mut().enumerate() {
        *value = *value / T::from_f64(svd.values[at % rank]);
    }
    let mut solution = memory::filled(T::default(), order * count);
    let scaled = (Trans::None, MatrixRef::new(&scaled, rank, count));
    let output = MatrixMut::new(&mut solution, order, count);
    routines.gemm(one, (Trans::None, first(&svd.v[..])), scaled, T::default(), output);
    memory::collect((0..order * count).map(|at| solution[at / count + at % count * order]))
}
