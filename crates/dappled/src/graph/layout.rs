//! Which rank has which elements of an array.

use std::sync::Arc;

use dappled_kernels::{DType, View};
use dappled_protocol::Distribution;

/// Where the elements of an array are.
#[derive(Clone)]
pub(crate) enum Layout {
    /// All of them on every rank.
    Whole,
    /// In pieces.
    Split(Arc<Split>),
}

/// An array in pieces.
pub(crate) struct Split {
    pub distribution: Distribution,
    /// How this rank's piece lies in its memory, padding included.
    pub local: View,
}

impl Layout {
    /// Pieces of a distribution, in C order.
    pub fn split(distribution: Distribution, dtype: DType, rank: u64) -> Self {
        let shape = match distribution.holds(rank) {
            true => distribution.local_shape(rank),
            false => vec![0; distribution.axes().len()],
        };
        let shape: Vec<usize> = shape.iter().map(|&length| length as usize).collect();
        Layout::Split(Arc::new(Split { distribution, local: View::c_order(dtype, &shape) }))
    }

    pub fn is_whole(&self) -> bool {
        matches!(self, Layout::Whole)
    }

    /// How this rank's memory is laid out; `base` where it has everything.
    pub fn local<'a>(&'a self, base: &'a View) -> &'a View {
        match self {
            Layout::Whole => base,
            Layout::Split(split) => &split.local,
        }
    }
}
