//! Cholesky factorisation, by recursion on the diagonal blocks.

use crate::product::gemm;
use crate::triangular::{Triangle, solve};
use crate::{LinalgElement, MatrixMut, Trans};

/// Factors the lower triangle in place; false if it is not positive definite.
pub(crate) fn factor<T: LinalgElement>(mut a: MatrixMut<'_, T>) -> bool {
    let (n, one) = (a.columns(), T::from_f64(1.0));
    assert_eq!(a.rows(), n, "a square matrix");
    if n == 0 {
        return true;
    }
    if n == 1 {
        let value = a.as_ref().column(0)[0].real();
        a.column_mut(0)[0] = T::from_f64(value.sqrt());
        return value > 0.0;
    }
    let half = n / 2;
    if !factor(a.block(0..half, 0..half)) {
        return false;
    }
    let (mut left, mut right) = a.split_columns(half);
    let (corner, below) = (left.as_ref().block(0..half, 0..half).to_vec(), half..n);
    let corner = crate::MatrixRef::new(&corner, half, half);
    solve(Triangle::RightLowerAdjoint, corner, left.block(below.clone(), 0..half));
    let panel = left.as_ref().block(below.clone(), 0..half);
    let mut rest = right.block(below, 0..n - half);
    gemm(-one, (Trans::None, panel), (Trans::Adjoint, panel), one, rest.reborrow());
    factor(rest)
}
