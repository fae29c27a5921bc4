//! Distribution of a slice of an array; each rank keeps its elements.

use super::{Distribution, Held, PaddingException};
use crate::axis::AxisMap;
use crate::exchange::LabelsError;
use crate::region::Region;
use crate::slice::{KeyPart, SliceKey};

/// An axis of the result, with the removed grid axes before and after it.
struct ResultAxis {
    map: AxisMap,
    /// The axis of the base array; None for a new axis.
    base: Option<usize>,
    before: MergedGrid,
    after: MergedGrid,
}

/// Merged grid axes: the coordinate on them, and the number of ranks.
type MergedGrid = (u64, u64);

const NOT_MERGED: MergedGrid = (0, 1);

impl Distribution {
    /// Returns the distribution of a basic slice. No data moves: the grid axis of an axis that an
    /// index removes is merged into that of the next remaining axis, or of the last.
    pub fn slice(&self, key: &SliceKey) -> Result<Distribution, LabelsError> {
        self.check_labels()?;
        let mut result_axes: Vec<ResultAxis> = Vec::new();
        let mut pending = match self.held {
            Held::One(holder) => (holder, self.nprocs),
            _ => NOT_MERGED,
        };
        let mut axes = self.axes.iter().enumerate();
        for &part in key.parts() {
            if let KeyPart::NewAxis(len) = part {
                result_axes.push(ResultAxis::new(AxisMap::whole(len), None, NOT_MERGED));
                continue;
            }
            let (base, map) = axes.next().expect("a canonical key names every axis");
            match part {
                KeyPart::Index(index) => {
                    let rank = map.owner(index as i64).map_or(0, |(rank, _)| rank);
                    pending = (pending.0 * map.grid() + rank, pending.1 * map.grid());
                }
                KeyPart::Region(region) => {
                    result_axes.push(ResultAxis::new(sliced(map, region), Some(base), pending));
                    pending = NOT_MERGED;
                }
                KeyPart::NewAxis(_) => {}
            }
        }
        Ok(self.assemble(result_axes, pending))
    }

    /// Builds the result; the remaining merged grid axes go to the last axis.
    fn assemble(&self, mut result_axes: Vec<ResultAxis>, pending: MergedGrid) -> Distribution {
        if result_axes.is_empty() {
            let held = if self.held == Held::All { Held::All } else { Held::One(pending.0) };
            return Distribution { axes: [].into(), held, padding_exceptions: [].into(), ..*self };
        }
        let held = if self.held == Held::All { Held::All } else { Held::Grid };
        let last = result_axes
            .iter()
            .rposition(|axis| axis.base.is_some())
            .unwrap_or(result_axes.len() - 1);
        result_axes[last].after = pending;
        let odd_edges = self
            .padding_exceptions
            .iter()
            .filter_map(|exception| map_padding_exception(exception, &result_axes, self))
            .collect();
        let axes =
            result_axes.iter().map(|axis| axis.map.merged(axis.before, axis.after)).collect();
        Distribution { axes, held, padding_exceptions: odd_edges, ..*self }
    }
}

impl ResultAxis {
    fn new(map: AxisMap, base: Option<usize>, before: MergedGrid) -> Self {
        Self { map, base, before, after: NOT_MERGED }
    }
}

fn sliced(map: &AxisMap, region: Region) -> AxisMap {
    map.slice(region).expect("the labels were checked")
}

/// Keeps the exception if its axis is unchanged.
fn map_padding_exception(
    exception: &PaddingException,
    result_axes: &[ResultAxis],
    base: &Distribution,
) -> Option<PaddingException> {
    let axis = result_axes.iter().position(|axis| axis.base == Some(exception.axis))?;
    let (before, after) = (result_axes[axis].before.1, result_axes[axis].after.1);
    let is_same = before == 1 && after == 1 && result_axes[axis].map == base.axes[exception.axis];
    is_same.then_some(PaddingException { axis, ..*exception })
}
