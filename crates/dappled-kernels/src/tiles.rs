//! The indices of a space cut into tiles: parts that share nothing, one for each thread to hold.

use std::ops::Range;

use crate::space::{Extent, Run, Space};

/// Elements of a tile, at most: a float64 register of this length is 4 KiB, so a handful of
/// them stays in the first cache.
pub(crate) const TILE: usize = 512;

/// Rows shorter than this are gathered several to a tile; longer ones are used where they lie.
const SHORT_ROW: usize = 64;

impl Space {
    /// The indices of all tiles. Each tile comes out of it once, and the space is borrowed for
    /// as long: whoever holds a tile is the only one that holds its indices.
    pub fn tiles(&mut self) -> Tiles<'_> {
        let row = self.row();
        let (in_row, len) = match row {
            0..SHORT_ROW => (1, TILE),
            // As equal as possible: 998 is cut into 504 and 494, not into 512 and 486.
            _ => (row.div_ceil(TILE), row.div_ceil(row.div_ceil(TILE)).next_multiple_of(8)),
        };
        let total = self.len();
        let count = match row {
            0..SHORT_ROW => total.div_ceil(TILE),
            _ => self.blocks(total / row) * in_row,
        };
        Tiles { space: self, numbers: 0..count, done: 0, in_row, len }
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

/// An extent that nobody else holds: neither `Copy` nor `Clone`, and made by [`Tiles`] only.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tile(Extent);

impl Tile {
    pub fn extent(&self) -> &Extent {
        &self.0
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

    /// The first half and the rest.
    pub fn halve(self) -> (Self, Self) {
        let middle = self.numbers.start + self.numbers.len() / 2;
        let (first, rest) = (self.numbers.start..middle, middle..self.numbers.end);
        (Self { numbers: first, ..self }, Self { numbers: rest, ..self })
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
