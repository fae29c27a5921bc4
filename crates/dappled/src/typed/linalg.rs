//! Matrix products and linear algebra.

use dappled_protocol::slice::KeyItem;

use super::Array;
use super::element::{MatrixElement, NumberElement};
use crate::error::Result;
use crate::ops::convolve::ConvolveMode;
use crate::ops::matmul::{MatmulRequest, matmul_contiguous};

impl<T: NumberElement> Array<T> {
    /// The convolution of two rows; every rank gets the shorter one. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::from_slice(&cx, [4], &[1.0, 2.0, 3.0, 4.0])?;
    /// let mean = Array::from_slice(&cx, [2], &[0.5, 0.5])?;
    /// assert_eq!(a.convolve(&mean, ConvolveMode::Valid)?.to_vec()?, [1.5, 2.5, 3.5]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn convolve(&self, other: &Array<T>, mode: ConvolveMode) -> Result<Array<T>> {
        self.dynamic.convolve(&other.dynamic, mode).map(Self::from_dynamic)
    }
}

impl<T: NumberElement> Array<T> {
    /// The product of matrices, vectors, or stacks of matrices. Collective.
    ///
    /// Integers wrap around.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::from_slice(&cx, [2, 2], &[1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!(a.matmul(&a.t())?.to_vec()?, [5.0, 11.0, 11.0, 25.0]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn matmul(&self, other: &Array<T>) -> Result<Array<T>> {
        if let Some(product) = matmul_contiguous(&self.dynamic, &other.dynamic)? {
            return Ok(Self::from_dynamic(product));
        }
        self.dynamic.matmul(&other.dynamic, &MatmulRequest::default()).map(Self::from_dynamic)
    }

    /// The product of two vectors or matrices: [`matmul`](Array::matmul).
    pub fn dot(&self, other: &Array<T>) -> Result<Array<T>> {
        self.matmul(other)
    }
}

/// Linear algebra, computed in double precision.
impl<T: MatrixElement> Array<T> {
    /// Solves `a x = b` for a square matrix and a vector or matrix of right-hand sides. Collective.
    ///
    /// Fails if the matrix is singular.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::from_slice(&cx, [2, 2], &[2.0, 0.0, 0.0, 4.0])?;
    /// let b = Array::from_slice(&cx, [2], &[1.0, 1.0])?;
    /// assert_eq!(a.solve(&b)?.to_vec()?, [0.5, 0.25]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn solve(&self, sides: &Array<T>) -> Result<Array<T>> {
        if sides.ndim() != 1 {
            return self.dynamic.solve(&sides.dynamic).map(Self::from_dynamic);
        }
        let all = KeyItem::Slice(None, None, None);
        let columns = sides.dynamic.slice(&[all, KeyItem::NewAxis])?;
        let solution = self.dynamic.solve(&columns)?;
        solution.slice(&[all, KeyItem::Index(0)])?.copy().map(Self::from_dynamic)
    }

    /// The inverse of a square matrix. Collective.
    ///
    /// Fails if the matrix is singular.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::from_slice(&cx, [2, 2], &[2.0, 0.0, 0.0, 4.0])?;
    /// assert_eq!(a.inv()?.to_vec()?, [0.5, 0.0, 0.0, 0.25]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn inv(&self) -> Result<Array<T>> {
        self.dynamic.inv().map(Self::from_dynamic)
    }

    /// The determinant of a square matrix. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::from_slice(&cx, [2, 2], &[0.0f64, 2.0, 1.0, 0.0])?;
    /// assert!((a.det()? + 2.0).abs() < 1e-12);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn det(&self) -> Result<T> {
        Ok(T::from_complex(self.dynamic.slogdet()?.value()))
    }

    /// The lower triangle L, where L times its conjugate transpose is the matrix. Collective.
    ///
    /// Reads only the lower triangle. Fails if the matrix is not positive definite.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::from_slice(&cx, [2, 2], &[4.0, 2.0, 2.0, 10.0])?;
    /// assert_eq!(a.cholesky()?.to_vec()?, [2.0, 0.0, 1.0, 3.0]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn cholesky(&self) -> Result<Array<T>> {
        self.dynamic.cholesky().map(Self::from_dynamic)
    }

    /// Q with orthonormal columns and an upper triangle R, whose product is the matrix. Collective.
    ///
    /// Tall, narrow matrices stay distributed; others are gathered on one rank.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::from_slice(&cx, [2, 1], &[3.0f64, 4.0])?;
    /// let (q, r) = a.qr()?;
    /// assert!((r.get([0, 0])? + 5.0).abs() < 1e-12);
    /// assert!((q.matmul(&r)? - a).absolute().max()? < 1e-12);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn qr(&self) -> Result<(Array<T>, Array<T>)> {
        let [q, r] = self.dynamic.qr()?;
        Ok((Self::from_dynamic(q), Self::from_dynamic(r)))
    }
}
