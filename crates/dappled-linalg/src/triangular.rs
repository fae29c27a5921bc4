//! Triangular systems, solved recursively so that most of the work is matrix products.

use crate::config::MAX_UNBLOCKED_ORDER;
use crate::element::subtract_multiple;
use crate::product::gemm;
use crate::{LinalgElement, MatrixMut, MatrixRef, Trans};

/// A triangular system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triangle {
    /// `L X = B`, where L is the lower triangle with a unit diagonal.
    UnitLower,
    /// `U X = B`, where U is the upper triangle.
    Upper,
    /// `X L^H = B`, where L is the lower triangle.
    RightLowerAdjoint,
}

/// Solves a triangular system in place.
pub(crate) fn solve<T: LinalgElement>(
    triangle: Triangle,
    a: MatrixRef<'_, T>,
    mut b: MatrixMut<'_, T>,
) {
    let (n, one) = (a.rows(), T::from_f64(1.0));
    let (rows, columns) = (b.rows(), b.columns());
    let order = if triangle == Triangle::RightLowerAdjoint { columns } else { rows };
    assert_eq!((a.columns(), order), (n, n), "a square triangle of the order of the system");
    if n <= MAX_UNBLOCKED_ORDER {
        return match triangle {
            Triangle::RightLowerAdjoint => solve_right(a, b),
            _ => (0..columns).for_each(|at| solve_column(triangle, a, b.column_mut(at))),
        };
    }
    let half = n / 2;
    let (first, second) = (a.block(0..half, 0..half), a.block(half..n, half..n));
    let corner = match triangle {
        Triangle::Upper => a.block(0..half, half..n),
        _ => a.block(half..n, 0..half),
    };
    match triangle {
        Triangle::UnitLower => {
            solve(triangle, first, b.block(0..half, 0..columns));
            let solved = b.as_ref().block(0..half, 0..columns).to_vec();
            let solved = (Trans::None, MatrixRef::new(&solved, half, columns));
            gemm(-one, (Trans::None, corner), solved, one, b.block(half..n, 0..columns));
            solve(triangle, second, b.block(half..n, 0..columns));
        }
        Triangle::Upper => {
            solve(triangle, second, b.block(half..n, 0..columns));
            let solved = b.as_ref().block(half..n, 0..columns).to_vec();
            let solved = (Trans::None, MatrixRef::new(&solved, n - half, columns));
            gemm(-one, (Trans::None, corner), solved, one, b.block(0..half, 0..columns));
            solve(triangle, first, b.block(0..half, 0..columns));
        }
        Triangle::RightLowerAdjoint => {
            let (mut left, mut right) = b.split_columns(half);
            solve(triangle, first, left.reborrow());
            let solved = (Trans::None, left.as_ref());
            gemm(-one, solved, (Trans::Adjoint, corner), one, right.reborrow());
            solve(triangle, second, right);
        }
    }
}

/// Solves a small system for one column.
fn solve_column<T: LinalgElement>(triangle: Triangle, a: MatrixRef<'_, T>, column: &mut [T]) {
    match triangle {
        Triangle::UnitLower => {
            for at in 0..column.len() {
                let value = column[at];
                subtract_multiple(&mut column[at + 1..], value, &a.column(at)[at + 1..]);
            }
        }
        _ => {
            for at in (0..column.len()).rev() {
                let value = column[at] / a.column(at)[at];
                column[at] = value;
                subtract_multiple(&mut column[..at], value, &a.column(at)[..at]);
            }
        }
    }
}

/// Solves `X L^H = B` for a small L, column by column.
fn solve_right<T: LinalgElement>(a: MatrixRef<'_, T>, mut b: MatrixMut<'_, T>) {
    for at in 0..b.columns() {
        let diagonal = a.column(at)[at].conjugate();
        let (mut before, mut after) = b.split_columns(at + 1);
        let solved = before.column_mut(at);
        solved.iter_mut().for_each(|value| *value = *value / diagonal);
        for later in 0..after.columns() {
            let factor = a.column(at)[at + 1 + later].conjugate();
            subtract_multiple(after.column_mut(later), factor, solved);
        }
    }
}
