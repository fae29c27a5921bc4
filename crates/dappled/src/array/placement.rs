//! Placement: which rank holds which elements of an array.

use std::convert::Infallible;
use std::sync::Arc;

use dappled_kernels::{Axes, DType, View};
use dappled_protocol::Distribution;

use crate::session::Session;
use crate::session::caches::Cache;
use crate::session::layer_state::{LayerSlot, LayerState};

/// Where the elements of an array are.
#[derive(Clone)]
pub(crate) enum Placement {
    /// Every rank holds all elements.
    Replicated,
    /// Each rank holds a piece.
    Distributed(Arc<DistributedPlacement>),
}

/// Distribution of an array and layout of this rank's piece.
pub(crate) struct DistributedPlacement {
    pub distribution: Distribution,
    /// View of this rank's piece in its memory, padding included.
    pub local_view: View,
}

impl Placement {
    /// Creates the placement of a distribution, with pieces in C order.
    pub fn distributed(distribution: Distribution, dtype: DType, rank: u64) -> Self {
        let shape = match distribution.holds(rank) {
            true => distribution.local_shape(rank),
            false => vec![0; distribution.axes().len()],
        };
        let shape: Vec<usize> = shape.iter().map(|&length| length as usize).collect();
        Placement::Distributed(Arc::new(DistributedPlacement {
            distribution,
            local_view: View::c_order(dtype, &shape),
        }))
    }

    pub fn is_replicated(&self) -> bool {
        matches!(self, Placement::Replicated)
    }

    /// The view of this rank's memory; `base` if the array is replicated.
    pub fn local_view<'a>(&'a self, base: &'a View) -> &'a View {
        match self {
            Placement::Replicated => base,
            Placement::Distributed(placement) => &placement.local_view,
        }
    }
}

/// Placements and distributions that were computed before.
#[derive(Default)]
struct PlacementCaches {
    /// Default placements. Equal placements share one allocation, so comparing them is cheap.
    placements: Cache<(DType, Axes<usize>), Placement>,
    /// Distributions of replicated arrays, by shape.
    replicated: Cache<Axes<usize>, Distribution>,
}

impl LayerState for PlacementCaches {
    const SLOT: LayerSlot = LayerSlot::Array;
}

impl Session {
    /// The default placement of an array: replicated, or distributed in blocks.
    pub(crate) fn default_placement(&self, dtype: DType, shape: &[usize]) -> Placement {
        if self.should_replicate(shape, dtype.itemsize()) {
            return Placement::Replicated;
        }
        let create =
            || Placement::distributed(self.block_distribution(shape), dtype, self.fabric().rank());
        let Ok(layout) = self
            .layer::<PlacementCaches>()
            .placements
            .get_or_insert_with(&(dtype, shape.into()), || Ok::<Placement, Infallible>(create()));
        layout
    }

    /// The block distribution of an array of any size.
    pub(crate) fn distributed_placement(&self, dtype: DType, shape: &[usize]) -> Placement {
        Placement::distributed(self.block_distribution(shape), dtype, self.fabric().rank())
    }

    /// The distribution of a replicated array.
    pub fn replicated_distribution(&self, shape: &[usize]) -> Distribution {
        let lengths: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
        let spec = Distribution::spec(&lengths).dist(&"n".repeat(shape.len()));
        let build = || spec.nprocs(self.fabric().size()).build();
        self.layer::<PlacementCaches>()
            .replicated
            .get_or_insert_with(&shape.into(), build)
            .expect("a replicated distribution is valid for any shape")
    }
}
