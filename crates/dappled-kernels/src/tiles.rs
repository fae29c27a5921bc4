//! The indices of a space cut into tiles: parts that share nothing, one for each thread to hold.

use std::ops::Range;

use crate::space::{Extent, Run, Space};

/// Elements of a tile, at most: a float64 register of this length is 4 KiB, so a handful of
/// them stays in the first cache.
pub(crate) const TILE: usize = 512;

/// Rows shorter than this are gathered several to a tile; longer ones are used where they lie.
pub(crate) const SHORT_ROW: usize = 64;

impl<'a> Tiles<'a> {
    /// All tiles of a space, of at most so many elements where rows are long.
    ///
    /// Each tile comes out once: whoever holds a tile is the only one that holds its indices.
    ///
    /// # Safety
    /// While they are used, no other tiles of this space are.
    pub unsafe fn all(space: &'a Space, most: usize) -> Self {
        let row = space.row();
        let (in_row, len) = match row {
            0..SHORT_ROW => (1, TILE),
            // As equal as possible: 998 is cut into 504 and 494, not into 512 and 486.
            _ => (row.div_ceil(most), row.div_ceil(row.div_ceil(most)).next_multiple_of(8)),
        };
        let total = space.len();
        let count = match row {
            0..SHORT_ROW => total.div_ceil(TILE),
            _ => space.blocks(total / row) * in_row,
        };
        Self { space, numbers: 0..count, done: 0, in_row, len }
    }
}

/// Tiles not yet handed out. No two tiles that come out of it share an index.
#[derive(Debug)]
pub(crate) struct Tiles<'a> {
    space: &'a Space,
    /// The tiles by number, or the blocks of those that go over rows together.
    numbers: Range<usize>,
    /// How many tiles of the first block were handed out.
    done: usize,
    in_row: usize,
    len: usize,
}

/// An extent that nobody else holds: neither `Copy` nor `Clone`, and made by [`Tiles`], or
/// by who can tell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tile(Extent);

impl Tile {
    pub fn extent(&self) -> &Extent {
        &self.0
    }

    /// These indices.
    ///
    /// # Safety
    /// Nobody else holds them.
    pub unsafe fn own(space: &Space, indices: Range<usize>) -> Self {
        Self(space.extent(indices))
    }

    /// It in smaller ones.
    pub fn parts(self, space: &Space, most: usize) -> impl Iterator<Item = Tile> {
        let Range { start, end } = self.0.indices;
        let starts = (start..end).step_by(most);
        starts.map(move |start| Tile(space.extent(start..end.min(start + most))))
    }
}

impl<'a> Tiles<'a> {
    pub fn space(&self) -> &'a Space {
        self.space
    }

    /// How many are left, those that are not to be parted counted as one.
    pub fn left(&self) -> usize {
        self.numbers.len()
    }

    /// The rows that they are, where each is a whole one and gone over by itself.
    pub fn rows(&self) -> Option<Range<usize>> {
        let whole = self.in_row == 1 && self.space.row() >= SHORT_ROW && self.space.deep == 1;
        whole.then(|| self.numbers.clone())
    }

    /// The indices of number `at` of those that are left, where none are gone over together.
    pub fn extent(&self, at: usize) -> Extent {
        let (number, size) = (self.numbers.start + at, self.space.row());
        if size < SHORT_ROW {
            let end = ((number + 1) * TILE).min(self.space.len());
            return self.space.extent(number * TILE..end);
        }
        let (row, part) = (number / self.in_row, number % self.in_row);
        let (column, end) = ((part * self.len).min(size), ((part + 1) * self.len).min(size));
        self.space.extent(row * size + column..row * size + end)
    }

    /// The first so many and the rest.
    pub fn split(self, count: usize) -> (Self, Self) {
        let middle = self.numbers.start + count;
        let (first, rest) = (self.numbers.start..middle, middle..self.numbers.end);
        (Self { numbers: first, ..self }, Self { numbers: rest, ..self })
    }

    /// All of them in parts of at most so many; one part at least.
    pub fn in_parts(self, most: usize) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut rest = self;
        while rest.left() > most {
            let (first, others) = rest.split(most);
            parts.push(first);
            rest = others;
        }
        parts.push(rest);
        parts
    }
}

impl Iterator for Tiles<'_> {
    type Item = Tile;

    fn next(&mut self) -> Option<Tile> {
        let size = self.space.row();
        if size < SHORT_ROW {
            let number = self.numbers.next()?;
            let indices = number * TILE..((number + 1) * TILE).min(self.space.len());
            return Some(Tile(self.space.extent(indices)));
        }
        let number = self.numbers.clone().next()?;
        let (block, part) = (self.space.block(number / self.in_row), number % self.in_row);
        let row = block.start + self.done;
        self.done += 1;
        if self.done == block.len() {
            (self.numbers.start, self.done) = (number + 1, 0);
        }
        let (column, end) = ((part * self.len).min(size), ((part + 1) * self.len).min(size));
        let indices = row * size + column..row * size + end;
        Some(Tile(Extent { indices, first: Run { row, column, len: end - column }, block }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, View};

    /// Every index of a space is in one tile, however its operands lie.
    #[test]
    fn tiles_share_nothing_and_leave_nothing() {
        for shape in [[0, 7], [5, 3], [1, 700], [70, 64], [33, 1030], [100, 513]] {
            let view = View::c_order(DType::Float64, &shape);
            let turned = View::c_order(DType::Float64, &[shape[1], shape[0]]).transposed();
            for views in [vec![&view], vec![&turned, &view]] {
                for most in [TILE, 4096] {
                    let space = Space::in_order_of(&views, views.len() - 1);
                    let mut seen = vec![0; space.len()];
                    // SAFETY: the only tiles of this space.
                    let parts = unsafe { Tiles::all(&space, most) }.in_parts(7);
                    for tile in parts.into_iter().flatten() {
                        tile.extent().indices.clone().for_each(|at| seen[at] += 1);
                    }
                    assert!(seen.iter().all(|&times| times == 1), "{shape:?}");
                }
            }
        }
    }
}
