//! Selection, gather and scatter by masks and index arrays of any distribution.
//!
//! Replicated operands need no message. Others are brought to blocks of rows first.

use std::ops::Range;

use dappled_base::memory;
use dappled_kernels::element::typed;
use dappled_kernels::{Buffer, View};
use dappled_protocol::Distribution;
use dappled_protocol::slice::KeyError;
use dappled_sort::take::take;

use super::take_put::{PutValues, RowIndices};
use crate::array::Array;
use crate::error::{Error, Result};
use crate::run::complement::copy_to_c_order;
use crate::session::Session;
use crate::view::ViewError;

impl Array {
    /// Selects the elements where a mask of the same shape is true, in C order. Collective.
    pub fn select(&self, mask: &Array) -> Result<Array> {
        if self.shape() != mask.shape() {
            return Err(mask_error(self.shape(), mask.shape()));
        }
        let session = self.session();
        if self.is_replicated() && mask.is_replicated() && session.fabric().size() > 1 {
            return select_locally(self, mask);
        }
        // Selection over ranks reads blocks of one axis.
        let flat = |array: &Array| -> Result<Array> {
            let row = array.reshaped_copy(&[array.view().len()])?;
            row.redistribute(&session.block_distribution(row.shape()))
        };
        let selected = match self.select_by_mask(mask)? {
            Some(selected) => Some(selected),
            None => flat(self)?.select_by_mask(&flat(mask)?)?,
        };
        Ok(selected.expect("a one-dimensional array in blocks has a selection"))
    }

    /// Gathers the rows at these indices along the first axis. Collective.
    ///
    /// Negative indices count from the end.
    pub fn take(&self, indices: &Array) -> Result<Array> {
        let session = self.session();
        let shape = [indices.shape(), &self.shape()[1..]].concat();
        self.record_take(indices.view().len());
        if is_local(&[self, indices]) {
            return take_locally(self, indices, &shape);
        }
        let rows = row_distribution(session, self.shape());
        let (piece, bytes) = local_elements(self, &rows)?;
        let (own, own_bytes) =
            local_elements(indices, &session.block_distribution(indices.shape()))?;
        let own = own.read()?;
        let named = RowIndices { rows: &rows, indices: typed(&own[own_bytes]) };
        let target = row_distribution(session, &shape);
        let taken = self.take_rows(&named, &piece.read()?[bytes], &target)?;
        taken.map_err(|index| out_of_bounds(index.0, self))
    }

    /// Writes a row for each of these indices along the first axis. Collective.
    ///
    /// If an index occurs several times, the last row is kept. If an index is out of bounds, nothing is
    /// written.
    pub fn put(&self, indices: &Array, values: &Array) -> Result<()> {
        let session = self.session();
        self.record_put(indices.view().len());
        if is_local(&[self, indices, values]) {
            return put_locally(self, indices, values);
        }
        let rows = row_distribution(session, self.shape());
        let (own, own_bytes) =
            local_elements(indices, &session.block_distribution(indices.shape()))?;
        let own = own.read()?;
        let named = RowIndices { rows: &rows, indices: typed(&own[own_bytes]) };
        let target = row_distribution(session, values.shape());
        let (own_values, value_bytes) = local_elements(values, &target)?;
        let own_values = own_values.read()?;
        let put_values = PutValues::PerIndex(&own_values[value_bytes]);
        let put = |array: &Array| array.put_rows(&named, put_values);
        let invalid = |index: dappled_sort::route::OutOfBoundsIndex| out_of_bounds(index.0, self);
        if put(self)?.map_err(invalid)?.is_none() {
            // In another distribution, or a view: write to a copy in blocks of rows.
            let copy = self.redistribute(&rows)?;
            put(&copy)?.map_err(invalid)?.expect("a new array is in blocks of rows");
            self.assign(&copy)?;
        }
        Ok(())
    }
}

/// Gathers rows of replicated arrays without a message.
fn take_locally(array: &Array, indices: &Array, shape: &[usize]) -> Result<Array> {
    let (rows, indices) = (array.gather()?.local_buffer()?, indices.to_vec::<i64>()?);
    check_bounds(array, &indices)?;
    let view = View::c_order(array.dtype(), shape);
    let width = view.len() * view.dtype.itemsize() / indices.len().max(1);
    let memory = new_buffer(view.len() * view.dtype.itemsize());
    let taken = take::<u8>(&rows.read()?, width, &indices, &mut memory.write()?);
    taken.expect("the bounds were checked");
    Ok(Array::from_owned(array.session(), memory, view))
}

