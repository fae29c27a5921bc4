//! One rank's dimension: the content of a dimension dictionary, validated.
//!
//! Both meanings of the protocol (0.9 and 0.10) are read into one form, which states the owned
//! range and the padding around it:
//!
//! ```text
//! 0.10   start ............................ stop     both paddings inside
//! 0.9              start ......... stop              communication padding outside
//!        | left padding | owned ......... | right padding |
//! ```
//!
//! The left padding of the first rank and the right padding of the last are *boundary* padding,
//! owned like any other cell, unless the dimension `wraps`.

mod index;
mod read;
mod write;

pub use write::Entries;

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// One rank's dimension, independent of the protocol version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Dim {
    /// The number of elements of the global array along this axis.
    pub size: u64,
    /// The number of ranks along this axis (`proc_grid_size`).
    pub grid_size: u64,
    /// The rank's coordinate along this axis (`proc_grid_rank`).
    pub grid_rank: u64,
    /// Whether the dimension is periodic. Only 0.9 allows this for cyclic and unstructured ones.
    pub periodic: bool,
    /// The indices that the rank holds.
    pub kind: DimKind,
}

/// The global indices of a dimension that one rank holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DimKind {
    /// One contiguous range.
    Block {
        /// The global indices that the rank owns, boundary padding included.
        owned: Range<u64>,
        /// The widths of the padding at both ends, boundary or communication.
        padding: (u64, u64),
        /// Periodic padding of version 0.9: the outer edges are communication padding too, outside
        /// the array and filled from the other end.
        wraps: bool,
        /// Whether the `dist_type` was `'n'`; equivalent to a block on a grid of 1.
        undistributed: bool,
    },
    /// Blocks assigned round-robin.
    Cyclic {
        /// The number of indices in one block.
        block_size: u64,
    },
    /// A list of labels.
    Unstructured {
        /// The labels, in the order of the buffer.
        indices: Arc<[i64]>,
        /// Whether every label is on one rank only.
        one_to_one: bool,
    },
}

impl Dim {
    /// Returns the number of elements that this rank owns along the axis.
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
            DimKind::Cyclic { block_size } => self.cyclic_owned(*block_size),
            DimKind::Unstructured { indices, .. } => indices.len() as u64,
        }
    }

    /// Returns the number of cells of the rank's buffer along the axis, padding included.
    pub fn extent(&self) -> u64 {
        self.left_padding() + self.owned() + self.right_padding()
    }

    /// Returns the width of the left communication padding. Boundary padding is owned and does not
    /// count.
    pub fn left_padding(&self) -> u64 {
        self.communication_padding().0
    }

    /// Returns the width of the right communication padding.
    pub fn right_padding(&self) -> u64 {
        self.communication_padding().1
    }

    /// Returns the communication part of the padding.
    pub(crate) fn communication_padding(&self) -> (u64, u64) {
        let wraps = matches!(self.kind, DimKind::Block { wraps: true, .. });
        communication_padding(self.padding(), self.is_first_and_last(), wraps)
    }

    /// Returns the padding at both ends, of either kind.
    pub(crate) fn padding(&self) -> (u64, u64) {
        match self.kind {
            DimKind::Block { padding, .. } => padding,
            _ => (0, 0),
        }
    }

    /// Returns whether the rank is the first, and whether it is the last, of its axis.
    pub(crate) fn is_first_and_last(&self) -> (bool, bool) {
        (self.grid_rank == 0, self.grid_size.checked_sub(1) == Some(self.grid_rank))
    }

    /// Returns the number of indices of a cyclic dimension that this rank owns. Every full cycle
    /// gives it one block; of the last, partial cycle the first `extra` ranks get a full block and
    /// the next one the remainder.
    fn cyclic_owned(&self, block_size: u64) -> u64 {
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

/// Returns the communication part of the padding of a block: that of inner edges, and that of the
/// outer edges if it wraps.
pub(crate) fn communication_padding<W: Default>(
    padding: (W, W),
    ends: (bool, bool),
    wraps: bool,
) -> (W, W) {
    let width = |width, end| if end && !wraps { W::default() } else { width };
    (width(padding.0, ends.0), width(padding.1, ends.1))
}
