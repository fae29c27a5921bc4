//! Sorting.

use super::Array;
use super::element::ArrayElement;
use crate::error::Result;
use crate::ops::sort::UniqueOptions;
use crate::view::normalize_axis;

impl<T: ArrayElement> Array<T> {
    /// A sorted copy, stably sorted along an axis: `np.sort(a, axis)`. Collective.
    ///
    /// NaN is last; complex numbers are in lexicographic order.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<i64>::from_slice(&cx, [2, 3], &[3, 1, 2, 9, 8, 7])?;
    /// assert_eq!(a.sort(-1)?.to_vec()?, [1, 2, 3, 7, 8, 9]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn sort(&self, axis: isize) -> Result<Self> {
        let axis = normalize_axis(axis as i64, self.ndim())?;
        self.dynamic.sort(axis).map(Self::from_dynamic)
    }

    /// The indices that sort the array along an axis, stably. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<f64>::from_slice(&cx, [4], &[0.5, 2.0, 0.5, -1.0])?;
    /// let order = a.argsort(0)?;
    /// assert_eq!(order.to_vec()?, [3, 0, 2, 1]);
    /// assert_eq!(a.take(&order)?.to_vec()?, a.sort(0)?.to_vec()?);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn argsort(&self, axis: isize) -> Result<Array<i64>> {
        let axis = normalize_axis(axis as i64, self.ndim())?;
        self.dynamic.argsort(axis).map(Array::from_dynamic)
    }

    /// The unique elements of all axes, in ascending order. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<i64>::arange(&cx, 0, 100, 1) % 3;
    /// assert_eq!(a.unique()?.to_vec()?, [0, 1, 2]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn unique(&self) -> Result<Self> {
        let unique = self.flattened()?.unique(UniqueOptions::default())?;
        Ok(Self::from_dynamic(unique.values))
    }

    /// The unique elements, and how often each occurs. Collective.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<i64>::arange(&cx, 0, 10, 1) % 4;
    /// let (values, counts) = a.unique_counts()?;
    /// assert_eq!(values.to_vec()?, [0, 1, 2, 3]);
    /// assert_eq!(counts.to_vec()?, [3, 3, 2, 2]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn unique_counts(&self) -> Result<(Self, Array<i64>)> {
        let options = UniqueOptions { counts: true, ..UniqueOptions::default() };
        let unique = self.flattened()?.unique(options)?;
        let counts = unique.counts.expect("counts were requested");
        Ok((Self::from_dynamic(unique.values), Array::from_dynamic(counts)))
    }

    fn flattened(&self) -> Result<crate::array::Array> {
        self.dynamic.reshaped_copy(&[self.len()])
    }
}
