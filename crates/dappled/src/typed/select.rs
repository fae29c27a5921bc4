//! Elements by mask and by index.

use super::element::ArrayElement;
use super::operators::Operand;
use super::{Array, Mask};
use crate::array::Array as DynArray;
use crate::error::{Error, Result};
use crate::graph::operand::UfuncOperand;
use crate::view::normalize_axis;

impl<T: ArrayElement> Array<T> {
    /// The elements where a mask of the same shape is true, in C order: `a[mask]`. Collective.
    ///
    /// A mask with the lengths of the first axes selects rows.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let a = Array::<i64>::arange(&cx, 0, 6, 1);
    /// assert_eq!(a.masked(&(&a % 2).equal(0))?.to_vec()?, [0, 2, 4]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn masked(&self, mask: &Mask) -> Result<Self> {
        let axes = mask.ndim();
        if (1..self.ndim()).contains(&axes) && self.shape()[..axes] == *mask.shape() {
            let rows = [&[mask.len()], &self.shape()[axes..]].concat();
            let rows: Vec<i64> = rows.iter().map(|&length| length as i64).collect();
            return self.reshape(rows)?.take(&mask.flatnonzero()?);
        }
        self.dynamic.select(&mask.dynamic).map(Self::from_dynamic)
    }

    /// Writes a value where a mask is true: `a[mask] = value`. Collective.
    pub fn assign_where(&self, mask: &Mask, value: impl Operand<T>) -> Result<()> {
        self.assign(&Self::select(mask, value, self)?)
    }

    /// The rows at these indices along the first axis: `a[indices]`. Collective.
    ///
    /// The result has the shape of the indices, followed by that of a row. Negative indices count
    /// from the end.
    ///
    /// ```
    /// use dappled::prelude::*;
    ///
    /// let cx = Context::init()?;
    /// let squares = Array::<i64>::arange(&cx, 0, 10, 1).square();
    /// let at = Array::from_slice(&cx, [3], &[2, -1, 2])?;
    /// assert_eq!(squares.take(&at)?.to_vec()?, [4, 81, 4]);
    /// # Ok::<(), dappled::Error>(())
    /// ```
    pub fn take(&self, indices: &Array<i64>) -> Result<Self> {
        if self.ndim() == 0 {
            return Err(Error::ZeroDimensional("indexed by an array"));
        }
        let rows = self.dynamic.take(&indices.reshape([-1])?.dynamic)?;
        if indices.ndim() == 1 {
            return Ok(Self::from_dynamic(rows));
        }
        let shape = indices.shape().iter().chain(&self.shape()[1..]);
        Self::from_dynamic(rows).reshape(shape.map(|&length| length as i64).collect::<Vec<_>>())
    }

    /// The elements at these indices along an axis: `numpy.take`. Collective.
    pub fn take_axis(&self, indices: &Array<i64>, axis: isize) -> Result<Self> {
        let axis = normalize_axis(axis as i64, self.ndim())?;
        let mut first: Vec<i64> = (0..self.ndim() as i64).collect();
        let moved = first.remove(axis);
        first.insert(0, moved);
        let taken = self.transpose(&first)?.take(indices)?;
        // The axes of the indices take the place of the axis.
        let count = indices.ndim() as i64;
        let own = |position: i64| if position < axis as i64 { position + count } else { position };
        let order: Vec<i64> = (0..taken.ndim() as i64)
            .map(|position| match position - axis as i64 {
                at if (0..count).contains(&at) => at,
                _ => own(position),
            })
            .collect();
        taken.transpose(order)
    }

    /// Writes rows at these indices along the first axis: `a[indices] = values`. Collective.
    ///
    /// The values broadcast to the shape of the indices followed by that of a row. If an index
    /// occurs several times, the last row is kept. If an index is out of bounds, nothing is written.
    pub fn put(&self, indices: &Array<i64>, values: impl Operand<T>) -> Result<()> {
        if self.ndim() == 0 {
            return Err(Error::ZeroDimensional("indexed by an array"));
        }
        let shape: Vec<usize> = [indices.shape(), &self.shape()[1..]].concat();
        let session = self.dynamic.session();
        let values = match values.operand() {
            UfuncOperand::Array(values) => {
                let fail =
                    || Error::ValueShape { from: values.shape().to_vec(), to: shape.clone() };
                Self::from_dynamic(values.broadcast_to(&shape).ok_or_else(fail)?)
            }
            UfuncOperand::Strong(value) | UfuncOperand::Weak(_, value) => {
                Self::from_dynamic(DynArray::filled(session, &shape, value))
            }
        };
        let rows = [&[indices.len()][..], &self.shape()[1..]].concat();
        let values =
            values.reshape(rows.iter().map(|&length| length as i64).collect::<Vec<_>>())?;
        self.dynamic.put(&indices.reshape([-1])?.dynamic, &values.dynamic)
    }
}

impl Mask {
    /// The positions of the true elements in C order: `numpy.flatnonzero`. Collective.
    pub fn flatnonzero(&self) -> Result<Array<i64>> {
        let shape = [self.len()];
        let positions = Array::from_fn_in(self.dynamic.session(), &shape, |index| index[0] as i64);
        positions.masked(&self.reshape([-1])?)
    }
}
