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
