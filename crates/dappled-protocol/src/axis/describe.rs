//! What the protocol says of an axis map: its kind, and one rank's dimension.

use std::sync::Arc;

use super::{AxisMap, Block, Kind, Structured};
use crate::dim::{Dim, DimKind};
use crate::error::ProtocolError;
use crate::rules;

impl Block {
    /// What a rank of the map holds.
    fn describe(&self, rank: u64) -> DimKind {
        DimKind::Block {
            owned: self.owned(rank),
            padding: self.padding(rank),
            wraps: self.wraps,
            undistributed: self.undistributed,
        }
    }
}

impl AxisMap {
    /// The kind, as the protocol writes it: `b`, `c`, `u`, or `n` for an undistributed axis.
    /// What block and cyclic can't say is unstructured.
    pub fn dist_type(&self) -> char {
        match &self.kind {
            Kind::Block(map) if map.is_reversed() && map.grid() > 1 => 'u',
            Kind::Block(map) if map.undistributed && self.grid() == 1 => 'n',
            Kind::Block(_) => 'b',
            Kind::Cyclic(map) if map.is_axis() && self.place.is_same(map.grid()) => 'c',
            Kind::Cyclic(_) | Kind::Unstructured(_) => 'u',
        }
    }

    /// Has any rank padding?
    pub fn is_padded(&self) -> bool {
        matches!(&self.kind, Kind::Block(map) if map.is_padded())
    }

    /// The dimension of one rank. Only where it is unstructured a table is made, of that
    /// rank's indices alone.
    pub fn dim(&self, rank: u64) -> Result<Dim, ProtocolError> {
        let (periodic, kind) = match (&self.kind, self.dist_type()) {
            (Kind::Block(map), 'b' | 'n') => (map.periodic, self.block_dim(map, rank)),
            (Kind::Cyclic(map), 'c') => {
                (map.periodic, DimKind::Cyclic { block_size: map.block_size })
            }
            (Kind::Unstructured(map), _) => (map.periodic, self.listed_dim(rank, map.one_to_one)?),
            _ => (false, self.listed_dim(rank, true)?),
        };
        let (size, grid_size) = (self.size(), self.grid());
        Ok(Dim { size, grid_size, grid_rank: rank, periodic, kind })
    }

    /// A rank where no rank of the map stands has an empty range between its neighbours'.
    fn block_dim(&self, map: &Block, rank: u64) -> DimKind {
        if let Some(map_rank) = self.map_rank(rank) {
            return map.describe(map_rank);
        }
        let bound = map.bound(self.place.before(rank, map.grid()));
        let (wraps, undistributed) = (false, false);
        DimKind::Block { owned: bound..bound, padding: (0, 0), wraps, undistributed }
    }

    fn listed_dim(&self, rank: u64, one_to_one: bool) -> Result<DimKind, ProtocolError> {
        if let (Kind::Unstructured(map), Some(rank)) = (&self.kind, self.map_rank(rank)) {
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
