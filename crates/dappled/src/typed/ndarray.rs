//! Conversions from and to the arrays of the `ndarray` crate.

use ndarray::{ArrayBase, ArrayD, Data, Dimension};

use super::Array;
use super::context::Context;
use super::element::ArrayElement;
use crate::error::Result;

impl<T: ArrayElement> Array<T> {
    /// Creates an array from one of `ndarray`, which must be equal on all ranks.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let local = ndarray::arr2(&[[1.0, 2.0], [3.0, 4.0]]);
    /// let a = Array::from_ndarray(&cx, &local.t())?;
    /// assert_eq!(a.to_ndarray()?, local.t().into_dyn());
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn from_ndarray<S: Data<Elem = T>, D: Dimension>(
        cx: &Context,
        array: &ArrayBase<S, D>,
    ) -> Result<Self> {
        let contiguous = array.as_standard_layout();
        let elements = contiguous.as_slice().expect("the standard layout is contiguous");
        Self::from_slice(cx, array.shape(), elements)
    }

    /// Gathers all elements on every rank into an array of `ndarray`. Collective.
    pub fn to_ndarray(&self) -> Result<ArrayD<T>> {
        let array = ArrayD::from_shape_vec(self.shape(), self.to_vec()?);
        Ok(array.expect("the shape has as many elements as the array"))
    }
}
