//! The values that a reduction, a scan or a search reads, and where they are.

use dappled_kernels::DType;
use dappled_protocol::slice::{KeyItem, SliceKey};
use dappled_protocol::{AxisMap, Distribution, Held};

use crate::view::axis_mapping::AxisMapping;

/// The facts about a rank that plans depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankContext {
    /// The rank that the plan is for.
    pub rank: u64,
    /// The number of ranks.
    pub ranks: u64,
    /// Arrays of fewer bytes are replicated.
    pub replicate_below: usize,
}

impl RankContext {
    /// The block distribution over all ranks.
    pub fn block_distribution(&self, shape: &[usize]) -> Distribution {
        let shape: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
        let spec = Distribution::spec(&shape).nprocs(self.ranks);
        spec.build().expect("a block distribution exists for any shape and number of ranks")
    }

    /// Returns true if an array of this size is replicated by default.
    pub fn should_replicate(&self, dtype: DType, shape: &[usize]) -> bool {
        let bytes = shape.iter().fold(dtype.itemsize(), |bytes, &len| bytes.saturating_mul(len));
        self.ranks == 1 || shape.is_empty() || bytes < self.replicate_below
    }
}

/// The values of a fused program: their shape, and the arrays that they are computed from.
#[derive(Clone, Debug)]
pub struct PlanValues {
    /// The shape of the values.
    pub shape: Vec<usize>,
    /// The strides of NumPy's array, which determine the order of a reduction.
    pub strides: Vec<isize>,
    /// Whether the values are cast to the dtype of the accumulator.
    pub casts: bool,
    /// The arrays that the program reads.
    pub inputs: Vec<ValueInput>,
}

/// An array that a fused program reads.
#[derive(Clone, Debug)]
pub enum ValueInput {
    /// Every rank has all elements.
    Replicated,
    /// A view of a distributed array.
    Distributed {
        /// The distribution of the array.
        base: Distribution,
        /// The axes of the view; `None` if they do not follow those of the array.
        mapping: Option<AxisMapping>,
        /// Whether the view is the whole array.
        is_full_view: bool,
    },
}

/// The first step of a plan: how a rank obtains its block of the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValuesStep {
    /// The values have this distribution: each rank reads its block in place.
    InPlace(Distribution),
    /// The values are evaluated in this distribution, as an assignment with its own plan.
    Redistribute(Distribution),
    /// The values are gathered on every rank.
    Gather,
}

impl PlanValues {
    /// The distribution of the values, without padding: that of the first distributed input, seen
    /// through its view.
    pub fn distribution(&self, context: &RankContext) -> Distribution {
        let shape: Vec<u64> = self.shape.iter().map(|&length| length as u64).collect();
        let fits = |found: &Distribution| found.held() == Held::Grid && found.shape() == shape;
        let mut candidates = self.inputs.iter().filter_map(ValueInput::view_distribution);
        candidates.find(fits).unwrap_or_else(|| context.block_distribution(&self.shape))
    }

    /// The step that brings the values to a distribution.
    pub fn step_to(&self, target: Distribution) -> ValuesStep {
        match self.inputs.iter().all(|input| input.is_local_in(&target)) {
            true => ValuesStep::InPlace(target),
            false => ValuesStep::Redistribute(target),
        }
    }
}

impl ValuesStep {
    /// The distribution in which the values are read; `None` if they are gathered.
    pub fn distribution(&self) -> Option<&Distribution> {
        match self {
            ValuesStep::InPlace(target) | ValuesStep::Redistribute(target) => Some(target),
            ValuesStep::Gather => None,
        }
    }
}

impl ValueInput {
    /// The distribution of the elements of the view; `None` if its axes are permuted.
    fn view_distribution(&self) -> Option<Distribution> {
        let ValueInput::Distributed { base, mapping, .. } = self else { return None };
        let key = key_of_mapping(mapping.as_ref()?, &base.shape())?;
        Some(base.slice(&key).ok()?.without_padding())
    }

    /// Returns true if each rank's part of the view is evenly spaced in its memory; equal on all
    /// ranks.
    pub fn is_local_in(&self, target: &Distribution) -> bool {
        let is_in_blocks = target.axes().iter().all(|map| matches!(map.dist_type(), 'b' | 'n'));
        match self {
            ValueInput::Replicated => target.axes().iter().all(is_block_ordered),
            ValueInput::Distributed { is_full_view, .. } => {
                (is_in_blocks || *is_full_view) && self.view_distribution().as_ref() == Some(target)
            }
        }
    }
}

/// The key that selects the elements of a view.
fn key_of_mapping(mapping: &AxisMapping, shape: &[u64]) -> Option<SliceKey> {
    let (mut items, mut next) = (Vec::new(), 0);
    for along in &mapping.axes {
        let Some((axis, step)) = along.base_axis else {
            (along.length == 1).then(|| items.push(KeyItem::NewAxis))?;
            continue;
        };
        let skipped = mapping.starts.get(next..axis)?;
        items.extend(skipped.iter().map(|&start| KeyItem::Index(start as i64)));
        let start = mapping.starts[axis] as i64;
        let stop = start + step * along.length as i64;
        items.push(KeyItem::Slice(Some(start), (stop >= 0).then_some(stop), Some(step)));
        next = axis + 1;
    }
    items.extend(mapping.starts[next..].iter().map(|&start| KeyItem::Index(start as i64)));
    SliceKey::new(&items, shape).ok()
}

/// The shape of a rank's local piece.
pub(crate) fn local_shape(target: &Distribution, rank: u64) -> Vec<usize> {
    target.local_shape(rank).iter().map(|&length| length as usize).collect()
}

/// Returns true if the blocks of an axis ascend in the order of the ranks.
pub(crate) fn is_block_ordered(map: &AxisMap) -> bool {
    let blocks = (0..map.grid()).flat_map(|rank| map.owned_ranges(rank));
    matches!(map.dist_type(), 'b' | 'n')
        && !map.is_padded()
        && blocks.is_sorted_by_key(|block| *block.start())
        && is_ascending(map)
}

/// Returns true if each element of an axis has one owner.
pub(crate) fn is_partition(map: &AxisMap) -> bool {
    (0..map.grid()).map(|rank| map.owned(rank)).sum::<u64>() == map.size()
}

/// Returns true if each rank's elements of an axis ascend.
pub(crate) fn is_ascending(map: &AxisMap) -> bool {
    let is_ascending = |rank: u64| map.owned(rank) < 2 || map.global(rank, 0) < map.global(rank, 1);
    map.dist_type() != 'u' && (0..map.grid()).all(is_ascending)
}

/// The range of a block axis that the ranks at a grid coordinate own.
pub(crate) fn owned_range(map: &AxisMap, coord: u64) -> std::ops::Range<u64> {
    let range = map.owned_ranges(coord).next();
    range.map_or(0..0, |range| *range.start() as u64..*range.end() as u64 + 1)
}
