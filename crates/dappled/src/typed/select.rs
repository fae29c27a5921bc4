//! Elements by mask and by index.

use dappled_protocol::slice::KeyItem;

use super::element::ArrayElement;
use super::operators::Operand;
use super::{Array, Mask};
use crate::array::Array as DynArray;
use crate::error::Result;
use crate::graph::operand::UfuncOperand;
use crate::ops::index::IndexKey;
use crate::view::{IndexItem, normalize_axis};

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
        self.dynamic
            .index(&IndexKey::new(vec![IndexItem::Mask(mask.dynamic.clone())]))
            .map(Self::from_dynamic)
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
        self.take_axis(indices, 0)
    }

    /// The elements at these indices along an axis: `numpy.take`. Collective.
    pub fn take_axis(&self, indices: &Array<i64>, axis: isize) -> Result<Self> {
        let axis = normalize_axis(axis as i64, self.ndim())?;
        let mut items = vec![IndexItem::Basic(KeyItem::Slice(None, None, None)); axis];
        items.push(IndexItem::Indices(indices.dynamic.clone()));
        self.dynamic.index(&IndexKey::new(items)).map(Self::from_dynamic)
    }

    /// Writes rows at these indices along the first axis: `a[indices] = values`. Collective.
    ///
    /// The values broadcast to the shape of the indices followed by that of a row. If an index
    /// occurs several times, the last row is kept. If an index is out of bounds, nothing is written.
    pub fn put(&self, indices: &Array<i64>, values: impl Operand<T>) -> Result<()> {
        let values = match values.operand() {
            UfuncOperand::Array(values) => values.clone(),
            UfuncOperand::Strong(value) | UfuncOperand::Weak(_, value) => {
                DynArray::filled(self.dynamic.session(), &[], value)
            }
        };
        let key = IndexKey::new(vec![IndexItem::Indices(indices.dynamic.clone())]);
        self.dynamic.assign_index(&key, &values)
    }
}

impl Mask {
    /// The positions of the true elements in C order: `numpy.flatnonzero`. Collective.
    pub fn flatnonzero(&self) -> Result<Array<i64>> {
        self.dynamic.flatnonzero().map(Array::from_dynamic)
    }
}
