//! Writes through masks and index arrays.

use dappled_kernels::{Op, View};
use dappled_protocol::slice::KeyItem;

use super::IndexKey;
use super::flat_rows::{FlatRows, Selection, out_of_bounds, resolve};
use crate::array::Array;
use crate::dispatch::ufunc;
use crate::error::{Error, Result};
use crate::graph::operand::UfuncOperand;
use crate::ops::index_arrays::{local_elements, put_rows_locally, row_distribution};
use crate::ops::take_put::{PutValues, RowIndices};

impl Array {
    /// Assigns to the elements that a key selects: `a[key] = value`. Collective.
    ///
    /// The value has the dtype of the array, and broadcasts to the shape of the selection. All
    /// operands are read before anything is written. If an element is selected several times, the
    /// last value is kept. If an index is out of bounds, nothing is written.
    ///
    /// ```
    /// use dappled::view::IndexItem;
    /// use dappled::{Array, IndexKey, Session};
    ///
    /// let session = Session::new(dappled_fabric::connect()?);
    /// let a = Array::from_slice(&session, &[3], &[0, 1, 2]);
    /// let at = Array::from_slice(&session, &[2], &[-1, -1]);
    /// let value = Array::from_slice(&session, &[2], &[7, 8]);
    /// a.assign_index(&IndexKey::new(vec![IndexItem::Indices(at)]), &value)?;
    /// assert_eq!(a.to_vec::<i32>()?, [0, 1, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn assign_index(&self, key: &IndexKey, value: &Array) -> Result<()> {
        let axes = value.shape().len() - key.item_axes;
        let mask = key.full_mask(self);
        if let Some(mask) = mask.filter(|_| axes == 0 && key.item_axes == 0) {
            let operands = [mask, value, self].map(UfuncOperand::Array);
            return self.assign(&ufunc(self.session(), Op::Select, &operands)?);
        }
        match resolve(self, key)? {
            Selection::View(view) => {
                view.assign(&broadcast_value(value, view.shape(), key.item_axes)?)
            }
            Selection::Rows(rows) => {
                if mask.is_some() {
                    check_mask_value(&value.shape()[..axes], rows.shape[0])?;
                }
                rows.put(value)
            }
        }
    }
}

/// Checks the shape of values for the elements of a mask.
fn check_mask_value(shape: &[usize], selected: usize) -> Result<()> {
    let values = shape.iter().product();
    match shape.len() {
        0 | 1 if values == 1 || values == selected => Ok(()),
        0 | 1 => Err(Error::MaskValueCount { values, selected }),
        ndim => Err(Error::MaskValueDimensions { ndim }),
    }
}

/// A value broadcast to the shape of a selection. First axes of length 1 may be superfluous.
fn broadcast_value(value: &Array, shape: &[usize], item_axes: usize) -> Result<Array> {
    let superfluous = value.shape().len().saturating_sub(shape.len());
    let axes = |shape: &[usize]| shape[..shape.len() - item_axes].to_vec();
    let fail = || Error::ValueShape { from: axes(value.shape()), to: axes(shape) };
    if value.shape()[..superfluous].iter().any(|&length| length != 1) {
        return Err(fail());
    }
    let view = View {
        shape: value.shape()[superfluous..].into(),
        strides: value.view().strides[superfluous..].into(),
        ..value.view().clone()
    };
    value.with_view(view).broadcast_to(shape).ok_or_else(fail)
}

impl FlatRows {
    /// The value broadcast to the selection, with the axes of the indices first, then flattened.
    ///
    /// The last `item_axes` axes of the value are the bytes of its items.
    pub fn values_by_row(&self, value: &Array, item_axes: usize) -> Result<Array> {
        let (count, front, row) = (self.shape.len(), self.result_axis, self.row_shape());
        let row = &row[..row.len() - self.item_axes];
        let item = &value.shape()[value.shape().len() - item_axes..];
        let shape = [&row[..front], &self.shape, &row[front..], item].concat();
        let value = broadcast_value(value, &shape, item_axes)?;
        let axes: Vec<usize> = (front..front + count)
            .chain(0..front)
            .chain(front + count..value.shape().len())
            .collect();
        let size: usize = self.shape.iter().product();
        value.transposed(&axes).reshaped(&[&[size], row, item].concat())
    }

    /// Writes the value to the selected rows, in the order of the indices. Collective.
    fn put(self, value: &Array) -> Result<()> {
        let session = self.view.session().clone();
        let has_axes = value.shape().len() > self.item_axes;
        let values = self.values_by_row(value, self.item_axes)?;
        if self.is_empty()? {
            return Ok(());
        }
        let (view, axis) = (self.view.clone(), self.axis);
        let rows = self.rows()?;
        rows.record_put(values.shape()[0]);
        let fail = |index| out_of_bounds(index, axis, rows.shape()[0]);
        if self.is_local(&[value]) {
            let put = |indices: &[i64]| put_rows_locally(&rows, indices, &values);
            let written = self.indices.rows.with(put)?.map_err(fail)?;
            return view.assign(&written.reshaped(view.shape())?);
        }
        let distribution = row_distribution(&session, rows.shape());
        let is_whole = self.indexed == 1;
        let (buffer, bytes) = match has_axes {
            true => local_elements(&values, &row_distribution(&session, values.shape()))?,
            // Every rank has the one row for all indices.
            false => {
                let row = values.slice(&[KeyItem::Index(0)])?.gather()?;
                let bytes = row.view().len() * row.dtype().itemsize();
                (row.local_buffer()?, 0..bytes)
            }
        };
        let indices = self.indices_in_order()?;
        let memory = buffer.read()?;
        let values = &memory[bytes];
        let values =
            if has_axes { PutValues::PerIndex(values) } else { PutValues::Broadcast(values) };
        let put = |target: &Array| {
            indices.with(|indices| {
                target.put_rows(&RowIndices { rows: &distribution, indices }, values)
            })
        };
        if is_whole {
            let written = put(&rows)?.map_err(|index| fail(index.0))?;
            if written.is_some() {
                return Ok(());
            }
        }
        // In another distribution, or a view: write to a copy in blocks of rows.
        let copy = rows.redistribute(&distribution)?;
        let written = put(&copy)?.map_err(|index| fail(index.0))?;
        written.expect("a new array is in blocks of rows");
        view.assign(&copy.reshaped(view.shape())?)
    }
}
