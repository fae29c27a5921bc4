//! The elements of an operand that one rank needs, by owner: a product over the axes of the view.

use dappled_protocol::exchange::axis_transfers;
use dappled_protocol::{AxisMap, CellRuns, Held, Transfer};

use super::cartesian_product::cartesian_product;
use super::operand::PlanOperand;
use super::operand::{LocalSection, OperandAxis};
use super::step::ReceiveStep;

/// The elements of an operand that one rank needs.
pub(crate) struct OperandNeeds<'a> {
    pub operand: &'a PlanOperand,
    rank: u64,
    /// The elements of the operand that the rank owns.
    pub local: Option<LocalSection>,
    /// Along each axis of the view, the needs by grid coordinate of their owners.
    pub axes: Vec<Vec<AxisNeed>>,
}

/// The cells that a rank needs along one axis from the owners at one grid coordinate.
pub(crate) struct AxisNeed {
    /// The grid coordinate of the owners.
    pub coord: u64,
    /// The cells of the target that they are needed for, counted from the first of the local
    /// section. Along a broadcast axis, the single cell of an assembled copy.
    pub target_cells: Vec<CellRuns>,
    /// The cells of the owner's local section of the view; empty along a broadcast axis.
    pub source_cells: Vec<CellRuns>,
}

/// One need per axis, by index, and the rank that owns their product.
pub(crate) struct NeededBlock {
    pub need_indices: Vec<usize>,
    pub peer: u64,
}

impl AxisNeed {
    /// The number of cells.
    pub fn cells(&self) -> u64 {
        self.target_cells.iter().map(CellRuns::cells).sum()
    }
}

impl<'a> OperandNeeds<'a> {
    /// Computes the needs of a rank that owns `piece` of the target.
    pub fn new(
        target: &PlanOperand,
        piece: &LocalSection,
        operand: &'a PlanOperand,
        rank: u64,
    ) -> Self {
        let axes = 0..target.axes.len();
        let axes =
            axes.map(|axis| axis_needs(&target.axes[axis], piece, &operand.axes[axis], axis));
        Self { operand, rank, local: operand.local_section(rank), axes: axes.collect() }
    }

    /// The blocks that the rank needs, including its own.
    pub fn blocks(&self) -> Vec<NeededBlock> {
        let lengths: Vec<usize> = self.axes.iter().map(Vec::len).collect();
        let block = |need_indices: Vec<usize>| {
            let coords: Vec<u64> = need_indices
                .iter()
                .zip(&self.axes)
                .map(|(&index, axis)| axis[index].coord)
                .collect();
            NeededBlock { peer: self.owner_at(&coords), need_indices }
        };
        cartesian_product(&lengths).map(block).collect()
    }

    /// The rank that provides the elements at these grid coordinates.
    ///
    /// If the operand is replicated, a rank provides them itself; rank 0 provides them for ranks
    /// outside the operand's grid.
    pub fn owner_at(&self, coords: &[u64]) -> u64 {
        match self.operand.base().held() {
            Held::All if self.rank < self.operand.base().nprocs() => self.rank,
            Held::All => 0,
            _ => self.operand.rank_at(coords),
        }
    }

    /// The messages from other ranks, peers in ascending order.
    pub fn receives(&self, operand: usize) -> Vec<ReceiveStep> {
        let others = self.blocks().into_iter().filter(|block| block.peer != self.rank);
        let receive = |NeededBlock { need_indices: chosen, peer }| {
            let lengths: Vec<u64> =
                self.selected_needs(&chosen).map(|(_, need)| need.cells()).collect();
            ReceiveStep { peer, operand, shape: self.operand.per_base_axis(&lengths, |_| 1) }
        };
        let mut receives: Vec<ReceiveStep> = others.map(receive).collect();
        receives.sort_by_key(|receive| receive.peer);
        receives
    }

    /// The needs with these indices, one per axis.
    pub fn selected_needs(
        &self,
        need_indices: &[usize],
    ) -> impl Iterator<Item = (&OperandAxis, &AxisNeed)> {
        let needs = self.axes.iter().zip(need_indices).map(|(axis, &index)| &axis[index]);
        self.operand.axes.iter().zip(needs)
    }
}

/// The needs along one axis.
fn axis_needs(
    target: &OperandAxis,
    piece: &LocalSection,
    operand: &OperandAxis,
    axis: usize,
) -> Vec<AxisNeed> {
    if operand.base.is_none() {
        let single = AxisNeed {
            coord: 0,
            target_cells: vec![CellRuns::contiguous(0, 1)],
            source_cells: Vec::new(),
        };
        return if piece.lengths[axis] > 0 { vec![single] } else { Vec::new() };
    }
    let peers = transfers_along(&target.map, piece, &operand.map, axis);
    let need = |(coord, transfers): (u64, Vec<Transfer>)| {
        let first = piece.first_cells[axis];
        let (target_cells, source_cells) = transfers
            .into_iter()
            .map(|transfer| (rebase_runs(first, transfer.own), transfer.other))
            .unzip();
        AxisNeed { coord, target_cells, source_cells }
    };
    peers.into_iter().map(need).collect()
}

/// The transfers along an axis between the owner of `own` and the ranks of another map.
///
/// Both sides compute the same transfers. If both maps are equal, each cell maps to itself.
pub(crate) fn transfers_along(
    map: &AxisMap,
    section: &LocalSection,
    other: &AxisMap,
    axis: usize,
) -> Vec<(u64, Vec<Transfer>)> {
    let (coord, length) = (section.coords[axis], section.lengths[axis]);
    if map != other || length == 0 {
        return axis_transfers(map, other, coord);
    }
    let cells = CellRuns::contiguous(section.first_cells[axis], length);
    vec![(coord, vec![Transfer { own: cells.clone(), other: cells }])]
}

/// Subtracts the index of the first cell.
fn rebase_runs(first: u64, runs: CellRuns) -> CellRuns {
    match runs {
        CellRuns::Periodic { start, len, count, period } => {
            CellRuns::Periodic { start: start - first, len, count, period }
        }
        CellRuns::Listed(cells) => {
            CellRuns::Listed(cells.iter().map(|cell| cell - first).collect())
        }
    }
}
