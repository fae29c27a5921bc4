//! Parcels: the cells exchanged between two ranks, as a product over the axes.

use std::sync::Arc;

use super::axis::AxisTransfers;
use crate::runs::Transfer;

/// The cells exchanged between a rank and one peer: a list of boxes, in an order known to both.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// The other rank; the rank itself for cells that it keeps.
    pub peer: u64,
    axes: Arc<[AxisTransfers]>,
    /// For each axis, the index of the peer in `axes`.
    entries: Vec<usize>,
    /// Whether the first box, of cells that do not move, is omitted.
    skips_first: bool,
    /// Whether the parcel was computed for the peer.
    is_reversed: bool,
}

impl Parcel {
    /// Iterates over the boxes, each with one transfer per axis. A box is the product of its
    /// transfers in row-major order.
    pub fn boxes(&self) -> impl Iterator<Item = Vec<Transfer>> + '_ {
        self.numbered_boxes().map(|(_, axes)| axes)
    }

    /// Iterates over the boxes, each with the positions of its transfers in the lists of its peer
    /// along each axis.
    pub fn numbered_boxes(&self) -> impl Iterator<Item = (Vec<usize>, Vec<Transfer>)> + '_ {
        let lists: Vec<&[Transfer]> =
            self.entries.iter().zip(&*self.axes).map(|(&entry, axis)| &axis[entry].1[..]).collect();
        let lengths = lists.iter().map(|list| list.len()).collect();
        multi_indices(lengths).skip(usize::from(self.skips_first)).map(move |digits| {
            let transfers = digits.iter().zip(&lists).map(|(&digit, list)| list[digit].clone());
            let axes = match self.is_reversed {
                true => transfers.map(Transfer::reversed).collect(),
                false => transfers.collect(),
            };
            (digits, axes)
        })
    }

    /// Returns the number of cells.
    pub fn cells(&self) -> u64 {
        self.boxes().map(|cells| cells.iter().map(|axis| axis.own.cells()).product::<u64>()).sum()
    }

    /// Returns the parcel as the peer sees it.
    pub(super) fn reversed(self, peer: u64) -> Self {
        Self { peer, is_reversed: !self.is_reversed, ..self }
    }

    pub(super) fn with_peer(&self, peer: u64) -> Self {
        Self { peer, ..self.clone() }
    }
}

/// Yields the parcels of a product; `rank_of` returns the peer at given coordinates. `unmoved` is
/// the peer whose first box consists of cells that do not move, if any.
pub(super) fn parcels(
    axes: Vec<AxisTransfers>,
    unmoved: Option<u64>,
    rank_of: impl Fn(&[u64]) -> u64,
) -> impl Iterator<Item = Parcel> {
    let axes: Arc<[AxisTransfers]> = axes.into();
    multi_indices(axes.iter().map(Vec::len).collect()).map(move |chosen| {
        let coords: Vec<u64> = chosen.iter().zip(&*axes).map(|(&at, axis)| axis[at].0).collect();
        let peer = rank_of(&coords);
        let skips_first = unmoved == Some(peer);
        Parcel { peer, axes: axes.clone(), entries: chosen, skips_first, is_reversed: false }
    })
}

/// Iterates over all multi-indices below `lengths`, the last varying fastest. Without axes there is
/// one empty multi-index.
fn multi_indices(lengths: Vec<usize>) -> impl Iterator<Item = Vec<usize>> {
    let total: usize = lengths.iter().product();
    (0..total).map(move |mut count| {
        let mut digits = vec![0; lengths.len()];
        for (digit, &length) in digits.iter_mut().zip(&lengths).rev() {
            (count, *digit) = (count / length, count % length);
        }
        digits
    })
}
