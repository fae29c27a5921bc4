//! When two distributions are the same: every rank has the same description under both.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::Distribution;
use crate::axis::{AxisMap, Kind};
use crate::dim::{Dim, DimKind};

/// Same shape, same grid, same dimensions on all ranks. `n` is `b` on a grid of 1.
impl PartialEq for Distribution {
    fn eq(&self, other: &Self) -> bool {
        (self.nprocs, self.held, &self.odd_edges) == (other.nprocs, other.held, &other.odd_edges)
            && self.axes.len() == other.axes.len()
            && (Arc::ptr_eq(&self.axes, &other.axes)
                || self.axes.iter().zip(&*other.axes).all(|(own, other)| same(own, other)))
    }
}

impl Eq for Distribution {}

impl Hash for Distribution {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nprocs.hash(state);
        for axis in &*self.axes {
            (axis.size(), axis.grid(), kind_of(axis)).hash(state);
        }
    }
}

fn kind_of(axis: &AxisMap) -> char {
    match axis.dist_type() {
        'n' => 'b',
        kind => kind,
    }
}

/// Axis maps are kept in one form where that is cheap; what is left is compared rank by rank.
fn same(own: &AxisMap, other: &AxisMap) -> bool {
    let of = |axis: &AxisMap| (axis.size(), axis.grid(), kind_of(axis));
    of(own) == of(other)
        && (plain(own) == plain(other) || (0..own.grid()).all(|rank| same_piece(own, other, rank)))
}

/// The map without what means nothing.
fn plain(axis: &AxisMap) -> AxisMap {
    let mut axis = axis.clone();
    if let Kind::Block(block) = &mut axis.kind {
        block.undistributed = false;
    }
    axis
}

fn same_piece(own: &AxisMap, other: &AxisMap, rank: u64) -> bool {
    // Counts first: a table is made only for pieces that may be the same.
    own.owned(rank) == other.owned(rank)
        && match (own.dim(rank), other.dim(rank)) {
            (Ok(own), Ok(other)) => unspelt(own) == unspelt(other),
            _ => false,
        }
}

fn unspelt(mut dim: Dim) -> Dim {
    if let DimKind::Block { undistributed, .. } = &mut dim.kind {
        *undistributed = false;
    }
    dim
}
