//! Ordered reductions and scans over ranks: accumulators pass from rank to rank.
//!
//! The ranks along the distributed axis form a pipeline. Each continues from the accumulators of
//! the previous rank, a chunk at a time, so that the next rank can start with finished chunks.

use std::ops::Range;

use dappled_base::memory::copy_of;
use dappled_fabric::{ExchangeRequest, Tag};
use dappled_kernels::{Buffer, BufferView as Memory, ReduceOp, View, scan};
use dappled_protocol::Distribution;

use super::distributed::{ResultOwner, distributed_result, result_distribution};
use super::local_block::{local_shape, local_values};
use super::{ReduceInput, ReduceRequest, reduce_into, report_scan_flags};
use crate::array::Array;
use crate::config::{MAX_PIPELINE_MESSAGES, MIN_PIPELINE_MESSAGE_BYTES};
use crate::eager::single_op::pack_view;
use crate::error::Result;
use crate::run::evaluate::{input_buffers, input_operands};
use crate::session::Session;

/// Reduces values in blocks along the outermost reduced axis. Collective.
pub(crate) fn reduce_sequential(
    session: &Session,
    values: ReduceInput,
    request: &ReduceRequest,
    (target, axis): (&Distribution, usize),
    tag: Tag,
) -> Result<Array> {
    let base = View::c_order(request.dtype, &request.reduced_shape(&values.shape));
    let local = local_shape(target, session.fabric().rank());
    let values = local_values(session, values, target)?;
    let out = View::c_order(request.dtype, &request.reduced_shape(&local));
    let mut memory = session.buffer_pool().allocate(out.len() * out.dtype.itemsize(), &base);
    let pipeline = RankPipeline::new(session, tag, target, axis);
    if !local.contains(&0) {
        pipeline.run(&out, |received, along, range| {
            let part = slice_axis(&out, along, &range);
            let bytes = part.offset..part.offset + part.len() * part.dtype.itemsize();
            if let Some(received) = &received {
                memory.write()?[bytes.clone()].copy_from_slice(received);
            }
            let values = values.slice(along, &range);
            reduce_into(session, &values, request, received.is_some(), &memory, &part)?;
            Ok(copy_of(&memory.read()?[bytes]))
        })?;
    }
    if pipeline.next.is_some() || local[axis] == 0 {
        memory = Buffer::zeroed(0);
    }
    distributed_result(
        session,
        base,
        result_distribution(target, &request.axes, ResultOwner::Last),
        memory,
        request.axes.len(),
    )
}

/// Scans values along an axis in blocks. Collective.
pub(crate) fn scan_sequential(
    session: &Session,
    values: ReduceInput,
    fold: ReduceOp,
    (target, axis): (&Distribution, usize),
    tag: Tag,
) -> Result<Array> {
    let dtype = values.dtype();
    let base = View::c_order(dtype, &values.shape);
    let local = local_shape(target, session.fabric().rank());
    let values = local_values(session, values, target)?;
    let out = View::c_order(dtype, &local);
    let memory = session.buffer_pool().allocate(out.len() * dtype.itemsize(), &base);
    if !local.contains(&0) {
        let row = View::c_order(dtype, &with_unit_axis(&local, axis));
        RankPipeline::new(session, tag, target, axis).run(&row, |received, along, range| {
            let (part, values) = (slice_axis(&out, along, &range), values.slice(along, &range));
            let engine = session.interpreter(&values.fused.program)?;
            let buffers = input_buffers(session, &values.fused.inputs)?;
            let inputs = input_operands(&buffers, &values.fused.inputs)?;
            let target_memory = Memory::new(&memory, &part)?;
            // The copy is aligned for any element.
            let received = received.map(|received| Buffer::from_slice(&received));
            let received = received.as_ref().map(Buffer::read).transpose()?;
            let raised = scan(&engine, &inputs, fold, axis, received.as_deref(), &target_memory);
            report_scan_flags(session, &values, &raised?);
            let last = part.slice_axis(axis, local[axis] - 1, 1, 1);
            Ok(copy_of(&pack_view(&memory, &last)?.read()?))
        })?;
    }
    distributed_result(session, base, target.clone(), memory, 0)
}

