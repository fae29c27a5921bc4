//! What moves between two ranks, as a product over the axes.

use std::sync::Arc;

use super::axis::AxisTransfers;
use crate::runs::Transfer;

/// What moves between one rank and one peer: a list of boxes, in an order that both know.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// The other rank; the rank itself for what it keeps.
    pub peer: u64,
    axes: Arc<[AxisTransfers]>,
    /// Per axis, which entry of `axes` the peer is.
    chosen: Vec<usize>,
    /// The cells that stay where they are are no part of a halo; they come first.
    skips_first: bool,
    /// Was it made for the peer?
    turned: bool,
}

impl Parcel {
    /// The boxes, each with one transfer an axis: what moves is their product, in row-major
    /// order.
    pub fn boxes(&self) -> impl Iterator<Item = Vec<Transfer>> + '_ {
        self.numbered_boxes().map(|(_, axes)| axes)
    }

    /// The boxes, each with the places of its transfers among those of its peer along each axis
    /// (see [`along_axis`](super::along_axis)).
    pub fn numbered_boxes(&self) -> impl Iterator<Item = (Vec<usize>, Vec<Transfer>)> + '_ {
        let lists: Vec<&[Transfer]> =
            self.chosen.iter().zip(&*self.axes).map(|(&entry, axis)| &axis[entry].1[..]).collect();
        let lengths = lists.iter().map(|list| list.len()).collect();
        odometer(lengths).skip(usize::from(self.skips_first)).map(move |digits| {
            let transfers = digits.iter().zip(&lists).map(|(&digit, list)| list[digit].clone());
            let axes = match self.turned {
                true => transfers.map(Transfer::turned).collect(),
                false => transfers.collect(),
            };
            (digits, axes)
        })
    }

    /// The number of cells that move.
    pub fn cells(&self) -> u64 {
        self.boxes().map(|cells| cells.iter().map(|axis| axis.own.cells()).product::<u64>()).sum()
    }

    /// The same parcel from the other side.
    pub(super) fn turned(self, peer: u64) -> Self {
        Self { peer, turned: !self.turned, ..self }
    }

    pub(super) fn to(&self, peer: u64) -> Self {
        Self { peer, ..self.clone() }
    }
}

/// The parcels of a product: `rank_of` names the peer at the coordinates chosen.
/// `unmoved` says where the box that does not move is the first, if there is one.
pub(super) fn parcels(
    axes: Vec<AxisTransfers>,
    unmoved: Option<u64>,
    rank_of: impl Fn(&[u64]) -> u64,
) -> impl Iterator<Item = Parcel> {
    let axes: Arc<[AxisTransfers]> = axes.into();
    odometer(axes.iter().map(Vec::len).collect()).map(move |chosen| {
        let coords: Vec<u64> = chosen.iter().zip(&*axes).map(|(&at, axis)| axis[at].0).collect();
        let peer = rank_of(&coords);
        let skips_first = unmoved == Some(peer);
        Parcel { peer, axes: axes.clone(), chosen, skips_first, turned: false }
    })
}

/// All digits below `lengths`, the last changing fastest; one empty list where there are none.
fn odometer(lengths: Vec<usize>) -> impl Iterator<Item = Vec<usize>> {
    let total: usize = lengths.iter().product();
    (0..total).map(move |mut count| {
        let mut digits = vec![0; lengths.len()];
        for (digit, &length) in digits.iter_mut().zip(&lengths).rev() {
            (count, *digit) = (count / length, count % length);
        }
        digits
    })
}
