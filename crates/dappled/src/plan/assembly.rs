//! Operands that are assembled before they are read, and targets that are scattered at the end.

use std::collections::HashMap;

use dappled_protocol::CellRuns;

use super::local_cells::concat_runs;
use super::needs::{NeededBlock, OperandNeeds};
use super::operand::LocalSection;
use super::operand::PlanOperand;
use super::step::{AssembleStep, AssemblyPart, AssemblySource, CellCopy};

/// The index of each message in [`super::Plan::receives`], by operand and peer.
pub(crate) type MessageIndex = HashMap<(usize, u64), usize>;

/// The step that assembles an operand in a buffer with the shape of the local section of the
/// target.
pub(crate) fn assemble_step(
    needs: &OperandNeeds<'_>,
    operand: usize,
    rank: u64,
    lengths: &[u64],
    message_index: &MessageIndex,
) -> AssembleStep {
    let axes = needs.operand.axes.iter().zip(lengths);
    let shape = axes.map(|(axis, &length)| axis.base.map_or(1, |_| length)).collect();
    let part = |block: NeededBlock| {
        let source = match block.peer == rank {
            true => AssemblySource::LocalPiece,
            false => AssemblySource::Message(message_index[&(operand, block.peer)]),
        };
        AssemblyPart { source, copy: assembly_copy(needs, source, &block.need_indices) }
    };
    AssembleStep { operand, shape, parts: needs.blocks().into_iter().map(part).collect() }
}

/// The copy from a local piece or a message, both with the axes of the base, to the axes of the
/// view.
fn assembly_copy(
    needs: &OperandNeeds<'_>,
    source: AssemblySource,
    need_indices: &[usize],
) -> CellCopy {
    let to = needs.selected_needs(need_indices).map(|(axis, need)| match &need.target_cells[..] {
        [one] if !axis.is_backwards() => one.clone(),
        several => concat_runs(several, axis.is_backwards(), |cell| cell),
    });
    let to: Vec<CellRuns> = to.collect();
    let from = match (source, &needs.local) {
        (AssemblySource::LocalPiece, Some(section)) => {
            let along = needs.selected_needs(need_indices).zip(&section.local_cells);
            let along = along.map(|((axis, need), positions)| match axis.base {
                Some(_) => positions.map_runs(&need.source_cells, axis.is_backwards()),
                None => CellRuns::contiguous(0, 1),
            });
            needs.operand.piece_runs(&along.collect::<Vec<_>>())
        }
        _ => {
            let along: Vec<CellRuns> =
                to.iter().map(|runs| CellRuns::contiguous(0, runs.cells())).collect();
            needs.operand.per_base_axis(&along, |_| CellRuns::contiguous(0, 1))
        }
    };
    let axes = needs.operand.axes.iter().map(|axis| axis.base.map(|(axis, _)| axis)).collect();
    CellCopy { from, to, axes }
}

/// The copy from a buffer in the shape of the local section of the target to the local piece.
pub(crate) fn scatter_copy(target: &PlanOperand, piece: &LocalSection) -> CellCopy {
    let positions = piece.local_cells.iter().zip(piece.cells());
    let to: Vec<CellRuns> =
        positions.map(|(positions, cells)| positions.map_runs(&[cells], false)).collect();
    let axes: Vec<Option<usize>> = (0..to.len()).map(Some).collect();
    CellCopy {
        from: piece.lengths.iter().map(|&length| CellRuns::contiguous(0, length)).collect(),
        to: target.piece_runs(&to),
        axes: target.per_base_axis(&axes, |_| None),
    }
}
