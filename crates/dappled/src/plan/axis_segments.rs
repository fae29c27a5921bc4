//! One axis of the target, split so that each operand has a single source in each segment.

use super::local_cells::LocalCells;
use super::needs::{AxisNeed, OperandNeeds};

/// Consecutive cells of the target along an axis, and the position of an operand's cells for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AxisSegment {
    /// The first cell, counted from the first of the local section of the target.
    pub start: u64,
    /// The number of cells.
    pub len: u64,
    /// The grid coordinate of the owners along the operand's axis.
    pub coord: u64,
    /// The first cell and the step in a message from an owner.
    pub message: (u64, i64),
    /// The first cell and the step in the local piece of the base, if the rank itself is an owner.
    pub piece: (u64, i64),
}

/// The segments of an operand along an axis of this length, in the order of the target.
///
/// Returns `None` if the cells of an owner are more than one segment: the operand is then
/// assembled.
pub(crate) fn axis_segments(
    needs: &OperandNeeds<'_>,
    axis: usize,
    length: u64,
) -> Option<Vec<AxisSegment>> {
    let mut segments: Vec<AxisSegment> = match needs.operand.axes[axis].base {
        Some(_) => {
            needs.axes[axis].iter().map(|need| contiguous_segment(needs, axis, need)).collect()
        }
        None => Some(vec![broadcast_segment(length)]),
    }?;
    segments.sort_unstable_by_key(|segment| segment.start);
    Some(segments)
}

/// The segment of a broadcast axis, which has a single cell.
fn broadcast_segment(len: u64) -> AxisSegment {
    AxisSegment { start: 0, len, coord: 0, message: (0, 0), piece: (0, 0) }
}

/// The segment of one need, if its cells are consecutive.
fn contiguous_segment(
    needs: &OperandNeeds<'_>,
    axis: usize,
    need: &AxisNeed,
) -> Option<AxisSegment> {
    let len = need.cells();
    let (start, _) =
        LocalCells::IDENTITY.strided(&need.target_cells).filter(|&(_, step)| step == 1)?;
    let message = match needs.operand.axes[axis].is_backwards() {
        true => (len - 1, -1),
        false => (0, 1),
    };
    let section = needs.local.as_ref().filter(|section| section.coords[axis] == need.coord);
    let piece = section
        .map_or(Some((0, 0)), |section| section.local_cells[axis].strided(&need.source_cells))?;
    Some(AxisSegment { start, len, coord: need.coord, message, piece })
}

/// Adds the ends of segments to sorted cuts.
pub(crate) fn merge_cuts(segments: &[AxisSegment], existing: &[u64]) -> Vec<u64> {
    let ends = segments.iter().map(|segment| segment.start + segment.len);
    let mut cuts: Vec<u64> = ends.chain(existing.iter().copied()).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Splits segments at the cuts of all operands.
pub(crate) fn split_at_cuts(segments: &[AxisSegment], cuts: &[u64]) -> Vec<AxisSegment> {
    segments.iter().flat_map(|segment| split_segment(segment, cuts)).collect()
}

fn split_segment(segment: &AxisSegment, cuts: &[u64]) -> Vec<AxisSegment> {
    let (start, end) = (segment.start, segment.start + segment.len);
    let inner = cuts.iter().copied().filter(|&cut| start < cut && cut < end);
    let starts: Vec<u64> = [start].into_iter().chain(inner).collect();
    let ends = starts[1..].iter().copied().chain([end]);
    let part = |(&from, to): (&u64, u64)| AxisSegment {
        start: from,
        len: to - from,
        message: advance(segment.message, from - start),
        piece: advance(segment.piece, from - start),
        ..*segment
    };
    starts.iter().zip(ends).map(part).collect()
}

/// Moves a position by a number of cells.
pub(crate) fn advance((cell, step): (u64, i64), cells: u64) -> (u64, i64) {
    ((cell as i64 + step * cells as i64) as u64, step)
}
