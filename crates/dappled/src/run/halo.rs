//! Brings the padding of an array up to date.

use dappled_fabric::{Fabric, Tag, keep};
use dappled_protocol::exchange::{Parcel, halo_receives, halo_sends};
use dappled_protocol::{Distribution, Runs};

use super::copy::{copy_cells, packed};
use super::piece::c_order;
use super::{Piece, RunError};
use crate::plan::CellCopy;

/// Fills the padding of this rank's piece from those who own the elements. Collective.
pub fn update_padding(
    fabric: &dyn Fabric,
    tag: Tag,
    distribution: &Distribution,
    piece: &Piece,
) -> Result<(), RunError> {
    let item = piece.view.dtype.itemsize();
    let sends = halo_sends(distribution, fabric.rank());
    let sends = sends.iter().map(|parcel| (parcel.peer, bytes(parcel, piece))).collect();
    let receives = halo_receives(distribution, fabric.rank());
    let awaited = receives.iter().map(|parcel| (parcel.peer, parcel.cells() as usize * item));
    let messages = fabric.exchange(tag, sends, awaited.collect())?;
    let mut memory = piece.buffer.write()?;
    for (parcel, message) in receives.iter().zip(&messages) {
        fill(parcel, message, (&mut memory, piece));
    }
    messages.into_iter().for_each(keep);
    Ok(())
}

/// What goes to one peer: box by box, in the order that both know.
fn bytes(parcel: &Parcel, piece: &Piece) -> Vec<u8> {
    let cells = |axes: Vec<_>| axes.into_iter().map(|axis: dappled_protocol::Transfer| axis.own);
    let mut boxes = parcel.boxes().map(|axes| packed(piece, &cells(axes).collect::<Vec<Runs>>()));
    let mut bytes = boxes.next().unwrap_or_default();
    boxes.for_each(|more| bytes.extend(more));
    bytes
}

fn fill(parcel: &Parcel, mut message: &[u8], (memory, piece): (&mut [u8], &Piece)) {
    for axes in parcel.boxes() {
        let to: Vec<Runs> = axes.into_iter().map(|axis| axis.own).collect();
        let shape: Vec<u64> = to.iter().map(Runs::cells).collect();
        let view = c_order(piece.view.dtype, &shape);
        let copy = CellCopy {
            from: shape.iter().map(|&count| Runs::one(0, count)).collect(),
            axes: (0..to.len()).map(Some).collect(),
            to,
        };
        copy_cells((message, &view), (memory, &piece.view), &copy);
        message = &message[view.len() * view.dtype.itemsize()..];
    }
}
