//! One axis of the target, cut so that along each cut every operand lies in one place.

use dappled_protocol::exchange::along_axis;
use dappled_protocol::{AxisMap, Runs, Transfer};

/// Cells of the target's piece along an axis, and where an operand's cells for them lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The first cell of the target, and how many.
    pub start: u64,
    pub len: u64,
    /// Who has them, by its coordinate on the operand's grid axis.
    pub peer: u64,
    /// In which of the transfers from that peer they are, and how many cells of it come before.
    pub transfer: usize,
    pub before: u64,
    /// Where they lie in the peer's piece of the view, and how far the next one is.
    pub cell: u64,
    pub step: u64,
}

/// More stretches than this along one axis are not worth cutting: the operand is moved first.
const MOST: u64 = 64;

/// The stretches of one operand, in the order of the target; None where they are too many.
pub(super) fn stretches(target: &AxisMap, view: &AxisMap, at: u64) -> Option<Vec<Stretch>> {
    let mut found = Vec::new();
    for (peer, transfers) in along_axis(target, view, at) {
        for (number, transfer) in transfers.iter().enumerate() {
            found.extend(cut(transfer, peer, number)?);
        }
    }
    found.sort_unstable_by_key(|stretch| stretch.start);
    Some(found)
}

/// A transfer as stretches whose target cells are neighbours.
fn cut(transfer: &Transfer, peer: u64, number: usize) -> Option<Vec<Stretch>> {
    let stretch = |start, len, before, cell, step| Stretch {
        start,
        len,
        peer,
        transfer: number,
        before,
        cell,
        step,
    };
    let cells = transfer.own.cells();
    if let (Some(own), Some(other)) = (transfer.own.span(), transfer.other.span()) {
        let one = |index| {
            stretch(own.start + index * own.step, 1, index, other.start + index * other.step, 1)
        };
        return match own.step {
            1 => Some(vec![stretch(own.start, cells, 0, other.start, other.step)]),
            _ => (cells <= MOST).then(|| (0..cells).map(one).collect()),
        };
    }
    // Of two sides that are no spans, both have runs of the same shape, or one is a list.
    let (
        Runs::Periodic { start, len, count, period },
        Runs::Periodic { start: cell, period: other, .. },
    ) = (&transfer.own, &transfer.other)
    else {
        return None;
    };
    let run = |index| stretch(start + index * period, *len, index * len, cell + index * other, 1);
    (*count <= MOST).then(|| (0..*count).map(run).collect())
}

/// The stretches of all operands cut where any of them is cut: entry by entry the same cells.
pub(super) fn refined(operands: &[Vec<Stretch>]) -> Vec<Vec<Stretch>> {
    let ends = |stretches: &[Stretch]| -> Vec<u64> {
        stretches.iter().map(|stretch| stretch.start + stretch.len).collect()
    };
    let mut cuts: Vec<u64> = operands.iter().flat_map(|stretches| ends(stretches)).collect();
    cuts.sort_unstable();
    cuts.dedup();
    operands
        .iter()
        .map(|stretches| stretches.iter().flat_map(|one| cut_at(one, &cuts)).collect())
        .collect()
}

fn cut_at(stretch: &Stretch, cuts: &[u64]) -> Vec<Stretch> {
    let (start, end) = (stretch.start, stretch.start + stretch.len);
    let inner = cuts.iter().copied().filter(|&cut| start < cut && cut < end);
    let starts: Vec<u64> = [start].into_iter().chain(inner).collect();
    let ends = starts[1..].iter().copied().chain([end]);
    let part = |(&from, to): (&u64, u64)| Stretch {
        start: from,
        len: to - from,
        before: stretch.before + (from - start),
        cell: stretch.cell + (from - start) * stretch.step,
        ..*stretch
    };
    starts.iter().zip(ends).map(part).collect()
}
