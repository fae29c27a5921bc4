//! Halo exchange: updates the padding of an array.

use dappled_base::memory;
use dappled_fabric::{Fabric, Payload, Tag, keep};
use dappled_protocol::exchange::{Parcel, halo_receives, halo_sends};
use dappled_protocol::{CellRuns, Distribution};

use super::RunError;
use super::copy::{copy_cells, pack_cells, share_or_pack};
use super::piece::LocalPiece;
use super::piece::c_order_view;
use crate::plan::step::CellCopy;

/// The cells of this rank's local piece to send to and to receive from each peer.
pub struct HaloExchange {
    sends: Vec<(u64, Vec<Vec<CellRuns>>)>,
    receives: Vec<HaloReceive>,
}

/// The padding that one peer provides: box by box, in an order that both ranks derive.
struct HaloReceive {
    peer: u64,
    cells: u64,
    boxes: Vec<CellCopy>,
}

impl HaloExchange {
    /// Computes the halo exchange of a distribution for one rank.
    pub fn new(distribution: &Distribution, rank: u64) -> Self {
        let sends = halo_sends(distribution, rank);
        let receives = halo_receives(distribution, rank);
        Self {
            sends: sends.iter().map(|parcel| (parcel.peer, own_cells(parcel).collect())).collect(),
            receives: receives.iter().map(HaloReceive::new).collect(),
        }
    }

    /// Updates the padding of this rank's local piece from the owners of the elements. Collective.
    pub fn update(
        &self,
        fabric: &dyn Fabric,
        tag: Tag,
        piece: &LocalPiece,
    ) -> Result<(), RunError> {
        let itemsize = piece.view.dtype.itemsize();
        let sends = self.sends.iter().map(|(peer, boxes)| (*peer, pack_boxes(boxes, piece)));
        let length = |receive: &HaloReceive| Some(receive.cells as usize * itemsize);
        let awaited = self.receives.iter().map(|receive| (receive.peer, length(receive)));
        let messages = fabric.start_exchange(tag, sends.collect(), awaited.collect()).wait()?;
        let mut memory = piece.buffer.write()?;
        for (receive, message) in self.receives.iter().zip(&messages) {
            receive.fill(message, (&mut memory, piece));
        }
        messages.into_iter().for_each(keep);
        Ok(())
    }
}

fn own_cells(parcel: &Parcel) -> impl Iterator<Item = Vec<CellRuns>> {
    parcel.boxes().map(|axes| axes.into_iter().map(|axis| axis.own).collect())
}

/// The message to one peer.
fn pack_boxes(boxes: &[Vec<CellRuns>], piece: &LocalPiece) -> Payload {
    match boxes {
        [cells] => share_or_pack(piece, cells),
        _ => {
            let mut bytes = Vec::new();
            boxes.iter().for_each(|cells| memory::append(&mut bytes, &pack_cells(piece, cells)));
            bytes.into()
        }
    }
}

impl HaloReceive {
    fn new(parcel: &Parcel) -> Self {
        let copy = |to: Vec<CellRuns>| CellCopy {
            from: to.iter().map(|cells| CellRuns::contiguous(0, cells.cells())).collect(),
            axes: (0..to.len()).map(Some).collect(),
            to,
        };
        let boxes = own_cells(parcel).map(copy).collect();
        Self { peer: parcel.peer, cells: parcel.cells(), boxes }
    }

    fn fill(&self, mut message: &[u8], (memory, piece): (&mut [u8], &LocalPiece)) {
        for copy in &self.boxes {
            let shape: Vec<u64> = copy.to.iter().map(CellRuns::cells).collect();
            let view = c_order_view(piece.view.dtype, &shape);
            copy_cells((message, &view), (memory, &piece.view), copy);
            message = &message[view.len() * view.dtype.itemsize()..];
        }
    }
}
