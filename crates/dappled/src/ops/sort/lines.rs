//! Sorting of the lines along one axis of several.
//!
//! The axis becomes the last, and local: each rank sorts its lines. If there are fewer lines than
//! ranks, each is sorted by all ranks, one after another.

use dappled_base::memory;
use dappled_kernels::element::bytes_of;
use dappled_kernels::{Buffer, DType, Scalar, View};
use dappled_protocol::slice::KeyItem;
use dappled_protocol::{Distribution, Held};

use super::order::dtype_order;
use super::{Line, sample_sort};
use crate::array::Array;
use crate::error::{Result, RunError};
use crate::ops::fft::pencils::{pencil_distribution, piece};
use crate::view::byte_range;
use crate::view::memory_order::inverse_permutation;

/// A function of each line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Sort,
    Argsort,
}

/// Applies a function to each line along an axis; the result has this dtype, and C order. Collective.
pub(super) fn map_lines(
    array: &Array,
    axis: usize,
    dtype: DType,
    function: Function,
) -> Result<Array> {
    let ndim = array.shape().len();
    if ndim == 1 {
        return map_line(array, function);
    }
    let axes: Vec<usize> = (0..ndim).filter(|&other| other != axis).chain([axis]).collect();
    let last = array.transposed(&axes);
    let result = match local_distribution(&last) {
        Some(distribution) => map_local_lines(&last, &distribution, dtype, function)?,
        None => map_distributed_lines(&last, dtype, function)?,
    };
    match axes.is_sorted() {
        true => Ok(result),
        false => result.transposed(&inverse_permutation(&axes)).cast_copy(dtype),
    }
}

fn map_line(line: &Array, function: Function) -> Result<Array> {
    let line = Line::of_elements(line);
    match function {
        Function::Sort => sample_sort::sort(&line),
        Function::Argsort => sample_sort::argsort(&line),
    }
}

/// A distribution in which the last axis is local: that of the array, if possible.
fn local_distribution(array: &Array) -> Option<Distribution> {
    let (session, last) = (array.session(), array.shape().len() - 1);
    if session.fabric().size() == 1 || array.is_replicated() {
        return Some(session.replicated_distribution(array.shape()));
    }
    let has_local_lines = |distribution: &Distribution| {
        let is_plain = (0..=last).all(|axis| !distribution.is_padded(axis));
        is_plain && distribution.held() == Held::Grid && distribution.dist().ends_with('n')
    };
    let own = array.distribution().ok().filter(has_local_lines);
    own.or_else(|| pencil_distribution(session, array.shape(), &[last]))
}

/// Applies a function to the lines of this rank's piece.
fn map_local_lines(
    array: &Array,
    distribution: &Distribution,
    dtype: DType,
    function: Function,
) -> Result<Array> {
    let (buffer, view) = piece(array, distribution)?;
    let (order, length) = (dtype_order(array.dtype()), array.shape()[array.shape().len() - 1]);
    let items = buffer.read().map_err(RunError::from)?;
    let items = &items[byte_range(&view)];
    let bytes = match function {
        Function::Sort => order.sort(items, length)?,
        Function::Argsort => memory::copy_of(bytes_of(&order.argsort(items, length)?)),
    };
    let (buffer, local) =
        (Buffer::from_vec(bytes, dtype.itemsize()), View::c_order(dtype, &view.shape));
    Ok(Array::from_owned_piece(array.session(), distribution.clone(), buffer, local))
}

/// Applies a function to one distributed line after another.
fn map_distributed_lines(array: &Array, dtype: DType, function: Function) -> Result<Array> {
    let (outer, length) = array.shape().split_at(array.shape().len() - 1);
    let count = outer.iter().product();
    let lines = array.reshaped_copy(&[count, length[0]])?;
    let result = Array::filled(array.session(), lines.shape(), Scalar::new(0_u8).cast(dtype));
    for index in 0..count as i64 {
        let line = [KeyItem::Index(index)];
        result.slice(&line)?.assign(&map_line(&lines.slice(&line)?, function)?)?;
    }
    result.reshaped_copy(array.shape())
}