/// Writes rows of replicated arrays without a message.
fn put_locally(array: &Array, indices: &Array, values: &Array) -> Result<()> {
    let indices = indices.to_vec::<i64>()?;
    check_bounds(array, &indices)?;
    let mut written = memory::copy_of::<u8>(&array.gather()?.local_buffer()?.read()?);
    let rows = values.gather()?.local_buffer()?;
    let rows = rows.read()?;
    let width = rows.len() / indices.len().max(1);
    let count = array.shape()[0] as i64;
    for (&index, row) in indices.iter().zip(rows.chunks(width.max(1))) {
        let at = (if index < 0 { index + count } else { index }) as usize * width;
        written[at..at + width].copy_from_slice(&row[..width]);
    }
    let view = View::c_order(array.dtype(), array.shape());
    let memory = Buffer::from_vec(written, array.dtype().itemsize());
    array.assign(&Array::from_owned(array.session(), memory, view))
}

/// The error of a mask whose shape differs, with NumPy's text.
fn mask_error(shape: &[usize], mask: &[usize]) -> Error {
    if mask.len() > shape.len() {
        return ViewError::Key(KeyError::TooMany { ndim: shape.len(), given: mask.len() }).into();
    }
    let differs = |&axis: &usize| mask.get(axis) != Some(&shape[axis]);
    let dimension = (0..shape.len()).find(differs).unwrap_or(0);
    let mask_length = mask.get(dimension).copied().unwrap_or(1);
    Error::MaskShape { dimension, length: shape[dimension], mask_length }
}

/// Selects from replicated arrays without a message.
fn select_locally(array: &Array, mask: &Array) -> Result<Array> {
    let (values, mask) = (array.gather()?.local_buffer()?, mask.to_vec::<dappled_kernels::Bool>()?);
    let positions: Vec<i64> = memory::collect(
        (0..).zip(mask).filter(|(_, selected)| selected.is_true()).map(|(at, _)| at),
    );
    let itemsize = array.dtype().itemsize();
    let memory = new_buffer(positions.len() * itemsize);
    let taken = take::<u8>(&values.read()?, itemsize, &positions, &mut memory.write()?);
    taken.expect("positions are in bounds");
    let view = View::c_order(array.dtype(), &[positions.len()]);
    Ok(Array::from_owned(array.session(), memory, view))
}

fn new_buffer(bytes: usize) -> Buffer {
    Buffer::try_zeroed(bytes).unwrap_or_else(|error| error.unwind())
}

/// The distribution of an array in blocks of rows.
fn row_distribution(session: &Session, shape: &[usize]) -> Distribution {
    row_blocks(shape, session.fabric().size())
}

/// The distribution of an array in blocks of rows over a number of ranks.
pub(crate) fn row_blocks(shape: &[usize], ranks: u64) -> Distribution {
    let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let kinds = format!("b{}", "n".repeat(shape.len() - 1));
    let spec = Distribution::spec(&lengths).dist(&kinds).nprocs(ranks);
    spec.build().expect("blocks of rows exist for any shape")
}

fn out_of_bounds(index: i64, array: &Array) -> Error {
    let size = array.shape()[0] as u64;
    ViewError::Key(KeyError::OutOfBounds { index, axis: 0, size }).into()
}

/// Whether an operation on these arrays needs no message.
fn is_local(arrays: &[&Array]) -> bool {
    arrays[0].session().fabric().size() == 1 || arrays.iter().all(|array| array.is_replicated())
}

/// This rank's elements in a distribution, in C order: their memory and its bytes. Collective.
fn local_elements(array: &Array, target: &Distribution) -> Result<(Buffer, Range<usize>)> {
    let (buffer, view) = array.local_part(target)?;
    let bytes = view.len() * view.dtype.itemsize();
    match view.is_contiguous() {
        true => Ok((buffer, view.offset..view.offset + bytes)),
        false => Ok((copy_to_c_order(array.session(), &buffer, &view)?, 0..bytes)),
    }
}

fn check_bounds(array: &Array, indices: &[i64]) -> Result<()> {
    let count = array.shape()[0] as i64;
    match indices.iter().find(|&&index| !(-count..count).contains(&index)) {
        Some(&index) => Err(out_of_bounds(index, array)),
        None => Ok(()),
    }
}
