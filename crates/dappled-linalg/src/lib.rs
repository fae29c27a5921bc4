//! This crate defines BLAS and LAPACK routines on local matrices, and implements them in Rust.
//!
//! Input: column-major matrices in slices. Output: written into those slices. [`Routines`] are the
//! operations that distributed algorithms are made of; [`LocalLinalg`] is a library that has them
//! for all element types. [`RustLinalg`] is the default; the Python extension provides the OpenBLAS
//! that NumPy has loaded. Guarantees: the matrix product uses all threads of rayon's current pool;
//! memory is allocated fallibly.
//!
//! ```text
//! config      thresholds
//! matrix      views of column-major matrices
//! element     the element types
//! product     gemm for floats, by the `gemm` crate, and for other elements
//! triangular  triangular systems
//! lu          LU factorisation with partial pivoting
//! cholesky    Cholesky factorisation
//! qr          Householder QR factorisation
//! svd         singular value decomposition by one-sided Jacobi rotations
//! ```
//!
//! ```
//! use dappled_linalg::{MatrixMut, MatrixRef, Trans, Routines, RustLinalg};
//!
//! let (a, b) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0]);
//! let mut product = [0.0; 2];
//! let (a, b) = (MatrixRef::new(&a, 2, 2), MatrixRef::new(&b, 2, 1));
//! RustLinalg.gemm(1.0, (Trans::None, a), (Trans::None, b), 0.0, MatrixMut::new(&mut product, 2, 1));
//! assert_eq!(product, [23.0, 34.0]);
//! ```

#![deny(unsafe_code)]

mod cholesky;
mod config;
mod element;
mod lu;
mod matrix;
#[allow(unsafe_code)]
mod product;
mod qr;
mod svd;
mod triangular;

pub use element::LinalgElement;
pub use matrix::{MatrixMut, MatrixRef};
pub use product::multiply_rows;
pub use svd::Svd;
pub use triangular::Triangle;

/// The operation that a matrix product applies to a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trans {
    /// The matrix itself.
    None,
    /// The conjugate transpose.
    Adjoint,
}

/// BLAS and LAPACK routines for one element type.
pub trait Routines<T: LinalgElement>: Send + Sync {
    /// Matrix product: `c = alpha * op(a) * op(b) + beta * c`.
    ///
    /// Does not read `c` if `beta` is 0.
    fn gemm(
        &self,
        alpha: T,
        a: (Trans, MatrixRef<'_, T>),
        b: (Trans, MatrixRef<'_, T>),
        beta: T,
        c: MatrixMut<'_, T>,
    );

    /// Solves a triangular system in place, for all columns or rows of `b`.
    fn trsm(&self, triangle: Triangle, a: MatrixRef<'_, T>, b: MatrixMut<'_, T>);

    /// LU factorisation with partial pivoting, in place; L has a unit diagonal.
    ///
    /// `pivots[i]` is the row that was swapped with row i. A zero pivot stays in U.
    fn getrf(&self, a: MatrixMut<'_, T>, pivots: &mut [usize]);

    /// Cholesky factorisation of the lower triangle, in place; false if it is not positive definite.
    ///
    /// The elements above the diagonal are unspecified afterwards.
    fn potrf(&self, a: MatrixMut<'_, T>) -> bool;

    /// QR factorisation with LAPACK's signs: replaces the first columns by Q and returns R.
    ///
    /// For m rows and n columns Q has k = min(m, n) columns; R is k x n, column by column.
    fn qr(&self, a: MatrixMut<'_, T>) -> Vec<T>;

    /// Singular value decomposition; `None` if it does not converge.
    ///
    /// The matrix has at least as many rows as columns; its elements are unspecified afterwards.
    fn svd(&self, a: MatrixMut<'_, T>) -> Option<Svd<T>>;
}

/// A library of local linear algebra.
pub trait LocalLinalg:
    Routines<f32> + Routines<f64> + Routines<num_complex::Complex32> + Routines<num_complex::Complex64>
{
}

/// Local linear algebra in Rust.
#[derive(Clone, Copy, Debug, Default)]
pub struct RustLinalg;

impl LocalLinalg for RustLinalg {}

impl<T: LinalgElement> Routines<T> for RustLinalg {
    fn gemm(
        &self,
        alpha: T,
        a: (Trans, MatrixRef<'_, T>),
        b: (Trans, MatrixRef<'_, T>),
        beta: T,
        c: MatrixMut<'_, T>,
    ) {
        product::gemm(alpha, a, b, beta, c);
    }

    fn trsm(&self, triangle: Triangle, a: MatrixRef<'_, T>, b: MatrixMut<'_, T>) {
        triangular::solve(triangle, a, b);
    }

    fn getrf(&self, a: MatrixMut<'_, T>, pivots: &mut [usize]) {
        lu::factor(a, pivots);
    }

    fn potrf(&self, a: MatrixMut<'_, T>) -> bool {
        cholesky::factor(a)
    }

    fn qr(&self, a: MatrixMut<'_, T>) -> Vec<T> {
        qr::factor(a)
    }

    fn svd(&self, a: MatrixMut<'_, T>) -> Option<Svd<T>> {
        svd::decompose(a)
    }
}
