//! Matrix products.

use dappled_kernels::DType;
use dappled_kernels::element::{typed, typed_mut};
use dappled_protocol::slice::KeyItem;

use super::Array;
use super::element::{ArrayElement, NumberElement};
use crate::array::Array as DynArray;
use crate::error::{Error, Result};
use crate::ops::convolve::ConvolveMode;
use crate::ops::matmul::matmul;

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

impl<T: NumberElement<Sum = T>> Array<T> {
    /// The product of two matrices, of a matrix and a vector, or of two vectors. Collective.
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
        check_shapes(self.shape(), other.shape())?;
        // The kernel multiplies matrices in C order.
        let in_c_order = |array: &Array<T>| match array.dynamic.view().is_contiguous() {
            true => Ok(array.clone()),
            false => array.copy(),
        };
        let (left, right) = (in_c_order(self)?, in_c_order(other)?);
        match matmul(&left.dynamic, &right.dynamic, &multiply_matrices)? {
            Some(product) => Ok(Self::from_dynamic(product)),
            None => sum_of_products(self, other),
        }
    }

    /// The product of two vectors or matrices: [`matmul`](Array::matmul).
    pub fn dot(&self, other: &Array<T>) -> Result<Array<T>> {
        self.matmul(other)
    }
}

fn check_shapes(left: &[usize], right: &[usize]) -> Result<()> {
    let inner = right.len().saturating_sub(2);
    match (left.last(), right.get(inner)) {
        (Some(columns), Some(rows)) if left.len() <= 2 && right.len() <= 2 => {
            if columns == rows {
                Ok(())
            } else {
                Err(Error::MatmulShapes { rows: *rows, columns: *columns })
            }
        }
        _ => Err(Error::MatmulDimensions([left.len(), right.len()])),
    }
}

/// The product as a fused sum over the common axis, for any dtype and distribution.
fn sum_of_products<T: NumberElement<Sum = T>>(
    left: &Array<T>,
    right: &Array<T>,
) -> Result<Array<T>> {
    let all = KeyItem::Slice(None, None, None);
    let expand = |array: &DynArray, key: &[KeyItem]| array.slice(key).map(Array::<T>::from_dynamic);
    let (left, right) = match (left.ndim(), right.ndim()) {
        (_, 1) => (left.clone(), right.clone()),
        (1, _) => (left.clone(), right.t()),
        _ => (
            expand(&left.dynamic, &[all, KeyItem::NewAxis, all])?,
            expand(&right.t().dynamic, &[KeyItem::NewAxis, all, all])?,
        ),
    };
    left.try_mul(&right)?.sum_axis(-1)
}

/// Multiplies float matrices in C order.
fn multiply_matrices(dtype: DType, lengths: [usize; 3], factors: [&[u8]; 2], out: &mut [u8]) {
    match dtype {
        DType::Float32 => multiply::<f32>(lengths, factors, out),
        _ => multiply::<f64>(lengths, factors, out),
    }
}

/// Adds multiples of rows of the right matrix, in blocks of its rows that stay in the cache.
fn multiply<T>([_, inner, columns]: [usize; 3], [left, right]: [&[u8]; 2], out: &mut [u8])
where
    T: ArrayElement + std::ops::Mul<Output = T> + std::ops::AddAssign,
{
    let (left, right, out) = (typed::<T>(left), typed::<T>(right), typed_mut::<T>(out));
    out.fill(T::default());
    for start in (0..inner).step_by(crate::config::MATMUL_BLOCK_ROWS) {
        let end = (start + crate::config::MATMUL_BLOCK_ROWS).min(inner);
        for (row, sums) in left.chunks_exact(inner).zip(out.chunks_exact_mut(columns)) {
            for (&factor, values) in
                row[start..end].iter().zip(right[start * columns..].chunks_exact(columns))
            {
                for (sum, &value) in sums.iter_mut().zip(values) {
                    *sum += factor * value;
                }
            }
        }
    }
}