fn with_unit_axis(shape: &[usize], axis: usize) -> Vec<usize> {
    shape.iter().enumerate().map(|(dim, &length)| if dim == axis { 1 } else { length }).collect()
}

/// The range of a view along an axis; all of it without an axis.
fn slice_axis(view: &View, along: Option<usize>, range: &Range<usize>) -> View {
    match along {
        Some(axis) => view.slice_axis(axis, range.start, 1, range.len()),
        None => view.clone(),
    }
}

impl ReduceInput {
    /// The range of the values along an axis; all of them without an axis.
    fn slice(&self, along: Option<usize>, range: &Range<usize>) -> ReduceInput {
        let mut values = self.clone();
        for (_, view) in &mut values.fused.inputs {
            *view = slice_axis(view, along, range);
        }
        values
    }
}

/// The position of a rank in the pipeline along a distributed axis.
struct RankPipeline<'a> {
    session: &'a Session,
    tag: Tag,
    previous: Option<u64>,
    next: Option<u64>,
}

impl<'a> RankPipeline<'a> {
    fn new(session: &'a Session, tag: Tag, target: &Distribution, axis: usize) -> Self {
        let (map, coords) = (&target.axes()[axis], target.coords(session.fabric().rank()));
        let rank_at = |coord: u64| {
            let mut coords = coords.clone();
            coords[axis] = coord;
            target.rank(&coords)
        };
        let owns_elements = |coord: &u64| map.owned(*coord) > 0;
        let previous = (0..coords[axis]).rev().find(owns_elements).map(rank_at);
        let next = (coords[axis] + 1..map.grid()).find(owns_elements).map(rank_at);
        Self { session, tag, previous, next }
    }

    /// Calls `process` with the accumulators of the previous rank and sends its result to the next.
    ///
    /// `process` receives the accumulators, in chunks along an axis, and the axis and range of the
    /// chunk.
    fn run(
        &self,
        accumulators: &View,
        mut process: impl FnMut(Option<Vec<u8>>, Option<usize>, Range<usize>) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let (along, ranges) = pipeline_chunks(accumulators);
        let mut in_flight: Vec<ExchangeRequest> = Vec::new();
        for range in ranges {
            let bytes =
                slice_axis(accumulators, along, &range).len() * accumulators.dtype.itemsize();
            let received = self.previous.map(|rank| self.receive(rank, bytes)).transpose()?;
            let processed = process(received, along, range)?;
            if let Some(rank) = self.next {
                in_flight.push(self.session.fabric().start_sized_exchange(
                    self.tag,
                    vec![(rank, processed)],
                    vec![],
                ));
            }
            for pending in &mut in_flight {
                pending.poll()?;
            }
        }
        in_flight.into_iter().try_for_each(|pending| pending.wait().map(drop))?;
        Ok(())
    }

    fn receive(&self, rank: u64, bytes: usize) -> Result<Vec<u8>> {
        let received = self.session.fabric().exchange(self.tag, vec![], vec![(rank, bytes)]);
        Ok(received?.pop().unwrap_or_default())
    }
}

/// The first axis longer than 1, and the ranges along it that form contiguous chunks.
fn pipeline_chunks(accumulators: &View) -> (Option<usize>, Vec<Range<usize>>) {
    let Some(axis) = accumulators.shape.iter().position(|&length| length > 1) else {
        return (None, vec![0..1]);
    };
    let (length, bytes) =
        (accumulators.shape[axis], accumulators.len() * accumulators.dtype.itemsize());
    let chunks = (bytes / MIN_PIPELINE_MESSAGE_BYTES).clamp(1, MAX_PIPELINE_MESSAGES).min(length);
    let step = length.div_ceil(chunks);
    let ranges = (0..length).step_by(step).map(|start| start..length.min(start + step));
    (Some(axis), ranges.collect())
}
