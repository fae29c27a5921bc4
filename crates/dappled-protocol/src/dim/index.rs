//! Conversion between global and local indices of one rank's dimension.

use super::{Dim, DimKind};

impl Dim {
    /// Returns the local index of a global index, padding included; the owned cell if there are
    /// copies. On an unstructured dimension the index is a label; elsewhere None if it is out of
    /// bounds.
    pub fn local_index(&self, global: i64) -> Option<u64> {
        match &self.kind {
            DimKind::Block { .. } => self.block_local_index(global),
            DimKind::Cyclic { block_size } => self.cyclic_local_index(global, *block_size),
            DimKind::Unstructured { indices, .. } => {
                indices.iter().position(|index| *index == global).map(|local| local as u64)
            }
        }
    }

    /// Returns the global index of a local index, padding included; None if out of bounds.
    pub fn global_index(&self, local: u64) -> Option<i64> {
        if local >= self.extent() {
            return None;
        }
        match &self.kind {
            DimKind::Block { .. } => self.block_global_index(local),
            DimKind::Cyclic { block_size } => {
                let block = local / block_size * self.grid_size + self.grid_rank;
                i64::try_from(block * block_size + local % block_size).ok()
            }
            DimKind::Unstructured { indices, .. } => indices.get(local as usize).copied(),
        }
    }

    /// Tries the index itself, so that the owned cell comes first, then one period before and after
    /// for padding that wraps.
    fn block_local_index(&self, global: i64) -> Option<u64> {
        let (global, size) = (i128::from(global), i128::from(self.size));
        let local = |index: i128| {
            let local = u64::try_from(index - self.first_cell()).ok()?;
            (self.global_index(local).map(i128::from) == Some(global)).then_some(local)
        };
        [global, global - size, global + size].into_iter().find_map(local)
    }

    fn block_global_index(&self, local: u64) -> Option<i64> {
        let (index, size) = (self.first_cell() + i128::from(local), i128::from(self.size));
        let (first, last) = self.is_first_and_last();
        // Padding outside the array wraps; this occurs only at the ends. At an inner edge it
        // violates C05 and copies nothing.
        let outside = (index < 0 && first) || (index >= size && last);
        let index = if outside { index.checked_rem_euclid(size)? } else { index };
        i64::try_from(index).ok().filter(|index| (0..size).contains(&i128::from(*index)))
    }

    /// Returns the global index of the first cell; negative for padding before the array.
    fn first_cell(&self) -> i128 {
        match &self.kind {
            DimKind::Block { owned, .. } => {
                i128::from(owned.start) - i128::from(self.left_padding())
            }
            _ => 0,
        }
    }

    fn cyclic_local_index(&self, global: i64, block_size: u64) -> Option<u64> {
        let global = u64::try_from(global).ok().filter(|global| *global < self.size)?;
        let block = global / block_size;
        let is_owned = block % self.grid_size == self.grid_rank;
        is_owned.then(|| block / self.grid_size * block_size + global % block_size)
    }
}
