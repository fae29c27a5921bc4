//! Slices of an axis map, and axis maps on merged grids.

use super::{AxisKind, AxisMap, BlockMap, GridPlacement};
use crate::region::Region;

impl AxisMap {
    /// Returns the map of a slice of the axis; each rank keeps its elements. None if an
    /// unstructured axis has labels that are not indices.
    pub fn slice(&self, region: Region) -> Option<AxisMap> {
        if region.is_all(self.size()) {
            return self.labels_are_indices().then(|| self.clone());
        }
        let kind = match &self.kind {
            AxisKind::Block(map) => AxisKind::Block(map.view(region)),
            AxisKind::Cyclic(map) => AxisKind::Cyclic(map.view(region)),
            AxisKind::Unstructured(map) if map.labels_are_indices() => {
                AxisKind::Unstructured(map.view(region))
            }
            AxisKind::Unstructured(_) => return None,
        };
        Some(AxisMap { kind, placement: self.placement }.held_by_one())
    }

    /// Returns the map on a grid axis merged with its neighbours. Ranks are no longer adjacent, so
    /// there is no padding between them.
    pub(crate) fn merged(&self, before: (u64, u64), after: (u64, u64)) -> AxisMap {
        if before.1 == 1 && after.1 == 1 {
            return self.clone();
        }
        let kind = match &self.kind {
            AxisKind::Block(map) => AxisKind::Block(map.without_padding()),
            kind => kind.clone(),
        };
        AxisMap { kind, placement: self.placement.merged(before, after) }
    }

    /// Returns one block if all elements are on one rank, whatever the kind of the axis.
    fn held_by_one(self) -> AxisMap {
        let Some(map) = self.structured().filter(|map| map.size() > 0 && map.grid() > 1) else {
            return self;
        };
        let rank = map.run_at(0).rank;
        if map.owned_before(rank, map.size()) < map.size() {
            return self;
        }
        let placement = GridPlacement::single_rank(self.placement.to_grid_rank(rank), self.grid());
        AxisMap { kind: AxisKind::Block(BlockMap::undistributed(map.size())), placement }
    }
}
