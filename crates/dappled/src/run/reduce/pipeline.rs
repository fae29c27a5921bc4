//! Ordered reductions and scans over ranks: accumulators pass from rank to rank.

use std::ops::Range;

use dappled_base::memory::copy_of;
use dappled_fabric::{ExchangeRequest, Tag};
use dappled_kernels::{Buffer, BufferView as Memory, View, scan};

use super::distributed::place_result;
use super::local_values::local_values;
use super::{ReduceInput, reduce_into, report_scan_flags};
use crate::array::Array;
use crate::eager::single_op::pack_view;
use crate::error::Result;
use crate::plan::reduce::ReducePlan;
use crate::plan::reduce::pipeline::{RankPipeline, slice_axis};
use crate::plan::reduce::scan::ScanPlan;
use crate::plan::values::local_shape;
use crate::run::evaluate::{input_buffers, input_operands};
use crate::session::Session;

/// Reduces values in blocks along the outermost reduced axis. Collective.
pub(crate) fn reduce_sequential(
    session: &Session,
    values: ReduceInput,
    plan: &ReducePlan,
    pipeline: &RankPipeline,
    tag: Tag,
) -> Result<Array> {
    let request = &plan.request;
    let base = View::c_order(request.dtype, &request.reduced_shape(&plan.shape));
    let values = local_values(session, values, &plan.values)?;
    let out = View::c_order(request.dtype, &pipeline.accumulators);
    let mut memory = session.buffer_pool().allocate(pipeline.bytes(), &base);
    run_pipeline(session, pipeline, tag, |received, along, range| {
        let part = slice_axis(&out, along, &range);
        let bytes = part.offset..part.offset + part.len() * part.dtype.itemsize();
        if let Some(received) = &received {
            memory.write()?[bytes.clone()].copy_from_slice(received);
        }
        let values = values.slice(along, &range);
        reduce_into(session, &values, request, received.is_some(), &memory, &part)?;
        Ok(copy_of(&memory.read()?[bytes]))
    })?;
    if pipeline.next.is_some() || pipeline.chunks.is_empty() {
        memory = Buffer::zeroed(0);
    }
    place_result(session, base, &plan.result, memory)
}

/// Scans values along an axis in blocks. Collective.
pub(crate) fn run_scan(
    session: &Session,
    values: ReduceInput,
    plan: &ScanPlan,
    tag: Tag,
) -> Result<Array> {
    let (dtype, pipeline) = (plan.dtype, &plan.pipeline);
    let base = View::c_order(dtype, &plan.shape);
    let target = plan.values.distribution().expect("a scan never gathers its values");
    let local = local_shape(target, plan.context.rank);
    let values = local_values(session, values, &plan.values)?;
    let out = View::c_order(dtype, &local);
    let memory = session.buffer_pool().allocate(out.len() * dtype.itemsize(), &base);
    run_pipeline(session, pipeline, tag, |received, along, range| {
        let (part, values) = (slice_axis(&out, along, &range), values.slice(along, &range));
        let engine = session.interpreter(&values.fused.program)?;
        let buffers = input_buffers(session, &values.fused.inputs)?;
        let inputs = input_operands(&buffers, &values.fused.inputs)?;
        let target_memory = Memory::new(&memory, &part)?;
        // The copy is aligned for any element.
        let received = received.map(|received| Buffer::from_slice(&received));
        let received = received.as_ref().map(Buffer::read).transpose()?;
        let axis = pipeline.axis;
        let raised = scan(&engine, &inputs, plan.op, axis, received.as_deref(), &target_memory);
        report_scan_flags(session, &values, &raised?);
        let last = part.slice_axis(axis, local[axis] - 1, 1, 1);
        Ok(copy_of(&pack_view(&memory, &last)?.read()?))
    })?;
    place_result(session, base, &plan.result, memory)
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

/// Calls `process` with the accumulators of the previous rank and sends its result to the next.
///
/// `process` receives the accumulators, in chunks along an axis, and the axis and range of the
/// chunk.
fn run_pipeline(
    session: &Session,
    pipeline: &RankPipeline,
    tag: Tag,
    mut process: impl FnMut(Option<Vec<u8>>, Option<usize>, Range<usize>) -> Result<Vec<u8>>,
) -> Result<()> {
    let fabric = session.fabric();
    let receive = |rank: u64, bytes: usize| -> Result<Vec<u8>> {
        let received = fabric.exchange(tag, vec![], vec![(rank, bytes)]);
        Ok(received?.pop().unwrap_or_default())
    };
    let mut in_flight: Vec<ExchangeRequest> = Vec::new();
    for range in &pipeline.chunks {
        let bytes = pipeline.chunk_bytes(range);
        let received = pipeline.previous.map(|rank| receive(rank, bytes)).transpose()?;
        let processed = process(received, pipeline.chunk_axis, range.clone())?;
        if let Some(rank) = pipeline.next {
            in_flight.push(fabric.start_sized_exchange(tag, vec![(rank, processed)], vec![]));
        }
        for pending in &mut in_flight {
            pending.poll()?;
        }
    }
    in_flight.into_iter().try_for_each(|pending| pending.wait().map(drop))?;
    Ok(())
}
