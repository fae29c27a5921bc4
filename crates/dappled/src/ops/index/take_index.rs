//! Reads through masks and index arrays.

use std::cmp::Reverse;

use dappled_kernels::View;
use dappled_protocol::Distribution;

use super::IndexKey;
use super::flat_rows::{FlatRows, Selection, out_of_bounds, resolve};
use crate::array::Array;
use crate::error::Result;
use crate::ops::index_arrays::{
    gather_rows_locally, in_default_placement, local_elements, row_distribution,
};
use crate::ops::take_put::RowIndices;
use crate::view::inverse_permutation;

impl Array {
    /// Copies the elements that a key selects: `a[key]`. Collective.
    ///
    /// The result has NumPy's memory order: the axes of the index arrays first, then the others in
    /// the order of their strides.
    ///
    /// ```
    /// use dappled::protocol::slice::KeyItem;
    /// use dappled::view::IndexItem;
    /// use dappled::{Array, IndexKey, Session};
    ///
    /// let session = Session::new(dappled_fabric::connect()?);
    /// let a = Array::from_slice(&session, &[2, 3], &[0, 1, 2, 3, 4, 5]);
    /// let columns = Array::from_slice(&session, &[2], &[2, -3]);
    /// let rows = IndexItem::Basic(KeyItem::Slice(None, None, Some(-1)));
    /// let taken = a.index(&IndexKey::new(vec![rows, IndexItem::Indices(columns)]))?;
    /// assert_eq!(taken.shape(), [2, 2]);
    /// assert_eq!(taken.to_vec::<i32>()?, [5, 3, 2, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn index(&self, key: &IndexKey) -> Result<Array> {
        if let Some(mask) = key.full_mask(self).filter(|_| key.item_axes == 0) {
            return self.select(mask);
        }
        match resolve(self, key)? {
            Selection::View(view) => copy_in_memory_order(&view, key.item_axes),
            Selection::Rows(rows) => rows.take(),
        }
    }
}

/// A copy of a view with its order of axes.
fn copy_in_memory_order(view: &Array, item_axes: usize) -> Result<Array> {
    let order = axes_by_stride(view.view(), 0, item_axes);
    let ordered = view.transposed(&order);
    let copy = if item_axes > 0 { ordered.copy_items()? } else { ordered.copy()? };
    Ok(copy.transposed(&inverse_permutation(&order)))
}

/// All axes, those from `first` on from the longest stride to the shortest, the bytes of items
/// last.
fn axes_by_stride(view: &View, first: usize, item_axes: usize) -> Vec<usize> {
    let ndim = view.shape.len();
    let mut axes: Vec<usize> = (0..ndim).collect();
    axes[first..ndim - item_axes].sort_by_key(|&axis| Reverse(view.strides[axis].abs()));
    axes
}

impl FlatRows {
    /// Gathers the selected rows. Collective.
    fn take(self) -> Result<Array> {
        let order = axes_by_stride(self.view.view(), self.indexed, self.item_axes);
        let (count, item_axes, front) = (self.shape.len(), self.item_axes, self.result_axis);
        let index_order = self.index_order.clone().filter(|_| self.row_shape().len() == item_axes);
        let axes = order[self.indexed..].iter().map(|&axis| axis - self.indexed + count);
        let order_in_memory: Vec<usize> = (0..count).chain(axes).collect();
        let view = self.view.transposed(&order);
        let taken = FlatRows { view, ..self }.take_in_c_order()?;
        let taken = match index_order {
            Some(mut order) => {
                order.extend(count..count + item_axes);
                let copy = taken.transposed(&order);
                let copy = if item_axes > 0 { copy.copy_items()? } else { copy.copy()? };
                copy.transposed(&inverse_permutation(&order))
            }
            None => taken.transposed(&inverse_permutation(&order_in_memory)),
        };
        // The axes of the indices stand where the arrays stood in the key.
        let (before, after) = (count..count + front, count + front..taken.shape().len());
        Ok(taken.transposed(&before.chain(0..count).chain(after).collect::<Vec<_>>()))
    }

    /// Gathers the selected rows: axes of the indices, then those of a row. Collective.
    fn take_in_c_order(self) -> Result<Array> {
        let session = self.view.session();
        let shape = [&self.shape[..], self.row_shape()].concat();
        if self.is_empty()? {
            return Ok(Array::empty(session, self.view.dtype(), &shape));
        }
        let rows = self.rows()?;
        rows.record_take(self.shape.iter().product());
        let fail = |index| out_of_bounds(index, self.axis, rows.shape()[0]);
        let Some(blocks) = &self.indices.blocks else {
            let take =
                |indices: &[i64]| gather_rows_locally(&rows, indices, (&shape, self.item_axes));
            return self.indices.rows.with(take)?.map_err(fail);
        };
        let distribution = row_distribution(session, rows.shape());
        let (piece, bytes) = local_elements(&rows, &distribution)?;
        let target = with_local_axes(blocks, &shape);
        let memory = piece.read()?;
        let taken = self.indices.rows.with(|indices| {
            let named = RowIndices { rows: &distribution, indices };
            rows.take_rows(&named, &memory[bytes], &target)
        })?;
        in_default_placement(&taken.map_err(|index| fail(index.0))?, self.item_axes)
    }
}

/// The distribution of the indices, extended by the axes of a row, which are not distributed.
fn with_local_axes(blocks: &Distribution, shape: &[usize]) -> Distribution {
    shape[blocks.axes().len()..]
        .iter()
        .fold(blocks.clone(), |blocks, &length| blocks.with_trailing(length as u64))
}
