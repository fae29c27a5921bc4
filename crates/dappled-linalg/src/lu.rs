//! LU factorisation with partial pivoting, by recursion on the columns (Toledo, 1997).

use crate::product::gemm;
use crate::triangular::{Triangle, solve};
use crate::{LinalgElement, MatrixMut, MatrixRef, Trans};

/// Factors a matrix into L and U in place.
pub(crate) fn factor<T: LinalgElement>(mut a: MatrixMut<'_, T>, pivots: &mut [usize]) {
    let (rows, columns) = (a.rows(), a.columns());
    let count = rows.min(columns);
    assert_eq!(pivots.len(), count, "a pivot for each column that is eliminated");
    match count {
        0 => {}
        1 if columns == 1 => pivots[0] = eliminate_column(a.column_mut(0)),
        _ => {
            let half = if columns > count { count } else { columns / 2 };
            let (mut left, mut right) = a.split_columns(half);
            let (first, second) = pivots.split_at_mut(half);
            factor(left.reborrow(), first);
            update(left.as_ref(), first, right.reborrow());
            let right_columns = right.columns();
            factor(right.block(half..rows, 0..right_columns), second);
            left.block(half..rows, 0..half).apply_pivots(second);
            second.iter_mut().for_each(|pivot| *pivot += half);
        }
    }
}

/// Updates the columns to the right of a factored panel: swaps rows, solves with L, subtracts L U.
fn update<T: LinalgElement>(panel: MatrixRef<'_, T>, pivots: &[usize], mut rest: MatrixMut<'_, T>) {
    let (rows, width, columns, one) =
        (panel.rows(), pivots.len(), rest.columns(), T::from_f64(1.0));
    rest.apply_pivots(pivots);
    solve(Triangle::UnitLower, panel.block(0..width, 0..width), rest.block(0..width, 0..columns));
    let top = rest.as_ref().block(0..width, 0..columns).to_vec();
    let top = (Trans::None, MatrixRef::new(&top, width, columns));
    let below = (Trans::None, panel.block(width..rows, 0..width));
    gemm(-one, below, top, one, rest.block(width..rows, 0..columns));
}

/// Swaps the largest element to the top, and divides the others by it; returns its row.
fn eliminate_column<T: LinalgElement>(column: &mut [T]) -> usize {
    let mut pivot = (0, column[0].pivot_size());
    for (row, value) in column.iter().enumerate().skip(1) {
        if value.pivot_size() > pivot.1 {
            pivot = (row, value.pivot_size());
        }
    }
    column.swap(0, pivot.0);
    if let Some((&mut top, below)) = column.split_first_mut()
        && top != T::default()
    {
        below.iter_mut().for_each(|value| *value = *value / top);
    }
    pivot.0
}
