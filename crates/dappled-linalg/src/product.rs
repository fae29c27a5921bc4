//! Matrix products: of floats by the `gemm` crate, of other elements by rows.

use gemm::Parallelism;
use rayon::prelude::*;

use crate::config::{MIN_PARALLEL_PRODUCTS, PRODUCT_BLOCK_ROWS};
use crate::{LinalgElement, MatrixMut, MatrixRef, Trans};

/// `c = alpha * op(a) * op(b) + beta * c`, on all threads of the current pool.
pub(crate) fn gemm<T: LinalgElement>(
    alpha: T,
    (op_a, a): (Trans, MatrixRef<'_, T>),
    (op_b, b): (Trans, MatrixRef<'_, T>),
    beta: T,
    mut c: MatrixMut<'_, T>,
) {
    let ([m, inner], [b_rows, n]) = (dimensions(op_a, &a), dimensions(op_b, &b));
    assert_eq!((c.rows(), c.columns(), b_rows), (m, n, inner), "matrices that fit together");
    if m == 0 || n == 0 {
        return;
    }
    let ([a_column, a_row], [b_column, b_row]) = (strides(op_a, &a), strides(op_b, &b));
    let parallelism = match m * n * inner >= MIN_PARALLEL_PRODUCTS {
        true => Parallelism::Rayon(0),
        false => Parallelism::None,
    };
    let c_stride = c.stride() as isize;
    // SAFETY: the views hold matrices of these dimensions and strides, as checked when they were
    // created; `c` is borrowed exclusively, and T is one of the four float types of the crate.
    unsafe {
        gemm::gemm(
            m,
            n,
            inner,
            c.elements_mut().as_mut_ptr(),
            c_stride,
            1,
            beta != T::default(),
            a.elements().as_ptr(),
            a_column,
            a_row,
            b.elements().as_ptr(),
            b_column,
            b_row,
            beta,
            alpha,
            false,
            op_a == Trans::Adjoint,
            op_b == Trans::Adjoint,
            parallelism,
        );
    }
}

/// Rows and columns of a factor.
fn dimensions<T>(op: Trans, matrix: &MatrixRef<'_, T>) -> [usize; 2] {
    match op {
        Trans::None => [matrix.rows(), matrix.columns()],
        Trans::Adjoint => [matrix.columns(), matrix.rows()],
    }
}

/// The distances of columns and of rows of a factor.
fn strides<T>(op: Trans, matrix: &MatrixRef<'_, T>) -> [isize; 2] {
    let stride = matrix.stride() as isize;
    match op {
        Trans::None => [stride, 1],
        Trans::Adjoint => [1, stride],
    }
}

/// Accumulates the product of two C-ordered matrices of any elements.
///
/// `lengths` are the rows of the left matrix, its columns, and the columns of the right one.
/// `multiply_add(sum, a, b)` returns the sum with the product of two elements.
pub fn multiply_rows<T: Copy + Send + Sync, S: Copy + Send + Sync>(
    [_, inner, columns]: [usize; 3],
    left: &[T],
    right: &[T],
    out: &mut [S],
    multiply_add: impl Fn(S, T, T) -> S + Sync,
) {
    if inner == 0 || columns == 0 {
        return;
    }
    let add_rows = |left: &[T], out: &mut [S]| {
        for start in (0..inner).step_by(PRODUCT_BLOCK_ROWS) {
            let end = (start + PRODUCT_BLOCK_ROWS).min(inner);
            for (row, sums) in left.chunks_exact(inner).zip(out.chunks_exact_mut(columns)) {
                let values = right[start * columns..].chunks_exact(columns);
                for (&factor, values) in row[start..end].iter().zip(values) {
                    for (sum, &value) in sums.iter_mut().zip(values) {
                        *sum = multiply_add(*sum, factor, value);
                    }
                }
            }
        }
    };
    let threads = rayon::current_num_threads();
    if threads == 1 || left.len() * columns < MIN_PARALLEL_PRODUCTS {
        return add_rows(left, out);
    }
    let rows = (left.len() / inner).div_ceil(threads).max(1);
    let parts = out.par_chunks_mut(rows * columns);
    parts.zip(left.par_chunks(rows * inner)).for_each(|(out, left)| add_rows(left, out));
}
