//! Where an element is in the rank's buffer, and which element is at a place of it.

use super::{Dim, DimKind};

impl Dim {
    /// The place in this rank's buffer, padding included, of the element with this global
    /// index; the owned one where there are copies. On an unstructured dimension the index
    /// is a label; elsewhere one that is negative or too large is nowhere.
    pub fn local_index(&self, global: i64) -> Option<u64> {
        match &self.kind {
            DimKind::Block { .. } => self.block_place(global),
            DimKind::Cyclic { block_size } => self.cyclic_place(global, *block_size),
            DimKind::Unstructured { indices, .. } => {
                indices.iter().position(|index| *index == global).map(|place| place as u64)
            }
        }
    }

    /// The global index of the element at this place of the rank's buffer, padding
    /// included, or None where there is none.
    pub fn global_index(&self, local: u64) -> Option<i64> {
        if local >= self.extent() {
            return None;
        }
        match &self.kind {
            DimKind::Block { .. } => self.block_index(local),
            DimKind::Cyclic { block_size } => {
                let block = local / block_size * self.grid_size + self.grid_rank;
                i64::try_from(block * block_size + local % block_size).ok()
            }
            DimKind::Unstructured { indices, .. } => indices.get(local as usize).copied(),
        }
    }

    /// The index is tried as it is, so that the owned cell is found first, and then, for
    /// padding that wraps, one period before and after.
    fn block_place(&self, global: i64) -> Option<u64> {
        let (global, size) = (i128::from(global), i128::from(self.size));
        let place = |at: i128| {
            let place = u64::try_from(at - self.first_cell()).ok()?;
            (self.global_index(place).map(i128::from) == Some(global)).then_some(place)
        };
        [global, global - size, global + size].into_iter().find_map(place)
    }

    fn block_index(&self, local: u64) -> Option<i64> {
        let (at, size) = (self.first_cell() + i128::from(local), i128::from(self.size));
        let (first, last) = self.ends();
        // Only at the array's ends is there padding that lies outside of it: it wraps. On
        // an inner edge such padding would be a fault (C05), and copies nothing.
        let outside = (at < 0 && first) || (at >= size && last);
        let at = if outside { at.checked_rem_euclid(size)? } else { at };
        i64::try_from(at).ok().filter(|at| (0..size).contains(&i128::from(*at)))
    }

    /// The index that the first cell of the buffer has, or would have before the array.
    fn first_cell(&self) -> i128 {
        match &self.kind {
            DimKind::Block { owned, .. } => {
                i128::from(owned.start) - i128::from(self.left_padding())
            }
            _ => 0,
        }
    }

    fn cyclic_place(&self, global: i64, block_size: u64) -> Option<u64> {
        let global = u64::try_from(global).ok().filter(|global| *global < self.size)?;
        let block = global / block_size;
        let here = block % self.grid_size == self.grid_rank;
        here.then(|| block / self.grid_size * block_size + global % block_size)
    }
}
