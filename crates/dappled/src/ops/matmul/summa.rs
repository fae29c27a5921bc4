//! SUMMA (van de Geijn and Watts, 1997).
//!
//! The result is distributed over a grid of ranks. The inner axis is divided into panels; for each a
//! rank receives its rows of the left matrix and its columns of the right one, and adds their
//! product.

use dappled_base::interrupt;
use dappled_protocol::slice::KeyItem;

use super::local::{LocalProducts, Piece};
use super::{ALL, blocks, matrix_shape};
use crate::array::Array;
use crate::config::{MIN_SUMMA_PANEL_WIDTH, SUMMA_PANEL_BYTES};
use crate::error::Result;

/// Multiplies two matrices; the result is in blocks on the grid. Collective.
pub(super) fn multiply(
    products: &mut LocalProducts,
    left: &Array,
    right: &Array,
    grid: [u64; 2],
) -> Result<Array> {
    let session = products.session();
    let ([rows, inner], columns) = (matrix_shape(left), matrix_shape(right)[1]);
    session.check_capacity(products.dtype(), &[rows, columns]);
    let result = blocks(session, &[rows, columns], "bb", Some(&grid));
    let local = result.local_shape(session.fabric().rank());
    let output = products.allocate(&[local[0] as usize, local[1] as usize]);
    let lengths = rows.div_ceil(grid[0] as usize) + columns.div_ceil(grid[1] as usize);
    let width = SUMMA_PANEL_BYTES / products.dtype().itemsize() / lengths;
    let width = width.max(MIN_SUMMA_PANEL_WIDTH);
    for start in (0..inner).step_by(width) {
        interrupt::poll();
        let stop = (start + width).min(inner);
        let panel = KeyItem::Slice(Some(start as i64), Some(stop as i64), None);
        let left = left_panel(&left.slice(&[ALL, KeyItem::NewAxis, panel])?, grid)?;
        let right = right_panel(&right.slice(&[KeyItem::NewAxis, panel, ALL])?, grid)?;
        let lengths = [local[0] as usize, stop - start, local[1] as usize];
        products.multiply_into(lengths, &left, &right, &output, start > 0)?;
    }
    Ok(Array::from_owned_piece(session, result, output.0, output.1))
}

/// This rank's rows of a panel of the left matrix. Collective.
fn left_panel(panel: &Array, [rows, columns]: [u64; 2]) -> Result<Piece> {
    let shape = [panel.shape()[0], columns as usize, panel.shape()[2]];
    broadcast_part(panel, &shape, "bbn", [rows, columns, 1])
}

/// This rank's columns of a panel of the right matrix. Collective.
fn right_panel(panel: &Array, [rows, columns]: [u64; 2]) -> Result<Piece> {
    let shape = [rows as usize, panel.shape()[1], panel.shape()[2]];
    broadcast_part(panel, &shape, "bnb", [rows, 1, columns])
}

/// This rank's part of a panel that is broadcast along an axis of the grid. Collective.
fn broadcast_part(panel: &Array, shape: &[usize], kinds: &str, grid: [u64; 3]) -> Result<Piece> {
    let target = blocks(panel.session(), shape, kinds, Some(&grid));
    let everywhere = panel.broadcast_to(shape).expect("the new axis has length 1");
    everywhere.contiguous_local_part(&target)
}
