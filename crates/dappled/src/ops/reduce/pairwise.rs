//! NumPy's pairwise summation of floats over ranks, with NumPy's bits.
//!
//! NumPy splits the values of an accumulator, in memory order, into pieces and sums each piece
//! along a tree. A rank owns some ranges of that order. For each piece it sends the sums of the
//! largest tree nodes that it owns, and the values of leaves that are split between ranks, to the
//! rank that owns the accumulator's first value. That rank combines them.

use std::ops::Range;

use dappled_base::memory;
use dappled_fabric::Tag;
use dappled_kernels::element::bytes_of;
use dappled_kernels::tree::{Summand, TreePart};
use dappled_kernels::{
    Buffer, Element, FpFlags, Op, ReduceRuns, View, capture_fp_flags, sum_parts,
};
use dappled_protocol::Distribution;

use super::distributed::{ResultOwner, distributed_result, result_distribution};
use super::local_block::local_values;
use super::pairwise_group::{SumGroup, SumShare};
use super::{ReduceInput, ReduceRequest, report_reduce_flags};
use crate::array::Array;
use crate::error::Result;
use crate::graph::fusion::FusedProgram;
use crate::run::evaluate::{input_buffers, input_operands};
use crate::session::Session;
use crate::session::fp_warnings::OpRequest;

/// Sums block-distributed values whose axes are in memory order. Collective.
///
/// `add` adds the sum of a piece to an accumulator.
pub(crate) fn pairwise_sum<A: Element, T: Summand>(
    session: &Session,
    values: ReduceInput,
    request: &ReduceRequest,
    (target, tag): (&Distribution, Tag),
    add: fn(A, T) -> A,
) -> Result<Array> {
    let (itemsize, axes) = (request.dtype.itemsize(), &request.axes);
    let runs = ReduceRuns::new(&values.shape, &values.strides, axes, itemsize, values.casts);
    let group = SumGroup::new(target, axes, session.fabric().rank());
    let pieces: Vec<Range<u64>> = runs.pieces(group.lengths.iter().product()).collect();
    let shares: Vec<SumShare> =
        group.members.iter().map(|member| group.share::<T>(&pieces, member)).collect();
    let base = View::c_order(request.dtype, &request.reduced_shape(&values.shape));
    let values = local_values(session, values, target)?;
    let local_share = &shares[group.own_index];
    let (partials, raised) = partial_sums::<T>(session, values, &group.local_parts(local_share))?;
    let mut message = memory::with_capacity(1 + size_of_val(&partials[..]));
    message.push(raised.bits());
    memory::append(&mut message, bytes_of(&partials));
    let messages = group.gather_to_root(session, tag, &shares, message)?;
    let start = request.initial.and_then(|initial| initial.get::<A>()).unwrap_or_default();
    let memory = match messages.is_empty() {
        true => Buffer::zeroed(0),
        false => {
            let reported = messages
                .iter()
                .fold(FpFlags::NONE, |flags, message| flags | FpFlags::from_bits(message[0]));
            let partials: Vec<Vec<T>> =
                messages.iter().map(|bytes| Buffer::from_slice(&bytes[1..]).to_vec()).collect();
            let (sums, flags) =
                capture_fp_flags(|| group.combine(start, &pieces, &shares, &partials, add));
            session.fp_warnings().add("reduce", flags.without(reported), None);
            Buffer::from_slice(&sums)
        }
    };
    distributed_result(
        session,
        base,
        result_distribution(target, axes, ResultOwner::First),
        memory,
        axes.len(),
    )
}

/// The values that this rank sends, by accumulator, and the floating-point flags.
fn partial_sums<T: Summand>(
    session: &Session,
    values: ReduceInput,
    parts: &[TreePart],
) -> Result<(Vec<T>, FpFlags)> {
    let values = ReduceInput { fused: widen_program::<T>(values.fused), ..values };
    let engine = session.interpreter(&values.fused.program)?;
    let buffers = input_buffers(session, &values.fused.inputs)?;
    let inputs = input_operands(&buffers, &values.fused.inputs)?;
    let (sums, raised) = sum_parts::<T>(&engine, &inputs, parts)?;
    report_reduce_flags(session, &values, &raised);
    Ok((sums, raised.reduction))
}

/// The program in the dtype of the tree: NumPy sums float16 in float32.
fn widen_program<T: Summand>(mut fused: FusedProgram) -> FusedProgram {
    let output = fused.program.outputs[0];
    let dtype = fused.program.dtype(output).expect("a program has an output");
    if dtype != T::DTYPE {
        let wide = fused.program.push(Op::Cast(T::DTYPE), dtype, &[output]);
        fused.program.outputs = vec![wide];
        fused.requests.push(OpRequest::from(Op::Cast(T::DTYPE)));
    }
    fused
}
