//! Steps of indexing with masks and index arrays, for operands of any distribution.
//!
//! Replicated operands need no message. Others are brought to blocks of rows first.

use std::ops::Range;

use dappled_base::memory;
use dappled_kernels::{Buffer, View};
use dappled_protocol::Distribution;
use dappled_sort::take::take;

use crate::array::Array;
use crate::array::placement::Placement;
use crate::error::Result;
use crate::ops::items::item_placement;
use crate::run::complement::copy_to_c_order;
use crate::session::Session;

impl Array {
    /// Selects the elements where a mask of the same shape is true, in C order. Collective.
    pub fn select(&self, mask: &Array) -> Result<Array> {
        let session = self.session();
        if self.is_replicated() && mask.is_replicated() && session.fabric().size() > 1 {
            return select_locally(self, mask);
        }
        // Selection over ranks reads blocks of one axis.
        let flat = |array: &Array| -> Result<Array> {
            let row = array.reshaped(&[array.view().len()])?;
            row.redistribute(&session.block_distribution(row.shape()))
        };
        let selected = match self.select_by_mask(mask)? {
            Some(selected) => Some(selected),
            None => flat(self)?.select_by_mask(&flat(mask)?)?,
        };
        Ok(selected.expect("a one-dimensional array in blocks has a selection"))
    }
}

/// Gathers rows of replicated arrays without a message; or returns an index out of bounds.
pub(super) fn gather_rows_locally(
    rows: &Array,
    indices: &[i64],
    (shape, item_axes): (&[usize], usize),
) -> Result<Result<Array, i64>> {
    if let Some(index) = first_out_of_bounds(indices, rows.shape()[0]) {
        return Ok(Err(index));
    }
    let view = View::c_order(rows.dtype(), shape);
    let bytes = view.len() * view.dtype.itemsize();
    let memory = new_buffer(bytes);
    let width = bytes / indices.len().max(1);
    let source = rows.gather()?.local_buffer()?;
    gather_bytes(&source.read()?, width, indices, &mut memory.write()?);
    let taken = Array::from_owned(rows.session(), memory, view);
    in_default_placement(&taken, item_axes).map(Ok)
}

/// Copies rows of `width` bytes in the largest words that divide them.
fn gather_bytes(from: &[u8], width: usize, indices: &[i64], out: &mut [u8]) {
    let taken = match width {
        8 => take(from.as_chunks::<8>().0, 1, indices, out.as_chunks_mut::<8>().0),
        4 => take(from.as_chunks::<4>().0, 1, indices, out.as_chunks_mut::<4>().0),
        _ => take(from, width, indices, out),
    };
    taken.expect("the bounds were checked");
}

/// Writes rows to a copy of a replicated array without a message; or returns an index out of
/// bounds.
pub(super) fn put_rows_locally(
    rows: &Array,
    indices: &[i64],
    values: &Array,
) -> Result<Result<Array, i64>> {
    let count = rows.shape()[0];
    if let Some(index) = first_out_of_bounds(indices, count) {
        return Ok(Err(index));
    }
    let mut written = memory::copy_of::<u8>(&rows.gather()?.local_buffer()?.read()?);
    let values = values.gather()?.local_buffer()?;
    let values = values.read()?;
    let width = written.len() / count.max(1);
    for (&index, row) in indices.iter().zip(values.chunks(width.max(1))) {
        let at = (if index < 0 { index + count as i64 } else { index }) as usize * width;
        written[at..at + width].copy_from_slice(&row[..width]);
    }
    let view = View::c_order(rows.dtype(), rows.shape());
    let memory = Buffer::from_vec(written, rows.dtype().itemsize());
    Ok(Ok(Array::from_owned(rows.session(), memory, view)))
}

/// Selects from replicated arrays without a message.
fn select_locally(array: &Array, mask: &Array) -> Result<Array> {
    let (values, mask) = (array.gather()?.local_buffer()?, mask.to_vec::<dappled_kernels::Bool>()?);
    let positions: Vec<i64> = memory::collect(
        (0..).zip(mask).filter(|(_, selected)| selected.is_true()).map(|(at, _)| at),
    );
    let itemsize = array.dtype().itemsize();
    let memory = new_buffer(positions.len() * itemsize);
    gather_bytes(&values.read()?, itemsize, &positions, &mut memory.write()?);
    let view = View::c_order(array.dtype(), &[positions.len()]);
    Ok(Array::from_owned(array.session(), memory, view))
}

fn new_buffer(bytes: usize) -> Buffer {
    Buffer::try_zeroed(bytes).unwrap_or_else(|error| error.unwind())
}

/// The distribution of an array in blocks of rows.
pub(super) fn row_distribution(session: &Session, shape: &[usize]) -> Distribution {
    row_blocks(shape, session.fabric().size())
}

/// The distribution of an array in blocks of rows over a number of ranks.
pub(crate) fn row_blocks(shape: &[usize], ranks: u64) -> Distribution {
    let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let kinds = format!("b{}", "n".repeat(shape.len() - 1));
    let spec = Distribution::spec(&lengths).dist(&kinds).nprocs(ranks);
    spec.build().expect("blocks of rows exist for any shape")
}

/// Whether an operation on these arrays needs no message.
pub(super) fn is_local(arrays: &[&Array]) -> bool {
    arrays[0].session().fabric().size() == 1 || arrays.iter().all(|array| array.is_replicated())
}

/// This rank's elements in a distribution, in C order: their memory and its bytes. Collective.
pub(super) fn local_elements(
    array: &Array,
    target: &Distribution,
) -> Result<(Buffer, Range<usize>)> {
    let (buffer, view) = array.local_part(target)?;
    let bytes = view.len() * view.dtype.itemsize();
    match view.is_contiguous() {
        true => Ok((buffer, view.offset..view.offset + bytes)),
        false => Ok((copy_to_c_order(array.session(), &buffer, &view)?, 0..bytes)),
    }
}

/// The array in the default distribution of its shape. Collective.
///
/// The last `item_axes` axes are the bytes of an item.
pub(super) fn in_default_placement(array: &Array, item_axes: usize) -> Result<Array> {
    let (session, shape) = (array.session(), array.shape());
    if session.fabric().size() == 1 {
        return Ok(array.clone());
    }
    let placement = match (item_axes, shape) {
        (1.., [axes @ .., item]) => item_placement(session, axes, *item),
        _ => session.default_placement(array.dtype(), shape),
    };
    let target = match placement {
        Placement::Distributed(placement) => placement.distribution.clone(),
        Placement::Replicated => session.replicated_distribution(shape),
    };
    if array.distribution()? == target { Ok(array.clone()) } else { array.redistribute(&target) }
}

/// The first index out of bounds of an axis.
fn first_out_of_bounds(indices: &[i64], length: usize) -> Option<i64> {
    let length = length as i64;
    indices.iter().copied().find(|index| !(-length..length).contains(index))
}
