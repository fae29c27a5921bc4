//! The messages that one rank sends of an operand: the counterpart of its peers' needs.

use dappled_protocol::exchange::axis_transfers;
use dappled_protocol::{CellRuns, Held, Transfer};

use super::cartesian_product::cartesian_product;
use super::needs::transfers_along;
use super::operand::PlanOperand;
use super::operand::{LocalSection, OperandAxis};
use super::step::SendStep;

/// The cells that a rank sends along one axis to the ranks at one grid coordinate of the target.
struct AxisSend {
    coord: u64,
    /// Cells of the local piece of the operand's base.
    cells: CellRuns,
}

/// The messages that a rank sends of an operand, peers in ascending order.
pub(crate) fn plan_sends(
    target: &PlanOperand,
    operand: &PlanOperand,
    index: usize,
    rank: u64,
) -> Vec<SendStep> {
    let Some(section) = operand.local_section(rank) else { return Vec::new() };
    let mut by_peer = match operand.base().held() {
        Held::All => sends_from_replicas(target, operand, &section, rank),
        _ => sends_from_grid(target, operand, &section, rank),
    };
    by_peer.sort_by_key(|&(peer, _)| peer);
    let send = |(peer, along): (u64, Vec<CellRuns>)| SendStep {
        peer,
        operand: index,
        cells: operand.piece_runs(&along),
    };
    by_peer.into_iter().map(send).collect()
}

/// The peers, and the cells along each axis of the view.
type PeerCells = Vec<(u64, Vec<CellRuns>)>;

/// The sends of a distributed operand.
fn sends_from_grid(
    target: &PlanOperand,
    operand: &PlanOperand,
    section: &LocalSection,
    rank: u64,
) -> PeerCells {
    let sends: Vec<Vec<AxisSend>> =
        (0..section.coords.len()).map(|axis| axis_sends(target, operand, section, axis)).collect();
    let lengths: Vec<usize> = sends.iter().map(Vec::len).collect();
    let mut by_peer = Vec::new();
    for chosen in cartesian_product(&lengths) {
        let chosen = || chosen.iter().zip(&sends).map(|(&index, axis)| &axis[index]);
        let coords: Vec<u64> = chosen().map(|send| send.coord).collect();
        let peers = match target.base().held() {
            Held::All => 0..target.base().nprocs(),
            _ => target.rank_at(&coords)..target.rank_at(&coords) + 1,
        };
        let others = peers.filter(|&peer| peer != rank);
        by_peer
            .extend(others.map(|peer| (peer, chosen().map(|send| send.cells.clone()).collect())));
    }
    by_peer
}

/// The sends along one axis.
fn axis_sends(
    target: &PlanOperand,
    operand: &PlanOperand,
    section: &LocalSection,
    axis: usize,
) -> Vec<AxisSend> {
    let (target, operand) = (&target.axes[axis], &operand.axes[axis]);
    if operand.base.is_none() {
        let receivers = (0..target.map.grid()).filter(|&coord| target.map.owned(coord) > 0);
        return receivers
            .map(|coord| AxisSend { coord, cells: CellRuns::contiguous(0, 1) })
            .collect();
    }
    let send = |(coord, transfers): (u64, Vec<Transfer>)| {
        let cells = transfers.into_iter().map(|transfer| transfer.own).collect();
        AxisSend { coord, cells: base_cells(operand, section, axis, cells) }
    };
    transfers_along(&operand.map, section, &target.map, axis).into_iter().map(send).collect()
}

/// Maps cells of the local section of a view to cells of the local piece of the base.
fn base_cells(
    operand: &OperandAxis,
    section: &LocalSection,
    axis: usize,
    cells: Vec<CellRuns>,
) -> CellRuns {
    section.local_cells[axis].map_runs(&cells, operand.is_backwards())
}

/// The sends of a replicated operand: rank 0 sends to ranks outside the operand's grid.
fn sends_from_replicas(
    target: &PlanOperand,
    operand: &PlanOperand,
    section: &LocalSection,
    rank: u64,
) -> PeerCells {
    let peers = match rank {
        0 => operand.base().nprocs()..target.base().nprocs(),
        _ => 0..0,
    };
    let send = |peer| Some((peer, cells_needed_by(target, operand, section, peer)?));
    peers.filter_map(send).collect()
}

/// The cells that a rank outside the operand's grid needs along each axis; `None` if it needs none.
fn cells_needed_by(
    target: &PlanOperand,
    operand: &PlanOperand,
    section: &LocalSection,
    peer: u64,
) -> Option<Vec<CellRuns>> {
    let coords = target.grid_coords(peer)?;
    let along = |axis: usize| {
        let (map, operand) = (&target.axes[axis].map, &operand.axes[axis]);
        if operand.base.is_none() {
            return (map.owned(coords[axis]) > 0).then(|| CellRuns::contiguous(0, 1));
        }
        let (_, transfers) = axis_transfers(map, &operand.map, coords[axis]).into_iter().next()?;
        let cells = transfers.into_iter().map(|transfer| transfer.other).collect();
        Some(base_cells(operand, section, axis, cells))
    };
    (0..coords.len()).map(along).collect()
}
