//! Products without panels: whole matrices on each rank, or a part of the inner axis.

use dappled_kernels::{DType, ReduceOp};
use dappled_protocol::slice::KeyItem;

use super::local::{LocalProducts, replicated_piece};
use super::{blocks, matrix_shape, multiply_matrices};
use crate::array::Array;
use crate::error::Result;
use crate::graph::reduce_request::ReduceRequest;

/// Both operands with all leading axes.
fn broadcast_stacks(left: &Array, right: &Array, batch: &[usize]) -> [Array; 2] {
    [left, right].map(|array| match batch.is_empty() {
        true => array.clone(),
        false => array
            .broadcast_to(&[batch, &matrix_shape(array)].concat())
            .expect("the leading axes broadcast"),
    })
}

/// The shape of a stack of products.
fn product_shape(batch: &[usize], left: &Array, right: &Array) -> Vec<usize> {
    [batch, &[matrix_shape(left)[0], matrix_shape(right)[1]]].concat()
}

/// Multiplies replicated stacks. Not collective.
pub(super) fn multiply_replicated(
    products: &mut LocalProducts,
    left: &Array,
    right: &Array,
    batch: &[usize],
) -> Result<Array> {
    let [left, right] = broadcast_stacks(left, right, batch);
    let (left, right) = (replicated_piece(&left)?, replicated_piece(&right)?);
    let (buffer, view) = products.multiply_pieces(&left, &right)?;
    Ok(Array::replicated(products.session(), view, buffer))
}

/// Multiplies stacks of which every rank has whole matrices. Collective.
pub(super) fn multiply_stacks(
    products: &mut LocalProducts,
    left: &Array,
    right: &Array,
    batch: &[usize],
) -> Result<Array> {
    let session = products.session();
    let kinds = format!("{}nn", "b".repeat(batch.len()));
    let in_blocks = |shape: &[usize]| blocks(session, shape, &kinds, None);
    let [left, right] = broadcast_stacks(left, right, batch);
    let shape = product_shape(batch, &left, &right);
    session.check_capacity(products.dtype(), &shape);
    let left = left.contiguous_local_part(&in_blocks(left.shape()))?;
    let right = right.contiguous_local_part(&in_blocks(right.shape()))?;
    let (buffer, view) = products.multiply_pieces(&left, &right)?;
    Ok(Array::from_owned_piece(session, in_blocks(&shape), buffer, view))
}

/// Multiplies few matrices, each over all ranks. Collective.
pub(super) fn multiply_one_by_one(
    products: &mut LocalProducts,
    left: &Array,
    right: &Array,
    batch: &[usize],
) -> Result<Array> {
    let [left, right] = broadcast_stacks(left, right, batch);
    let shape = product_shape(batch, &left, &right);
    let zero = dappled_kernels::Scalar::new(0u8).cast(products.dtype());
    let result = Array::filled(products.session(), &shape, zero);
    for at in 0..batch.iter().product::<usize>() {
        let index = unravel(at, batch);
        let product = multiply_matrices(products, &left.slice(&index)?, &right.slice(&index)?)?;
        result.slice(&index)?.assign(&product)?;
    }
    Ok(result)
}

/// The index of an element in C order.
fn unravel(mut at: usize, shape: &[usize]) -> Vec<KeyItem> {
    let mut index: Vec<KeyItem> = Vec::with_capacity(shape.len());
    for &length in shape.iter().rev() {
        index.push(KeyItem::Index((at % length) as i64));
        at /= length;
    }
    index.reverse();
    index
}

/// Multiplies two matrices whose inner axis is divided over ranks, and sums. Collective.
pub(super) fn multiply_inner_split(
    products: &mut LocalProducts,
    left: &Array,
    right: &Array,
) -> Result<Array> {
    let (session, dtype) = (products.session(), products.dtype());
    let left = left.contiguous_local_part(&blocks(session, left.shape(), "nb", None))?;
    let right = right.contiguous_local_part(&blocks(session, right.shape(), "bn", None))?;
    let (buffer, mut view) = products.multiply_pieces(&left, &right)?;
    let shape = [session.fabric().size() as usize, view.shape[0], view.shape[1]];
    view = dappled_kernels::View::c_order(dtype, &[1, shape[1], shape[2]]);
    let parts =
        Array::from_owned_piece(session, blocks(session, &shape, "bnn", None), buffer, view);
    let fold = if dtype == DType::Bool { ReduceOp::Any } else { ReduceOp::Add };
    let request = ReduceRequest { fold, axes: vec![0], dtype, initial: None, reports_flags: false };
    Ok(parts.reduce(&request)?.without_axes(&[0]))
}
