//! Tiles: disjoint parts of an index space, each owned by one thread.

use std::ops::Range;

use super::iteration_space::{IndexExtent, IterationSpace, RowSpan};
use crate::config::{MIN_ROW_TILE_ELEMENTS, TILE_ELEMENTS};

impl<'a> TileIter<'a> {
    /// All tiles of a space, of at most `most` elements where rows are long.
    ///
    /// Each tile is returned once, so its holder is the only one to access its indices.
    ///
    /// # Safety
    /// No other tiles of this space may be in use at the same time.
    pub unsafe fn new(space: &'a IterationSpace, most: usize) -> Self {
        let row = space.row_len();
        let (tiles_per_row, tile_len) = match row {
            0..MIN_ROW_TILE_ELEMENTS => (1, TILE_ELEMENTS),
            // Rows are split evenly: 998 elements become 504 and 494, not 512 and 486.
            _ => (row.div_ceil(most), row.div_ceil(row.div_ceil(most)).next_multiple_of(8)),
        };
        let total = space.len();
        let count = match row {
            0..MIN_ROW_TILE_ELEMENTS => total.div_ceil(TILE_ELEMENTS),
            _ => space.block_count(total / row) * tiles_per_row,
        };
        Self { space, ids: 0..count, rows_done: 0, tiles_per_row, tile_len }
    }
}

/// Iterator over the tiles of a space. No two tiles share an index.
#[derive(Debug)]
pub(crate) struct TileIter<'a> {
    space: &'a IterationSpace,
    /// The tiles not yet returned, or the blocks of tiles whose rows are traversed together.
    ids: Range<usize>,
    /// The number of tiles of the first block already returned.
    rows_done: usize,
    tiles_per_row: usize,
    tile_len: usize,
}

/// Exclusive ownership of an extent.
///
/// Neither `Copy` nor `Clone`. Created by [`TileIter`], or by [`ExclusiveTile::claim`], whose
/// caller guarantees exclusivity.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ExclusiveTile(IndexExtent);

impl ExclusiveTile {
    pub fn extent(&self) -> &IndexExtent {
        &self.0
    }

    /// Takes ownership of these indices.
    ///
    /// # Safety
    /// No other tile in use may contain any of these indices.
    pub unsafe fn claim(space: &IterationSpace, indices: Range<usize>) -> Self {
        Self(space.extent(indices))
    }

    /// Splits the tile into tiles of at most `most` elements.
    pub fn split(self, space: &IterationSpace, most: usize) -> impl Iterator<Item = ExclusiveTile> {
        let Range { start, end } = self.0.indices;
        let starts = (start..end).step_by(most);
        starts.map(move |start| ExclusiveTile(space.extent(start..end.min(start + most))))
    }
}

impl<'a> TileIter<'a> {
    pub fn space(&self) -> &'a IterationSpace {
        self.space
    }

    /// The number of tiles or indivisible blocks of tiles not yet returned.
    pub fn remaining(&self) -> usize {
        self.ids.len()
    }

    /// The remaining rows, if each tile is one whole row and blocks are single rows.
    pub fn whole_rows(&self) -> Option<Range<usize>> {
        let whole = self.tiles_per_row == 1
            && self.space.row_len() >= MIN_ROW_TILE_ELEMENTS
            && self.space.rows_per_block == 1;
        whole.then(|| self.ids.clone())
    }

    /// The indices of the tile `at` positions ahead, if blocks are single rows.
    pub fn extent(&self, at: usize) -> IndexExtent {
        let (id, size) = (self.ids.start + at, self.space.row_len());
        if size < MIN_ROW_TILE_ELEMENTS {
            let end = ((id + 1) * TILE_ELEMENTS).min(self.space.len());
            return self.space.extent(id * TILE_ELEMENTS..end);
        }
        let (row, part) = (id / self.tiles_per_row, id % self.tiles_per_row);
        let (column, end) =
            ((part * self.tile_len).min(size), ((part + 1) * self.tile_len).min(size));
        self.space.extent(row * size + column..row * size + end)
    }

    /// Splits off the first `count` tiles.
    pub fn split(self, count: usize) -> (Self, Self) {
        let middle = self.ids.start + count;
        let (first, rest) = (self.ids.start..middle, middle..self.ids.end);
        (Self { ids: first, ..self }, Self { ids: rest, ..self })
    }

    /// Splits the iterator into chunks of at most `most` tiles; at least one chunk.
    pub fn chunks(self, most: usize) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut rest = self;
        while rest.remaining() > most {
            let (first, others) = rest.split(most);
            parts.push(first);
            rest = others;
        }
        parts.push(rest);
        parts
    }
}

impl Iterator for TileIter<'_> {
    type Item = ExclusiveTile;

    fn next(&mut self) -> Option<ExclusiveTile> {
        let size = self.space.row_len();
        if size < MIN_ROW_TILE_ELEMENTS {
            let id = self.ids.next()?;
            let indices = id * TILE_ELEMENTS..((id + 1) * TILE_ELEMENTS).min(self.space.len());
            return Some(ExclusiveTile(self.space.extent(indices)));
        }
        let id = self.ids.clone().next()?;
        let (block, part) =
            (self.space.block_rows(id / self.tiles_per_row), id % self.tiles_per_row);
        let row = block.start + self.rows_done;
        self.rows_done += 1;
        if self.rows_done == block.len() {
            (self.ids.start, self.rows_done) = (id + 1, 0);
        }
        let (column, end) =
            ((part * self.tile_len).min(size), ((part + 1) * self.tile_len).min(size));
        let indices = row * size + column..row * size + end;
        Some(ExclusiveTile(IndexExtent {
            indices,
            first: RowSpan { row, column, len: end - column },
            block,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::view::View;
    use crate::types::dtype::DType;

    /// Every index of a space is in exactly one tile, for any layout of the operands.
    #[test]
    fn tiles_partition_the_space() {
        for shape in [[0, 7], [5, 3], [1, 700], [70, 64], [33, 1030], [100, 513]] {
            let view = View::c_order(DType::Float64, &shape);
            let transposed = View::c_order(DType::Float64, &[shape[1], shape[0]]).transposed();
            for views in [vec![&view], vec![&transposed, &view]] {
                for most in [TILE_ELEMENTS, 4096] {
                    let space = IterationSpace::in_memory_order_of(&views, views.len() - 1);
                    let mut counts = vec![0; space.len()];
                    // SAFETY: the only tiles of this space.
                    let parts = unsafe { TileIter::new(&space, most) }.chunks(7);
                    for tile in parts.into_iter().flatten() {
                        tile.extent().indices.clone().for_each(|at| counts[at] += 1);
                    }
                    assert!(counts.iter().all(|&times| times == 1), "{shape:?}");
                }
            }
        }
    }
}
