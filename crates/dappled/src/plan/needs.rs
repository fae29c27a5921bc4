//! What one rank needs of an operand, and from whom: a product over the axes of the view.

use dappled_protocol::exchange::along_axis;
use dappled_protocol::{AxisMap, Held, Runs, Transfer};

use super::operand::{Axis, Own};
use super::product::product;
use super::{Operand, Receive};

/// What one rank needs of an operand.
pub(super) struct Needs<'a> {
    pub operand: &'a Operand,
    rank: u64,
    /// What the rank itself has of the operand.
    pub own: Option<Own>,
    /// Along each axis of the view, what it needs of each that has some.
    pub axes: Vec<Vec<Need>>,
}

/// What a rank needs along one axis from those who stand at one place of the operand's grid.
pub(super) struct Need {
    /// The place.
    pub at: u64,
    /// Which cells it is needed for, counted from the first of the rank's piece of the target.
    /// Where the operand repeats, the one cell that a copy of it has.
    pub wanted: Vec<Runs>,
    /// Which cells of the peer's piece of the view; none where the operand repeats.
    pub found: Vec<Runs>,
}

/// The needs chosen along each axis, by their numbers, and who has their product.
pub(super) struct Parcel {
    pub chosen: Vec<usize>,
    pub peer: u64,
}

impl Need {
    /// How many cells.
    pub fn cells(&self) -> u64 {
        self.wanted.iter().map(Runs::cells).sum()
    }
}

impl<'a> Needs<'a> {
    /// `piece` is what the rank has of the target.
    pub fn new(target: &Operand, piece: &Own, operand: &'a Operand, rank: u64) -> Self {
        let axes = 0..target.axes.len();
        let axes = axes.map(|axis| along(&target.axes[axis], piece, &operand.axes[axis], axis));
        Self { operand, rank, own: operand.own(rank), axes: axes.collect() }
    }

    /// Whom it needs something from, itself included.
    pub fn parcels(&self) -> Vec<Parcel> {
        let lengths: Vec<usize> = self.axes.iter().map(Vec::len).collect();
        let parcel = |chosen: Vec<usize>| {
            let at: Vec<u64> =
                chosen.iter().zip(&self.axes).map(|(&number, axis)| axis[number].at).collect();
            Parcel { peer: self.peer(&at), chosen }
        };
        product(&lengths).map(parcel).collect()
    }

    /// Who stands there. Where all have everything, a rank serves itself; rank 0 serves those that
    /// the operand does not have.
    pub fn peer(&self, at: &[u64]) -> u64 {
        match self.operand.base().held() {
            Held::All if self.rank < self.operand.base().nprocs() => self.rank,
            Held::All => 0,
            _ => self.operand.rank_at(at),
        }
    }

    /// What comes from others, peers in ascending order.
    pub fn receives(&self, number: usize) -> Vec<Receive> {
        let others = self.parcels().into_iter().filter(|parcel| parcel.peer != self.rank);
        let receive = |Parcel { chosen, peer }| {
            let lengths: Vec<u64> = self.chosen(&chosen).map(|(_, need)| need.cells()).collect();
            Receive { peer, operand: number, shape: self.operand.by_base(&lengths, |_| 1) }
        };
        let mut receives: Vec<Receive> = others.map(receive).collect();
        receives.sort_by_key(|receive| receive.peer);
        receives
    }

    /// The needs chosen along each axis.
    pub fn chosen(&self, chosen: &[usize]) -> impl Iterator<Item = (&Axis, &Need)> {
        let needs = self.axes.iter().zip(chosen).map(|(axis, &number)| &axis[number]);
        self.operand.axes.iter().zip(needs)
    }
}

fn along(target: &Axis, piece: &Own, operand: &Axis, axis: usize) -> Vec<Need> {
    if operand.base.is_none() {
        let once = Need { at: 0, wanted: vec![Runs::one(0, 1)], found: Vec::new() };
        return if piece.lengths[axis] > 0 { vec![once] } else { Vec::new() };
    }
    let peers = met(&target.map, piece, &operand.map, axis);
    let need = |(at, transfers): (u64, Vec<Transfer>)| {
        let first = piece.firsts[axis];
        let (wanted, found) =
            transfers.into_iter().map(|both| (counted_from(first, both.own), both.other)).unzip();
        Need { at, wanted, found }
    };
    peers.into_iter().map(need).collect()
}

/// What moves along an axis between a rank, which has `own` of it, and the ranks of another map; the
/// same seen from both sides. Where both maps are the same nothing moves, and all is in order.
pub(super) fn met(
    map: &AxisMap,
    own: &Own,
    other: &AxisMap,
    axis: usize,
) -> Vec<(u64, Vec<Transfer>)> {
    let (at, length) = (own.at[axis], own.lengths[axis]);
    if map != other || length == 0 {
        return along_axis(map, other, at);
    }
    let cells = Runs::one(own.firsts[axis], length);
    vec![(at, vec![Transfer { own: cells.clone(), other: cells }])]
}

fn counted_from(first: u64, runs: Runs) -> Runs {
    match runs {
        Runs::Periodic { start, len, count, period } => {
            Runs::Periodic { start: start - first, len, count, period }
        }
        Runs::Listed(cells) => Runs::Listed(cells.iter().map(|cell| cell - first).collect()),
    }
}
