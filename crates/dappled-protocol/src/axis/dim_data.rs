//! Conversion of an axis map to the protocol's terms: `dist_type` and dimension data.

use std::sync::Arc;

use super::{AxisKind, AxisMap, BlockMap, StructuredMap};
use crate::dim::{Dim, DimKind};
use crate::error::ProtocolError;
use crate::rules;

impl BlockMap {
    /// Returns the block dimension of a rank of the map.
    fn dim_kind(&self, rank: u64) -> DimKind {
        DimKind::Block {
            owned: self.owned(rank),
            padding: self.padding(rank),
            wraps: self.wraps,
            undistributed: self.undistributed,
        }
    }
}

impl AxisMap {
    /// Returns the `dist_type`: `b`, `c`, `u`, or `n` for an undistributed axis. A view that is
    /// neither block nor cyclic is unstructured.
    pub fn dist_type(&self) -> char {
        match &self.kind {
            AxisKind::Block(map) if map.is_reversed() && map.grid() > 1 => 'u',
            AxisKind::Block(map) if map.undistributed && self.grid() == 1 => 'n',
            AxisKind::Block(_) => 'b',
            AxisKind::Cyclic(map) if map.is_axis() && self.placement.is_identity(map.grid()) => 'c',
            AxisKind::Cyclic(_) | AxisKind::Unstructured(_) => 'u',
        }
    }

    /// Returns whether any rank has padding.
    pub fn is_padded(&self) -> bool {
        matches!(&self.kind, AxisKind::Block(map) if map.is_padded())
    }

    /// Returns the dimension of one rank. Tabulates indices only if the axis is unstructured, and
    /// only those of this rank.
    pub fn dim(&self, rank: u64) -> Result<Dim, ProtocolError> {
        let (periodic, kind) = match (&self.kind, self.dist_type()) {
            (AxisKind::Block(map), 'b' | 'n') => (map.periodic, self.block_dim(map, rank)),
            (AxisKind::Cyclic(map), 'c') => {
                (map.periodic, DimKind::Cyclic { block_size: map.block_size })
            }
            (AxisKind::Unstructured(map), _) => {
                (map.periodic, self.listed_dim(rank, map.one_to_one)?)
            }
            _ => (false, self.listed_dim(rank, true)?),
        };
        let (size, grid_size) = (self.size(), self.grid());
        Ok(Dim { size, grid_size, grid_rank: rank, periodic, kind })
    }

    /// A grid rank without a map rank has an empty range between those of its neighbours.
    fn block_dim(&self, map: &BlockMap, rank: u64) -> DimKind {
        if let Some(map_rank) = self.map_rank(rank) {
            return map.dim_kind(map_rank);
        }
        let bound = map.bound(self.placement.map_ranks_before(rank, map.grid()));
        let (wraps, undistributed) = (false, false);
        DimKind::Block { owned: bound..bound, padding: (0, 0), wraps, undistributed }
    }

    fn listed_dim(&self, rank: u64, one_to_one: bool) -> Result<DimKind, ProtocolError> {
        if let (AxisKind::Unstructured(map), Some(rank)) = (&self.kind, self.map_rank(rank)) {
            return Ok(DimKind::Unstructured { indices: map.labels(rank), one_to_one });
        }
        let count = self.owned(rank);
        let mut indices = Vec::new();
        let room = usize::try_from(count)
            .map_or(Err(()), |count| indices.try_reserve_exact(count).map_err(|_| ()));
        room.map_err(|()| {
            ProtocolError::new(&rules::L17, "a view whose table of indices fits in memory")
                .with_key("indices")
                .with_value(format!("{count} indices on rank {rank}"))
        })?;
        indices.extend(self.owned_ranges(rank).flatten());
        Ok(DimKind::Unstructured { indices: Arc::from(indices), one_to_one })
    }
}
