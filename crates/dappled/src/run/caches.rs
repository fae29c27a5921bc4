//! Caches of plans, so that a loop computes each of them once.

use std::ops::Range;
use std::sync::Arc;

use dappled_protocol::Distribution;

use super::halo::HaloExchange;
use crate::plan::step::Plan;
use crate::session::caches::Cache;
use crate::session::layer_state::{LayerSlot, LayerState};
use crate::view::axis_mapping::AxisMapping;

/// The caches of this layer.
#[derive(Default)]
pub(crate) struct RunCaches {
    /// Plans of assignments, by target, operands, and the array that each operand reads.
    pub plans: Cache<(OperandKey, Vec<OperandKey>, Vec<usize>), Arc<Plan>>,
    /// The box of this rank's memory that a write covers.
    pub written_boxes: Cache<OperandKey, Vec<Range<u64>>>,
    /// Messages that fill the padding of an array.
    pub halos: Cache<Distribution, Arc<HaloExchange>>,
}

impl LayerState for RunCaches {
    const SLOT: LayerSlot = LayerSlot::Run;
}

/// The distribution of a base and the axis mapping of a view of it.
pub(crate) type OperandKey = (Distribution, AxisMapping);
