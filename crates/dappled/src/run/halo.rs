//! Brings the padding of an array up to date.

use dappled_base::memory;
use dappled_fabric::{Fabric, Payload, Tag, keep};
use dappled_protocol::exchange::{Parcel, halo_receives, halo_sends};
use dappled_protocol::{Distribution, Runs};

use super::copy::{copy_cells, kept, packed};
use super::piece::c_order;
use super::{Piece, RunError};
use crate::plan::CellCopy;

/// Which cells of this rank's piece go to whom, and which come from whom.
pub struct Halo {
    sends: Vec<(u64, Vec<Vec<Runs>>)>,
    receives: Vec<Filled>,
}

/// The padding that one peer fills: box by box, in the order that both know.
struct Filled {
    peer: u64,
    cells: u64,
    boxes: Vec<CellCopy>,
}

impl Halo {
    /// That of an array, on this rank.
    pub fn new(distribution: &Distribution, rank: u64) -> Self {
        let sends = halo_sends(distribution, rank);
        let receives = halo_receives(distribution, rank);
        Self {
            sends: sends.iter().map(|parcel| (parcel.peer, own_cells(parcel).collect())).collect(),
            receives: receives.iter().map(Filled::new).collect(),
        }
    }

    /// Fills the padding of this rank's piece from those who own the elements. Collective.
    pub fn update(&self, fabric: &dyn Fabric, tag: Tag, piece: &Piece) -> Result<(), RunError> {
        let item = piece.view.dtype.itemsize();
        let sends = self.sends.iter().map(|(peer, boxes)| (*peer, bytes(boxes, piece)));
        let length = |from: &Filled| Some(from.cells as usize * item);
        let awaited = self.receives.iter().map(|from| (from.peer, length(from)));
        let messages = fabric.start(tag, sends.collect(), awaited.collect()).wait()?;
        let mut memory = piece.buffer.write()?;
        for (from, message) in self.receives.iter().zip(&messages) {
            from.fill(message, (&mut memory, piece));
        }
        messages.into_iter().for_each(keep);
        Ok(())
    }
}

fn own_cells(parcel: &Parcel) -> impl Iterator<Item = Vec<Runs>> {
    parcel.boxes().map(|axes| axes.into_iter().map(|axis| axis.own).collect())
}

/// What goes to one peer.
fn bytes(boxes: &[Vec<Runs>], piece: &Piece) -> Payload {
    match boxes {
        [cells] => kept(piece, cells),
        _ => {
            let mut all = Vec::new();
            boxes.iter().for_each(|cells| memory::append(&mut all, &packed(piece, cells)));
            all.into()
        }
    }
}

impl Filled {
    fn new(parcel: &Parcel) -> Self {
        let copy = |to: Vec<Runs>| CellCopy {
            from: to.iter().map(|cells| Runs::one(0, cells.cells())).collect(),
            axes: (0..to.len()).map(Some).collect(),
            to,
        };
        let boxes = own_cells(parcel).map(copy).collect();
        Self { peer: parcel.peer, cells: parcel.cells(), boxes }
    }

    fn fill(&self, mut message: &[u8], (memory, piece): (&mut [u8], &Piece)) {
        for copy in &self.boxes {
            let shape: Vec<u64> = copy.to.iter().map(Runs::cells).collect();
            let view = c_order(piece.view.dtype, &shape);
            copy_cells((message, &view), (memory, &piece.view), copy);
            message = &message[view.len() * view.dtype.itemsize()..];
        }
    }
}
