//! Elements by mask and by index.

use std::ops::Range;

use dappled_base::memory;
use dappled_kernels::element::typed;
use dappled_kernels::{Buffer, View};
use dappled_protocol::Distribution;
use dappled_protocol::slice::KeyError;
use dappled_sort::take::take;

use super::element::ArrayElement;
use super::operators::Operand;
use super::{Array, Mask};
use crate::array::Array as DynArray;
use crate::error::{Error, Result};
use crate::graph::operand::UfuncOperand;
use crate::ops::take_put::{PutValues, RowIndices};
use crate::run::complement::copy_to_c_order;
use crate::session::Session;
use crate::view::{ViewError, normalize_axis};

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
        select_by_mask(&self.dynamic, &mask.dynamic).map(Self::from_dynamic)
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
        let rows = take_rows(&self.dynamic, &indices.reshape([-1])?.dynamic)?;
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
        put_rows(&self.dynamic, &indices.reshape([-1])?.dynamic, &values.dynamic)
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

fn select_by_mask(array: &DynArray, mask: &DynArray) -> Result<DynArray> {
    if array.shape() != mask.shape() {
        return Err(mask_error(array.shape(), mask.shape()));
    }
    let session = array.session();
    if array.is_replicated() && mask.is_replicated() && session.fabric().size() > 1 {
        return select_locally(array, mask);
    }
    // Selection over ranks reads blocks of one axis.
    let flat = |array: &DynArray| -> Result<DynArray> {
        let row = array.reshaped_copy(&[array.view().len()])?;
        row.redistribute(&session.block_distribution(row.shape()))
    };
    let selected = match array.select_by_mask(mask)? {
        Some(selected) => Some(selected),
        None => flat(array)?.select_by_mask(&flat(mask)?)?,
    };
    Ok(selected.expect("a one-dimensional array in blocks has a selection"))
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
fn select_locally(array: &DynArray, mask: &DynArray) -> Result<DynArray> {
    let (values, mask) = (array.gather()?.local_buffer()?, mask.to_vec::<dappled_kernels::Bool>()?);
    let positions: Vec<i64> = memory::collect(
        (0..).zip(mask).filter(|(_, selected)| selected.is_true()).map(|(at, _)| at),
    );
    let itemsize = array.dtype().itemsize();
    let memory = new_buffer(positions.len() * itemsize);
    let taken = take::<u8>(&values.read()?, itemsize, &positions, &mut memory.write()?);
    taken.expect("positions are in bounds");
    let view = View::c_order(array.dtype(), &[positions.len()]);
    Ok(DynArray::from_owned(array.session(), memory, view))
}

fn new_buffer(bytes: usize) -> Buffer {
    Buffer::try_zeroed(bytes).unwrap_or_else(|error| error.unwind())
}

/// The distribution of an array in blocks of rows.
fn row_distribution(session: &Session, shape: &[usize]) -> Distribution {
    let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let kinds = format!("b{}", "n".repeat(shape.len() - 1));
    let spec = Distribution::spec(&lengths).dist(&kinds).nprocs(session.fabric().size());
    spec.build().expect("blocks of rows exist for any shape")
}

fn out_of_bounds(index: i64, array: &DynArray) -> Error {
    let size = array.shape()[0] as u64;
    ViewError::Key(KeyError::OutOfBounds { index, axis: 0, size }).into()
}

/// Whether an operation on these arrays needs no message.
fn is_local(arrays: &[&DynArray]) -> bool {
    arrays[0].session().fabric().size() == 1 || arrays.iter().all(|array| array.is_replicated())
}

fn take_rows(array: &DynArray, indices: &DynArray) -> Result<DynArray> {
    let session = array.session();
    let shape = [indices.shape(), &array.shape()[1..]].concat();
    if is_local(&[array, indices]) {
        let (rows, indices) = (array.gather()?.local_buffer()?, indices.to_vec::<i64>()?);
        check_bounds(array, &indices)?;
        let view = View::c_order(array.dtype(), &shape);
        let width = view.len() * view.dtype.itemsize() / indices.len().max(1);
        let memory = new_buffer(view.len() * view.dtype.itemsize());
        let taken = take::<u8>(&rows.read()?, width, &indices, &mut memory.write()?);
        taken.expect("the bounds were checked");
        return Ok(DynArray::from_owned(session, memory, view));
    }
    let rows = row_distribution(session, array.shape());
    let (piece, bytes) = local_elements(array, &rows)?;
    let (own, own_bytes) = local_elements(indices, &session.block_distribution(indices.shape()))?;
    let own = own.read()?;
    let named = RowIndices { rows: &rows, indices: typed(&own[own_bytes]) };
    let target = row_distribution(session, &shape);
    let taken = array.take_rows(&named, &piece.read()?[bytes], &target)?;
    taken.map_err(|index| out_of_bounds(index.0, array))
}

fn put_rows(array: &DynArray, indices: &DynArray, values: &DynArray) -> Result<()> {
    let session = array.session();
    if is_local(&[array, indices, values]) {
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
        return array.assign(&DynArray::from_owned(session, memory, view));
    }
    let rows = row_distribution(session, array.shape());
    let (own, own_bytes) = local_elements(indices, &session.block_distribution(indices.shape()))?;
    let own = own.read()?;
    let named = RowIndices { rows: &rows, indices: typed(&own[own_bytes]) };
    let target = row_distribution(session, values.shape());
    let (own_values, value_bytes) = local_elements(values, &target)?;
    let own_values = own_values.read()?;
    let put_values = PutValues::PerIndex(&own_values[value_bytes]);
    let put = |array: &DynArray| array.put_rows(&named, put_values);
    let invalid = |index: dappled_sort::route::OutOfBoundsIndex| out_of_bounds(index.0, array);
    if put(array)?.map_err(invalid)?.is_none() {
        // In another distribution, or a view: write to a copy in blocks of rows.
        let copy = array.redistribute(&rows)?;
        put(&copy)?.map_err(invalid)?.expect("a new array is in blocks of rows");
        array.assign(&copy)?;
    }
    Ok(())
}

/// This rank's elements in a distribution, in C order: their memory and its bytes. Collective.
fn local_elements(array: &DynArray, target: &Distribution) -> Result<(Buffer, Range<usize>)> {
    let (buffer, view) = array.local_part(target)?;
    let bytes = view.len() * view.dtype.itemsize();
    match view.is_contiguous() {
        true => Ok((buffer, view.offset..view.offset + bytes)),
        false => Ok((copy_to_c_order(array.session(), &buffer, &view)?, 0..bytes)),
    }
}

fn check_bounds(array: &DynArray, indices: &[i64]) -> Result<()> {
    let count = array.shape()[0] as i64;
    match indices.iter().find(|&&index| !(-count..count).contains(&index)) {
        Some(&index) => Err(out_of_bounds(index, array)),
        None => Ok(()),
    }
}
