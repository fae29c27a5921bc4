//! What one rank sends of an operand, and to whom: the other side of what they need.

use dappled_protocol::exchange::along_axis;
use dappled_protocol::{Held, Runs, Transfer};

use super::needs::met;
use super::operand::{Axis, Own};
use super::product::product;
use super::{Operand, Send};

/// What a rank sends along one axis to those who stand at one place of the target's grid.
struct Wish {
    at: u64,
    /// Cells of the rank's piece of the operand's base.
    cells: Runs,
}

/// What a rank sends of an operand, peers in ascending order.
pub(super) fn sends(target: &Operand, operand: &Operand, number: usize, rank: u64) -> Vec<Send> {
    let Some(own) = operand.own(rank) else { return Vec::new() };
    let mut found = match operand.base().held() {
        Held::All => served(target, operand, &own, rank),
        _ => asked(target, operand, &own, rank),
    };
    found.sort_by_key(|&(peer, _)| peer);
    let send = |(peer, along): (u64, Vec<Runs>)| Send {
        peer,
        operand: number,
        cells: operand.piece_runs(&along),
    };
    found.into_iter().map(send).collect()
}

/// To whom, and which cells along each axis of the view.
type Found = Vec<(u64, Vec<Runs>)>;

fn asked(target: &Operand, operand: &Operand, own: &Own, rank: u64) -> Found {
    let wishes: Vec<Vec<Wish>> =
        (0..own.at.len()).map(|axis| wishes(target, operand, own, axis)).collect();
    let lengths: Vec<usize> = wishes.iter().map(Vec::len).collect();
    let mut found = Vec::new();
    for chosen in product(&lengths) {
        let chosen = || chosen.iter().zip(&wishes).map(|(&number, axis)| &axis[number]);
        let at: Vec<u64> = chosen().map(|wish| wish.at).collect();
        let peers = match target.base().held() {
            Held::All => 0..target.base().nprocs(),
            _ => target.rank_at(&at)..target.rank_at(&at) + 1,
        };
        let others = peers.filter(|&peer| peer != rank);
        found.extend(others.map(|peer| (peer, chosen().map(|wish| wish.cells.clone()).collect())));
    }
    found
}

fn wishes(target: &Operand, operand: &Operand, own: &Own, axis: usize) -> Vec<Wish> {
    let (target, operand) = (&target.axes[axis], &operand.axes[axis]);
    if operand.base.is_none() {
        let wanting = (0..target.map.grid()).filter(|&at| target.map.owned(at) > 0);
        return wanting.map(|at| Wish { at, cells: Runs::one(0, 1) }).collect();
    }
    let wish = |(at, transfers): (u64, Vec<Transfer>)| {
        let cells = transfers.into_iter().map(|both| both.own).collect();
        Wish { at, cells: placed(operand, own, axis, cells) }
    };
    met(&operand.map, own, &target.map, axis).into_iter().map(wish).collect()
}

fn placed(operand: &Axis, own: &Own, axis: usize, cells: Vec<Runs>) -> Runs {
    own.places[axis].of(&cells, operand.is_backwards())
}

/// Where all ranks have everything, rank 0 sends to those ranks that the operand does not have.
fn served(target: &Operand, operand: &Operand, own: &Own, rank: u64) -> Found {
    let peers = match rank {
        0 => operand.base().nprocs()..target.base().nprocs(),
        _ => 0..0,
    };
    let served = |peer| Some((peer, needed(target, operand, own, peer)?));
    peers.filter_map(served).collect()
}

/// What a rank that the operand does not have needs of it along each axis; None where nothing.
fn needed(target: &Operand, operand: &Operand, own: &Own, peer: u64) -> Option<Vec<Runs>> {
    let stands = target.stands(peer)?;
    let along = |axis: usize| {
        let (map, operand) = (&target.axes[axis].map, &operand.axes[axis]);
        if operand.base.is_none() {
            return (map.owned(stands[axis]) > 0).then(|| Runs::one(0, 1));
        }
        let (_, transfers) = along_axis(map, &operand.map, stands[axis]).into_iter().next()?;
        let cells = transfers.into_iter().map(|both| both.other).collect();
        Some(placed(operand, own, axis, cells))
    };
    (0..stands.len()).map(along).collect()
}
