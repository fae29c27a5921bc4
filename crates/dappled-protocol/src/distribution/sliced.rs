//! The distribution of a part of an array: the same ranks, each holding what it held.

use super::{Distribution, Held, OddEdge};
use crate::axis::AxisMap;
use crate::exchange::LabelsError;
use crate::region::Region;
use crate::slice::{Key, Part};

/// An axis of the result while it is made: its map, and where on the grid axes that indices
/// left behind before and after it the index was.
struct Kept {
    map: AxisMap,
    /// The axis of the base it is a part of; None for a new one.
    base: Option<usize>,
    before: Merge,
    after: Merge,
}

/// Grid axes merged into one: the place on them and how many ranks they are.
type Merge = (u64, u64);

const NOTHING: Merge = (0, 1);

impl Distribution {
    /// The distribution of what a key selects. No data moves: an axis that an index takes away
    /// is merged into the grid axis of the next axis that stays (of the last, if none follows).
    pub fn slice(&self, key: &Key) -> Result<Distribution, LabelsError> {
        self.check_labels()?;
        let mut kept: Vec<Kept> = Vec::new();
        let mut pending = match self.held {
            Held::One(holder) => (holder, self.nprocs),
            _ => NOTHING,
        };
        let mut axes = self.axes.iter().enumerate();
        for &part in key.parts() {
            if let Part::NewAxis(len) = part {
                kept.push(Kept::new(AxisMap::whole(len), None, NOTHING));
                continue;
            }
            let (base, map) = axes.next().expect("a canonical key names every axis");
            match part {
                Part::Index(index) => {
                    let rank = map.owner(index as i64).map_or(0, |(rank, _)| rank);
                    pending = (pending.0 * map.grid() + rank, pending.1 * map.grid());
                }
                Part::Region(region) => {
                    kept.push(Kept::new(sliced(map, region), Some(base), pending));
                    pending = NOTHING;
                }
                Part::NewAxis(_) => {}
            }
        }
        Ok(self.assembled(kept, pending))
    }

    /// The result; the grid axes still pending go behind the last axis that stays.
    fn assembled(&self, mut kept: Vec<Kept>, pending: Merge) -> Distribution {
        if kept.is_empty() {
            let held = if self.held == Held::All { Held::All } else { Held::One(pending.0) };
            return Distribution { axes: [].into(), held, odd_edges: [].into(), ..*self };
        }
        let held = if self.held == Held::All { Held::All } else { Held::Grid };
        let last = kept.iter().rposition(|axis| axis.base.is_some()).unwrap_or(kept.len() - 1);
        kept[last].after = pending;
        let odd_edges =
            self.odd_edges.iter().filter_map(|odd| kept_edge(odd, &kept, self)).collect();
        let axes = kept.iter().map(|axis| axis.map.merged(axis.before, axis.after)).collect();
        Distribution { axes, held, odd_edges, ..*self }
    }
}

impl Kept {
    fn new(map: AxisMap, base: Option<usize>, before: Merge) -> Self {
        Self { map, base, before, after: NOTHING }
    }
}

fn sliced(map: &AxisMap, region: Region) -> AxisMap {
    map.slice(region).expect("the labels were checked")
}

/// An odd edge stays where its axis stays as it is.
fn kept_edge(odd: &OddEdge, kept: &[Kept], base: &Distribution) -> Option<OddEdge> {
    let axis = kept.iter().position(|axis| axis.base == Some(odd.axis))?;
    let (before, after) = (kept[axis].before.1, kept[axis].after.1);
    let is_same = before == 1 && after == 1 && kept[axis].map == base.axes[odd.axis];
    is_same.then_some(OddEdge { axis, ..*odd })
}
