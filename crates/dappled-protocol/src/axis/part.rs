//! Parts of an axis, and axes on merged grids.

use super::{AxisMap, Block, Kind, Place};
use crate::region::Region;

impl AxisMap {
    /// The map of a part of the axis: over the same ranks, each holding what it held.
    /// None where an unstructured axis has labels that are not indices.
    pub fn slice(&self, region: Region) -> Option<AxisMap> {
        if region.is_all(self.size()) {
            return self.labels_are_indices().then(|| self.clone());
        }
        let kind = match &self.kind {
            Kind::Block(map) => Kind::Block(map.view(region)),
            Kind::Cyclic(map) => Kind::Cyclic(map.view(region)),
            Kind::Unstructured(map) if map.is_exact() => Kind::Unstructured(map.view(region)),
            Kind::Unstructured(_) => return None,
        };
        Some(AxisMap { kind, place: self.place }.held_by_one())
    }

    /// The map on a grid axis merged with those around it (see [`Place::merged`]). The ranks are
    /// then no longer neighbours, so that there is no padding between them.
    pub(crate) fn merged(&self, before: (u64, u64), after: (u64, u64)) -> AxisMap {
        if before.1 == 1 && after.1 == 1 {
            return self.clone();
        }
        let kind = match &self.kind {
            Kind::Block(map) => Kind::Block(map.without_padding()),
            kind => kind.clone(),
        };
        AxisMap { kind, place: self.place.merged(before, after) }
    }

    /// A part of an axis that lies on one rank is one block, whatever the axis was.
    fn held_by_one(self) -> AxisMap {
        let Some(map) = self.structured().filter(|map| map.size() > 0 && map.grid() > 1) else {
            return self;
        };
        let rank = map.run_at(0).rank;
        if map.owned_before(rank, map.size()) < map.size() {
            return self;
        }
        let place = Place::alone(self.place.outer(rank), self.grid());
        AxisMap { kind: Kind::Block(Block::whole(map.size())), place }
    }
}
