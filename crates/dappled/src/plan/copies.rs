//! Operands that are moved before they are read, and targets that are scattered when they are done.

use std::collections::HashMap;

use dappled_protocol::Runs;

use super::needs::{Needs, Parcel};
use super::operand::Own;
use super::places::chained;
use super::{CellCopy, Move, Operand, Origin, Part};

/// Which message has what: by operand and peer.
pub(super) type Messages = HashMap<(usize, u64), usize>;

/// An operand, brought into one piece of memory laid out as the rank's piece of the target.
pub(super) fn moved(
    needs: &Needs<'_>,
    number: usize,
    rank: u64,
    lengths: &[u64],
    messages: &Messages,
) -> Move {
    let axes = needs.operand.axes.iter().zip(lengths);
    let shape = axes.map(|(axis, &length)| axis.base.map_or(1, |_| length)).collect();
    let part = |parcel: Parcel| {
        let origin = match parcel.peer == rank {
            true => Origin::Piece,
            false => Origin::Message(messages[&(number, parcel.peer)]),
        };
        Part { origin, copy: copy(needs, origin, &parcel.chosen) }
    };
    Move { operand: number, shape, parts: needs.parcels().into_iter().map(part).collect() }
}

/// From a piece or a message, which both have the axes of the base, to the axes of the view.
fn copy(needs: &Needs<'_>, origin: Origin, chosen: &[usize]) -> CellCopy {
    let to = needs.chosen(chosen).map(|(axis, need)| match &need.wanted[..] {
        [one] if !axis.is_backwards() => one.clone(),
        several => chained(several, axis.is_backwards(), |cell| cell),
    });
    let to: Vec<Runs> = to.collect();
    let from = match (origin, &needs.own) {
        (Origin::Piece, Some(own)) => {
            let along = needs.chosen(chosen).zip(&own.places);
            let along = along.map(|((axis, need), places)| match axis.base {
                Some(_) => places.of(&need.found, axis.is_backwards()),
                None => Runs::one(0, 1),
            });
            needs.operand.piece_runs(&along.collect::<Vec<_>>())
        }
        _ => {
            let along: Vec<Runs> = to.iter().map(|runs| Runs::one(0, runs.cells())).collect();
            needs.operand.by_base(&along, |_| Runs::one(0, 1))
        }
    };
    let axes = needs.operand.axes.iter().map(|axis| axis.base.map(|(axis, _)| axis)).collect();
    CellCopy { from, to, axes }
}

/// From memory laid out as the rank's piece of the target's view to its piece of the base.
pub(super) fn scattered(target: &Operand, piece: &Own) -> CellCopy {
    let places = piece.places.iter().zip(piece.cells());
    let to: Vec<Runs> = places.map(|(places, cells)| places.of(&[cells], false)).collect();
    let axes: Vec<Option<usize>> = (0..to.len()).map(Some).collect();
    CellCopy {
        from: piece.lengths.iter().map(|&length| Runs::one(0, length)).collect(),
        to: target.piece_runs(&to),
        axes: target.by_base(&axes, |_| None),
    }
}
