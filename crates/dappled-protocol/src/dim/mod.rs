//! One rank's dimension: what a dimension dictionary says, once its rules were tried.
//!
//! Both meanings of the protocol (0.9 and 0.10) are read into one form, which says what the
//! rank *owns*, and what padding lies around it:
//!
//! ```text
//! 0.10   start ............................ stop     both paddings inside
//! 0.9              start ......... stop              communication padding outside
//!        | left padding | owned ......... | right padding |
//! ```
//!
//! The left padding of the first rank and the right padding of the last are *boundary*
//! padding, owned like any other cell, unless the dimension `wraps`.

mod index;
mod read;
mod write;

pub use write::Entries;

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// One rank's dimension, free of the version it was written in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Dim {
    /// The number of elements of the whole array along this axis.
    pub size: u64,
    /// The number of ranks along this axis.
    pub grid_size: u64,
    /// This rank's place among them.
    pub grid_rank: u64,
    /// Is the dimension periodic? (On cyclic and unstructured ones only 0.9 can say so.)
    pub periodic: bool,
    /// Which indices the rank holds.
    pub kind: DimKind,
}

/// Which global indices of a dimension one rank holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DimKind {
    /// One range.
    Block {
        /// The global indices that the rank owns, boundary padding included.
        owned: Range<u64>,
        /// The widths of the padding at both ends, boundary or communication.
        padding: (u64, u64),
        /// 0.9's periodic padding: also the outer edges are communication padding,
        /// which lies outside the array and is filled from the other end.
        wraps: bool,
        /// Was it written as `'n'`, undistributed? (A block on a grid of 1 all the same.)
        undistributed: bool,
    },
    /// Blocks dealt out in turn.
    Cyclic {
        /// The indices in one block.
        block_size: u64,
    },
    /// A list of labels.
    Unstructured {
        /// The labels, in the order of the buffer.
        indices: Arc<[i64]>,
        /// Is every label on one rank only?
        one_to_one: bool,
    },
}

impl Dim {
    /// How many elements of the whole array this rank owns along the axis.
    ///
    /// ```
    /// use dappled_protocol::{Dim, DimKind};
    /// let kind = DimKind::Cyclic { block_size: 2 };
    /// let first = Dim { size: 7, grid_size: 2, grid_rank: 0, periodic: false, kind };
    /// assert_eq!(first.owned(), 4); // 0, 1, 4, 5
    /// ```
    pub fn owned(&self) -> u64 {
        match &self.kind {
            DimKind::Block { owned, .. } => owned.end.saturating_sub(owned.start),
            DimKind::Cyclic { block_size } => self.dealt(*block_size),
            DimKind::Unstructured { indices, .. } => indices.len() as u64,
        }
    }

    /// How many cells the rank's buffer has along the axis, padding included.
    pub fn extent(&self) -> u64 {
        self.left_padding() + self.owned() + self.right_padding()
    }

    /// How many cells before the owned ones are copies of what others own.
    /// Boundary padding is not: it is owned.
    pub fn left_padding(&self) -> u64 {
        self.communication().0
    }

    /// How many cells after the owned ones are copies of what others own.
    pub fn right_padding(&self) -> u64 {
        self.communication().1
    }

    /// Of the padding, what is communication padding.
    pub(crate) fn communication(&self) -> (u64, u64) {
        let wraps = matches!(self.kind, DimKind::Block { wraps: true, .. });
        communication(self.padding(), self.ends(), wraps)
    }

    /// The padding at both ends, of either sort.
    pub(crate) fn padding(&self) -> (u64, u64) {
        match self.kind {
            DimKind::Block { padding, .. } => padding,
            _ => (0, 0),
        }
    }

    /// Is the rank the first of its axis, and is it the last?
    pub(crate) fn ends(&self) -> (bool, bool) {
        (self.grid_rank == 0, self.grid_size.checked_sub(1) == Some(self.grid_rank))
    }

    /// How many indices are dealt to this rank in blocks of this size. All whole rounds give
    /// it a block each; of the round that is left, the first `extra` ranks get a whole
    /// block, and the next one the part that remains.
    fn dealt(&self, block_size: u64) -> u64 {
        let (blocks, part) = (self.size / block_size, self.size % block_size);
        let (rounds, extra) = (blocks / self.grid_size, blocks % self.grid_size);
        let last = match self.grid_rank.cmp(&extra) {
            Ordering::Less => block_size,
            Ordering::Equal => part,
            Ordering::Greater => 0,
        };
        rounds * block_size + last
    }
}

/// Of the padding of a block, what is communication padding: that of an inner edge, and
/// also that of the array's ends where it wraps.
pub(crate) fn communication<W: Default>(
    padding: (W, W),
    ends: (bool, bool),
    wraps: bool,
) -> (W, W) {
    let width = |width, end| if end && !wraps { W::default() } else { width };
    (width(padding.0, ends.0), width(padding.1, ends.1))
}
