//! Ordered reductions and scans: accumulators pass from rank to rank in chunks.

use std::ops::Range;

use dappled_kernels::{DType, View};
use dappled_protocol::Distribution;

use crate::config::{MAX_PIPELINE_MESSAGES, MIN_PIPELINE_MESSAGE_BYTES};
use crate::plan::values::local_shape;

/// The position of a rank in the pipeline along a distributed axis, and the chunks that it passes.
///
/// A rank continues from the accumulators of the previous rank, a chunk at a time, so that the next
/// rank can start with finished chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankPipeline {
    /// The distributed axis.
    pub axis: usize,
    /// The rank that sends accumulators to this one.
    pub previous: Option<u64>,
    /// The rank that continues from this one's accumulators.
    pub next: Option<u64>,
    /// The shape of this rank's accumulators.
    pub accumulators: Vec<usize>,
    /// The dtype of the accumulators.
    pub dtype: DType,
    /// The axis along which the accumulators are split into chunks.
    pub chunk_axis: Option<usize>,
    /// The ranges of the chunks, one message each; empty if this rank has no values.
    pub chunks: Vec<Range<usize>>,
}

impl RankPipeline {
    /// Plans the pipeline of a rank whose accumulators have this shape.
    pub fn new(
        target: &Distribution,
        axis: usize,
        rank: u64,
        (dtype, accumulators): (DType, Vec<usize>),
    ) -> Self {
        let (map, coords) = (&target.axes()[axis], target.coords(rank));
        let rank_at = |coord: u64| {
            let mut coords = coords.clone();
            coords[axis] = coord;
            target.rank(&coords)
        };
        let owns_elements = |coord: &u64| map.owned(*coord) > 0;
        let previous = (0..coords[axis]).rev().find(owns_elements).map(rank_at);
        let next = (coords[axis] + 1..map.grid()).find(owns_elements).map(rank_at);
        let (chunk_axis, chunks) = match local_shape(target, rank).contains(&0) {
            true => (None, Vec::new()),
            false => chunk_ranges(dtype, &accumulators),
        };
        Self { axis, previous, next, accumulators, dtype, chunk_axis, chunks }
    }

    /// The number of bytes of a chunk.
    pub fn chunk_bytes(&self, range: &Range<usize>) -> usize {
        let view = View::c_order(self.dtype, &self.accumulators);
        slice_axis(&view, self.chunk_axis, range).len() * self.dtype.itemsize()
    }

    /// The number of bytes of all accumulators of the rank.
    pub fn bytes(&self) -> usize {
        self.accumulators.iter().product::<usize>() * self.dtype.itemsize()
    }
}

/// The range of a view along an axis; all of it without an axis.
pub(crate) fn slice_axis(view: &View, along: Option<usize>, range: &Range<usize>) -> View {
    match along {
        Some(axis) => view.slice_axis(axis, range.start, 1, range.len()),
        None => view.clone(),
    }
}

/// The first axis longer than 1, and the ranges along it that form contiguous chunks.
fn chunk_ranges(dtype: DType, accumulators: &[usize]) -> (Option<usize>, Vec<Range<usize>>) {
    let Some(axis) = accumulators.iter().position(|&length| length > 1) else {
        return (None, vec![0..1]);
    };
    let bytes = accumulators.iter().product::<usize>() * dtype.itemsize();
    let length = accumulators[axis];
    let chunks = (bytes / MIN_PIPELINE_MESSAGE_BYTES).clamp(1, MAX_PIPELINE_MESSAGES).min(length);
    let step = length.div_ceil(chunks);
    let ranges = (0..length).step_by(step).map(|start| start..length.min(start + step));
    (Some(axis), ranges.collect())
}
