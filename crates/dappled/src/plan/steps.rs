//! What plans are made of.

use std::ops::Range;

use dappled_protocol::Runs;

/// What one rank does to compute its piece of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// What it sends, operand by operand, peers in ascending order: one message a peer.
    pub sends: Vec<Send>,
    /// What it receives, in the order in which its peers send it.
    pub receives: Vec<Receive>,
    /// The operands that are first brought into one piece of memory.
    pub moves: Vec<Move>,
    /// The boxes of its piece of the target, and where the operands of each lie.
    pub tiles: Vec<Tile>,
    /// Where the cells of the target are not evenly spaced in memory: tiles are written to other
    /// memory, laid out as the rank's piece of the target, and copied from there at the end.
    pub scatter: Option<CellCopy>,
}

/// One message to a peer: cells of this rank's piece of an operand's base, packed in row-major
/// order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Send {
    /// To whom.
    pub peer: u64,
    /// Of which operand.
    pub operand: usize,
    /// Which cells: their product over the axes of the base.
    pub cells: Vec<Runs>,
}

/// One message from a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receive {
    /// From whom.
    pub peer: u64,
    /// Of which operand.
    pub operand: usize,
    /// The shape of what comes, along the axes of the operand's base.
    pub shape: Vec<u64>,
}

/// An operand, or what the rank needs of it, brought together in memory of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Which operand.
    pub operand: usize,
    /// The shape of the memory: that of the rank's piece of the target, and 1 along axes where the
    /// operand repeats.
    pub shape: Vec<u64>,
    /// What it is made of.
    pub parts: Vec<Part>,
}

/// A part of what is moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it is.
    pub origin: Origin,
    /// Which cells go where.
    pub copy: CellCopy,
}

/// Where a part of an operand is before it is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the rank's own piece of the operand's base.
    Piece,
    /// In a message, by its place in [`Plan::receives`].
    Message(usize),
}

/// A copy of cells from one piece of memory to another: a product over the axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellCopy {
    /// Along each axis of the memory that is read, which cells.
    pub from: Vec<Runs>,
    /// Along each axis of the memory that is written, which cells.
    pub to: Vec<Runs>,
    /// For each axis that is written the axis whose cells it gets, one for one; None where it has
    /// one cell. An axis that is read and not named here has one cell.
    pub axes: Vec<Option<usize>>,
}

/// A box of the target, in which each operand lies in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Its first element along each axis, counted from the first that the rank owns.
    pub start: Vec<u64>,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Where it lies in the rank's piece of the target's base, or in the memory that is scattered.
    pub target: Cells,
    /// Where each operand lies.
    pub sources: Vec<Source>,
}

/// Where the values of an operand lie for a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In the rank's own piece of the operand's base.
    Piece(Cells),
    /// In a message, by its place in [`Plan::receives`].
    Message(usize, Cells),
    /// In the memory it was moved to, by its place in [`Plan::moves`].
    Moved(usize, Cells),
}

/// Cells of some memory, one for each cell of a tile: from `start` on, along each axis of the
/// tile `steps` cells of the memory's axis `axes` further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// The place of the first cell, along the axes of the memory.
    pub start: Vec<u64>,
    /// For each axis of the tile, the axis of the memory that it runs along; None where the same
    /// cell is for all.
    pub axes: Vec<Option<usize>>,
    /// For each axis of the tile, how far the next cell is.
    pub steps: Vec<i64>,
}

impl Plan {
    /// Can a tile of it be computed before any message has come?
    pub fn is_local(&self, tile: &Tile) -> bool {
        tile.sources.iter().all(|source| match source {
            Source::Piece(_) => true,
            Source::Message(..) => false,
            Source::Moved(number, _) => self.moves[*number].is_local(),
        })
    }

    /// The messages that tiles read as they are, by their places in `receives`, each perhaps often.
    pub fn messages_read(&self) -> impl Iterator<Item = usize> {
        let sources = self.tiles.iter().flat_map(|tile| &tile.sources);
        sources.filter_map(|source| match source {
            Source::Message(number, _) => Some(*number),
            Source::Piece(_) | Source::Moved(..) => None,
        })
    }

    /// How many bytes it sends, given the size of each operand's elements.
    pub fn bytes_sent(&self, itemsizes: &[usize]) -> u64 {
        self.sends.iter().map(|send| send.count() * itemsizes[send.operand] as u64).sum()
    }
}

impl Send {
    /// How many cells.
    pub fn count(&self) -> u64 {
        self.cells.iter().map(Runs::cells).product()
    }
}

impl Receive {
    /// How many cells.
    pub fn count(&self) -> u64 {
        self.shape.iter().product()
    }
}

impl Move {
    /// Is it made of nothing but the rank's own piece?
    pub fn is_local(&self) -> bool {
        self.parts.iter().all(|part| part.origin == Origin::Piece)
    }
}

impl CellCopy {
    /// How many cells.
    pub fn count(&self) -> u64 {
        self.to.iter().map(Runs::cells).product()
    }
}

impl Cells {
    /// Cells of memory that is laid out as the piece of the target.
    pub(crate) fn same(start: &[u64]) -> Self {
        Cells {
            start: start.to_vec(),
            axes: (0..start.len()).map(Some).collect(),
            steps: vec![1; start.len()],
        }
    }

    /// The box of memory that they fill if there are so many along each axis of the tile; None
    /// where they leave gaps.
    pub(super) fn filled(&self, lengths: &[u64]) -> Option<Vec<Range<u64>>> {
        let mut filled: Vec<Range<u64>> = self.start.iter().map(|&at| at..at + 1).collect();
        for (axis, (&step, &length)) in self.axes.iter().zip(self.steps.iter().zip(lengths)) {
            let Some(axis) = *axis else { continue };
            let start = filled[axis].start;
            filled[axis] = match step {
                _ if length == 1 => start..start + 1,
                1 => start..start + length,
                -1 => start + 1 - length..start + 1,
                _ => return None,
            };
        }
        Some(filled)
    }
}
