//! From what is needed to what one rank does: a pure function, the same on every rank.
//!
//! In comes an assignment `target = f(operands)`, element by element: for the target and each
//! operand where its base lies, and which part of it is written or read. Out comes a [`Plan`]: what
//! the rank sends and receives, and the *tiles* of its piece of the target, in each of which every
//! operand lies in one place: in the rank's own memory, as it is, or in one message. So nothing is
//! copied that need not be, and tiles that need no message can be computed while messages travel.
//!
//! The owner of a piece of the target computes it. Everything follows from the distributions
//! alone: what one rank plans to send, its peer plans to receive, without a word.
//!
//! What is asked along each axis is refined by itself ([`axis`]); tiles are the product.

mod axis;
mod explain;
mod operand;
mod tiles;

use std::ops::Range;

use dappled_protocol::Runs;
use dappled_protocol::exchange::ExchangeError;

pub use operand::Operand;

/// What one rank does to compute its piece of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What it sends, operand by operand, peers in ascending order.
    pub sends: Vec<Send>,
    /// What it receives, in the order in which its peers send it.
    pub receives: Vec<Receive>,
    /// The boxes of its piece of the target, and where the operands of each lie.
    pub tiles: Vec<Tile>,
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
    /// The shape of what comes, along the axes of the target.
    pub shape: Vec<u64>,
}

/// A box of the target, in which each operand lies in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Its first cell in the rank's piece of the target, along each axis.
    pub start: Vec<u64>,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Where it lies in the rank's piece of the target's base.
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
}

/// Cells of some memory, one for each cell of a tile: from `start` on, along each axis of the
/// tile `steps` cells of the memory's axis `axes` further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// The place of the first cell, along the axes of the memory.
    pub start: Vec<u64>,
    /// For each axis of the tile, the axis of the memory that it runs along.
    pub axes: Vec<Option<usize>>,
    /// For each axis of the tile, how far the next cell is.
    pub steps: Vec<i64>,
}

impl Cells {
    /// The box of memory that they fill if there are so many along each axis of the tile; None
    /// where they leave gaps.
    fn filled(&self, lengths: &[u64]) -> Option<Vec<Range<u64>>> {
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

impl Tile {
    /// Can it be computed before any message has come?
    pub fn is_local(&self) -> bool {
        self.sources.iter().all(|source| matches!(source, Source::Piece(_)))
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// An operand of another shape than the target.
    #[error("operand {operand} has the shape {found:?}, the target {target:?}")]
    Shape {
        /// Which operand.
        operand: usize,
        /// Its shape.
        found: Vec<u64>,
        /// The target's.
        target: Vec<u64>,
    },
    /// An operand or target that can't be exchanged.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// Layouts that no tiles are made of: the operand must be redistributed first.
    #[error("operand {0} is laid out so differently from the target that it must be moved first")]
    Scattered(usize),
    /// A target whose cells are not evenly spaced in memory: it must be written by way of another.
    #[error("the cells of the target are not evenly spaced in memory")]
    ScatteredTarget,
}

/// The plan of one rank.
///
/// ```
/// use dappled::plan::{Operand, plan};
/// use dappled::protocol::Distribution;
/// use dappled::protocol::slice::{Item, Key};
///
/// // u[1:] = u[:-1], u of 8 elements in blocks over 2 ranks
/// let u = Distribution::spec(&[8]).nprocs(2).build()?;
/// let part = |start, stop| -> Result<Operand, Box<dyn std::error::Error>> {
///     Ok(Operand::new(&u, Key::new(&[Item::Slice(start, stop, None)], &[8])?)?)
/// };
/// let plan = plan(&part(Some(1), None)?, &[part(None, Some(-1))?], 1)?;
/// assert_eq!(plan.to_string(), "\
/// receive 1 of operand 0 from rank 0
/// tile (0):(1) at (0), operand 0 in message 0 at (0)
/// tile (1):(4) at (1), operand 0 in the piece at (0)
/// ");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(target: &Operand, operands: &[Operand], rank: u64) -> Result<Plan, PlanError> {
    if !target.is_straight() {
        return Err(PlanError::ScatteredTarget);
    }
    for (number, operand) in operands.iter().enumerate() {
        if operand.shape() != target.shape() {
            let (found, target) = (operand.shape(), target.shape());
            return Err(PlanError::Shape { operand: number, found, target });
        }
    }
    let sends = operand::sends(target.view(), operands, rank)?;
    let tiles = tiles::Tiles::new(target, operands, rank)?;
    Ok(Plan { sends, tiles: tiles.all(), receives: tiles.receives })
}
