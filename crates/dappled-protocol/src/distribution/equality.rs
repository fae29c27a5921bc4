//! Equality of distributions: every rank has the same dimension data.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::Distribution;
use crate::axis::{AxisKind, AxisMap};
use crate::dim::{Dim, DimKind};

/// Equal shape, grid and dimensions on all ranks. `n` equals `b` on a grid of 1.
impl PartialEq for Distribution {
    fn eq(&self, other: &Self) -> bool {
        (self.nprocs, self.held, &self.padding_exceptions)
            == (other.nprocs, other.held, &other.padding_exceptions)
            && self.axes.len() == other.axes.len()
            && (Arc::ptr_eq(&self.axes, &other.axes)
                || self.axes.iter().zip(&*other.axes).all(|(own, other)| same_axis(own, other)))
    }
}

impl Eq for Distribution {}

impl Hash for Distribution {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nprocs.hash(state);
        for axis in &*self.axes {
            (axis.size(), axis.grid(), normalized_dist_type(axis)).hash(state);
        }
    }
}

fn normalized_dist_type(axis: &AxisMap) -> char {
    match axis.dist_type() {
        'n' => 'b',
        kind => kind,
    }
}

/// Compares the maps, and rank by rank if these have different forms.
fn same_axis(own: &AxisMap, other: &AxisMap) -> bool {
    let of = |axis: &AxisMap| (axis.size(), axis.grid(), normalized_dist_type(axis));
    of(own) == of(other)
        && (normalized(own) == normalized(other)
            || (0..own.grid()).all(|rank| same_piece(own, other, rank)))
}

/// Returns the map without spelling differences.
fn normalized(axis: &AxisMap) -> AxisMap {
    let mut axis = axis.clone();
    if let AxisKind::Block(block) = &mut axis.kind {
        block.undistributed = false;
    }
    axis
}

fn same_piece(own: &AxisMap, other: &AxisMap, rank: u64) -> bool {
    // Compare the counts first, so that tables are made only for pieces that may be equal.
    own.owned(rank) == other.owned(rank)
        && match (own.dim(rank), other.dim(rank)) {
            (Ok(own), Ok(other)) => normalized_dim(own) == normalized_dim(other),
            _ => false,
        }
}

fn normalized_dim(mut dim: Dim) -> Dim {
    if let DimKind::Block { undistributed, .. } = &mut dim.kind {
        *undistributed = false;
    }
    dim
}
