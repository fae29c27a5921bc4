//! One axis of the target, cut so that along each cut every operand lies in one place.

use super::needs::{Need, Needs};
use super::places::Places;

/// Cells of the target's piece along an axis, and where an operand's cells for them lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The first cell, counted from the first of the rank's piece of the target, and how many.
    pub start: u64,
    pub len: u64,
    /// Where those who have them stand along the operand's axis.
    pub at: u64,
    /// Where they lie in a message of theirs, and how far the next one is.
    pub message: (u64, i64),
    /// Where they lie in the rank's own piece of the base, if it is one of those who have them.
    pub piece: (u64, i64),
}

/// The stretches of an operand along an axis of this length, in the order of the target. None where
/// a peer's cells are more than one: such an operand is moved before it is read.
pub(super) fn stretches(needs: &Needs<'_>, axis: usize, length: u64) -> Option<Vec<Stretch>> {
    let mut found: Vec<Stretch> = match needs.operand.axes[axis].base {
        Some(_) => needs.axes[axis].iter().map(|need| one(needs, axis, need)).collect(),
        None => Some(vec![repeated(length)]),
    }?;
    found.sort_unstable_by_key(|stretch| stretch.start);
    Some(found)
}

/// The same cell for all.
fn repeated(len: u64) -> Stretch {
    Stretch { start: 0, len, at: 0, message: (0, 0), piece: (0, 0) }
}

/// What is needed from one place, if it is one stretch.
fn one(needs: &Needs<'_>, axis: usize, need: &Need) -> Option<Stretch> {
    let len = need.cells();
    let (start, _) = Places::SAME.evenly(&need.wanted).filter(|&(_, step)| step == 1)?;
    let message = match needs.operand.axes[axis].is_backwards() {
        true => (len - 1, -1),
        false => (0, 1),
    };
    let own = needs.own.as_ref().filter(|own| own.at[axis] == need.at);
    let piece = own.map_or(Some((0, 0)), |own| own.places[axis].evenly(&need.found))?;
    Some(Stretch { start, len, at: need.at, message, piece })
}

/// Where these stretches end too, beside the cuts that there are, in order.
pub(super) fn cuts(stretches: &[Stretch], before: &[u64]) -> Vec<u64> {
    let ends = stretches.iter().map(|one| one.start + one.len);
    let mut cuts: Vec<u64> = ends.chain(before.iter().copied()).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// The stretches of an operand, cut where any operand is cut.
pub(super) fn refined(stretches: &[Stretch], cuts: &[u64]) -> Vec<Stretch> {
    stretches.iter().flat_map(|stretch| cut_at(stretch, cuts)).collect()
}

fn cut_at(stretch: &Stretch, cuts: &[u64]) -> Vec<Stretch> {
    let (start, end) = (stretch.start, stretch.start + stretch.len);
    let inner = cuts.iter().copied().filter(|&cut| start < cut && cut < end);
    let starts: Vec<u64> = [start].into_iter().chain(inner).collect();
    let ends = starts[1..].iter().copied().chain([end]);
    let part = |(&from, to): (&u64, u64)| Stretch {
        start: from,
        len: to - from,
        message: further(stretch.message, from - start),
        piece: further(stretch.piece, from - start),
        ..*stretch
    };
    starts.iter().zip(ends).map(part).collect()
}

/// So many cells further on.
pub(super) fn further((cell, step): (u64, i64), cells: u64) -> (u64, i64) {
    ((cell as i64 + step * cells as i64) as u64, step)
}
