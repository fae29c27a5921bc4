//! The plan of one rank, and the steps that it consists of.

use std::ops::Range;

use dappled_protocol::CellRuns;

/// The steps by which one rank computes its local piece of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Messages to send, by operand and then by peer in ascending order: one message per peer.
    pub sends: Vec<SendStep>,
    /// Messages to receive, in the order in which the peers send them.
    pub receives: Vec<ReceiveStep>,
    /// Operands that are assembled in a contiguous buffer before they are read.
    pub assemblies: Vec<AssembleStep>,
    /// The boxes of the local piece of the target, with the source of each operand.
    pub tiles: Vec<PlanTile>,
    /// The final copy, present if the target's cells are not evenly spaced in memory. Tiles are
    /// then written to a buffer in the shape of the local section of the target, and copied from
    /// there.
    pub scatter: Option<CellCopy>,
}

/// One message to a peer: cells of the local piece of an operand's base, packed in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendStep {
    /// The rank that receives the message.
    pub peer: u64,
    /// The index of the operand.
    pub operand: usize,
    /// The cells along each axis of the base; the message has their product.
    pub cells: Vec<CellRuns>,
}

/// One message from a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiveStep {
    /// The rank that sends the message.
    pub peer: u64,
    /// The index of the operand.
    pub operand: usize,
    /// The shape of the message, along the axes of the operand's base.
    pub shape: Vec<u64>,
}

/// An operand, or the part of it that the rank needs, copied into one contiguous buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssembleStep {
    /// The index of the operand.
    pub operand: usize,
    /// The shape of the buffer: that of the local section of the target, with length 1 along
    /// broadcast axes.
    pub shape: Vec<u64>,
    /// The parts that it is copied from.
    pub parts: Vec<AssemblyPart>,
}

/// A part of an assembled operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssemblyPart {
    /// The memory that the part is copied from.
    pub source: AssemblySource,
    /// The cells to copy.
    pub copy: CellCopy,
}

/// The memory that a part of an assembled operand is copied from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssemblySource {
    /// The rank's local piece of the operand's base.
    LocalPiece,
    /// A message, by its index in [`Plan::receives`].
    Message(usize),
}

/// A copy of cells between two buffers, as a product over the axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellCopy {
    /// The cells along each axis of the source.
    pub from: Vec<CellRuns>,
    /// The cells along each axis of the destination.
    pub to: Vec<CellRuns>,
    /// For each axis of the destination, the axis of the source whose cells it receives one for
    /// one; `None` where the destination has one cell. A source axis that is absent here has one
    /// cell.
    pub axes: Vec<Option<usize>>,
}

/// A box of the target in which each operand has a single source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanTile {
    /// The index of the first element along each axis, relative to the rank's first element.
    pub start: Vec<u64>,
    /// The shape of the box.
    pub shape: Vec<u64>,
    /// The cells to write: in the local piece of the target's base, or in the buffer that is
    /// scattered.
    pub target: StridedCells,
    /// The source of each operand.
    pub sources: Vec<TileSource>,
}

/// The memory that an operand is read from in a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TileSource {
    /// The rank's local piece of the operand's base.
    LocalPiece(StridedCells),
    /// A message, by its index in [`Plan::receives`].
    Message(usize, StridedCells),
    /// An assembled operand, by its index in [`Plan::assemblies`].
    Assembled(usize, StridedCells),
}

/// Evenly spaced cells of a buffer, one for each cell of a tile.
///
/// Axis `i` of the tile advances by `steps[i]` cells along axis `axes[i]` of the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StridedCells {
    /// The index of the first cell, along the axes of the buffer.
    pub start: Vec<u64>,
    /// For each axis of the tile, the axis of the buffer that it runs along; `None` for a broadcast
    /// axis.
    pub axes: Vec<Option<usize>>,
    /// For each axis of the tile, the distance to the next cell.
    pub steps: Vec<i64>,
}

impl Plan {
    /// Returns true if a tile can be computed before any message arrives.
    pub fn is_local(&self, tile: &PlanTile) -> bool {
        tile.sources.iter().all(|source| match source {
            TileSource::LocalPiece(_) => true,
            TileSource::Message(..) => false,
            TileSource::Assembled(index, _) => self.assemblies[*index].is_local(),
        })
    }

    /// The messages that tiles read directly, by index in `receives`, with repetitions.
    pub fn messages_read(&self) -> impl Iterator<Item = usize> {
        let sources = self.tiles.iter().flat_map(|tile| &tile.sources);
        sources.filter_map(|source| match source {
            TileSource::Message(index, _) => Some(*index),
            TileSource::LocalPiece(_) | TileSource::Assembled(..) => None,
        })
    }

    /// The number of bytes to send, given the item size of each operand.
    pub fn bytes_sent(&self, itemsizes: &[usize]) -> u64 {
        self.sends.iter().map(|send| send.count() * itemsizes[send.operand] as u64).sum()
    }
}

impl SendStep {
    /// The number of cells.
    pub fn count(&self) -> u64 {
        self.cells.iter().map(CellRuns::cells).product()
    }
}

impl ReceiveStep {
    /// The number of cells.
    pub fn count(&self) -> u64 {
        self.shape.iter().product()
    }
}

impl AssembleStep {
    /// Returns true if all parts come from the local piece.
    pub fn is_local(&self) -> bool {
        self.parts.iter().all(|part| part.source == AssemblySource::LocalPiece)
    }
}

impl CellCopy {
    /// The number of cells.
    pub fn count(&self) -> u64 {
        self.to.iter().map(CellRuns::cells).product()
    }
}

impl StridedCells {
    /// Consecutive cells of a buffer that has the axes of the tile.
    pub(crate) fn contiguous(start: &[u64]) -> Self {
        StridedCells {
            start: start.to_vec(),
            axes: (0..start.len()).map(Some).collect(),
            steps: vec![1; start.len()],
        }
    }

    /// The box of the buffer that these cells cover, given the shape of the tile; `None` if it has
    /// gaps.
    pub(crate) fn covered_box(&self, lengths: &[u64]) -> Option<Vec<Range<u64>>> {
        let mut covered: Vec<Range<u64>> =
            self.start.iter().map(|&index| index..index + 1).collect();
        for (axis, (&step, &length)) in self.axes.iter().zip(self.steps.iter().zip(lengths)) {
            let Some(axis) = *axis else { continue };
            let start = covered[axis].start;
            covered[axis] = match step {
                _ if length == 1 => start..start + 1,
                1 => start..start + length,
                -1 => start + 1 - length..start + 1,
                _ => return None,
            };
        }
        Some(covered)
    }
}
