//! NumPy's pairwise summation of floats over ranks, with NumPy's bits.

use dappled_base::memory::{self, collect};
use dappled_fabric::Tag;
use dappled_kernels::element::{bytes_of, f16};
use dappled_kernels::tree::{Summand, TreePart, join};
use dappled_kernels::{Buffer, DType, Element, FpFlags, Op, View, capture_fp_flags, sum_parts};
use num_complex::{Complex32, Complex64};

use super::distributed::place_result;
use super::local_values::local_values;
use super::{ReduceInput, report_reduce_flags};
use crate::array::Array;
use crate::error::Result;
use crate::graph::fusion::FusedProgram;
use crate::plan::reduce::ReducePlan;
use crate::plan::reduce::pairwise::PairwiseSum;
use crate::run::evaluate::{input_buffers, input_operands};
use crate::session::Session;
use crate::session::fp_warnings::OpRequest;

/// Sums block-distributed values, in the dtype of NumPy's accumulator. Collective.
pub(crate) fn reduce_pairwise(
    session: &Session,
    values: ReduceInput,
    plan: &ReducePlan,
    sum: &PairwiseSum,
    tag: Tag,
) -> Result<Array> {
    let base = View::c_order(sum.dtype, &plan.request.reduced_shape(&plan.shape));
    let values = local_values(session, values, &plan.values)?;
    let run = PairwiseRun { session, sum, plan, tag };
    let memory = match sum.dtype {
        DType::Float16 => {
            run.sum(values, |acc: f16, sum: f32| f16::from_f32(acc.to_f32() + sum))?
        }
        DType::Float32 => run.sum(values, |acc: f32, sum: f32| acc + sum)?,
        DType::Float64 => run.sum(values, |acc: f64, sum: f64| acc + sum)?,
        DType::Complex64 => run.sum(values, |acc: Complex32, sum: Complex32| acc + sum)?,
        _ => run.sum(values, |acc: Complex64, sum: Complex64| acc + sum)?,
    };
    place_result(session, base, &plan.result, memory)
}

/// The arguments of a pairwise sum.
struct PairwiseRun<'a> {
    session: &'a Session,
    sum: &'a PairwiseSum,
    plan: &'a ReducePlan,
    tag: Tag,
}

impl PairwiseRun<'_> {
    /// The sums on the root, and no memory elsewhere; `add` adds the sum of a piece.
    fn sum<A: Element, T: Summand>(
        &self,
        values: ReduceInput,
        add: fn(A, T) -> A,
    ) -> Result<Buffer> {
        let (partials, raised) = partial_sums::<T>(self.session, values, &self.sum.local_parts())?;
        let mut message = memory::with_capacity(1 + size_of_val(&partials[..]));
        message.push(raised.bits());
        memory::append(&mut message, bytes_of(&partials));
        let messages = self.gather_to_root(message)?;
        if messages.is_empty() {
            return Ok(Buffer::zeroed(0));
        }
        let reported = messages
            .iter()
            .fold(FpFlags::NONE, |flags, message| flags | FpFlags::from_bits(message[0]));
        let partials: Vec<Vec<T>> =
            messages.iter().map(|bytes| Buffer::from_slice(&bytes[1..]).to_vec()).collect();
        let initial = self.plan.request.initial;
        let start = initial.and_then(|initial| initial.get::<A>()).unwrap_or_default();
        let (sums, flags) = capture_fp_flags(|| combine(self.sum, start, &partials, add));
        self.session.fp_warnings().add("reduce", flags.without(reported), None);
        Ok(Buffer::from_slice(&sums))
    }

    /// Sends the parts to the root, which receives those of all members; empty elsewhere.
    fn gather_to_root(&self, message: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        let (fabric, members) = (self.session.fabric(), &self.sum.members);
        if members.is_empty() {
            fabric.exchange(self.tag, vec![(self.sum.root, message)], vec![])?;
            return Ok(Vec::new());
        }
        let others = members.iter().filter(|(rank, _)| *rank != fabric.rank());
        let receives = others.map(|&(rank, _)| (rank, None)).collect();
        let mut messages = fabric.start_exchange(self.tag, vec![], receives).wait()?;
        let own_index = members.iter().position(|(rank, _)| *rank == fabric.rank());
        messages.insert(own_index.expect("the root is a member"), message);
        Ok(messages)
    }
}

/// The sums, from the parts of all members.
fn combine<A: Element, T: Summand>(
    sum: &PairwiseSum,
    start: A,
    values_by_member: &[Vec<T>],
    add: fn(A, T) -> A,
) -> Vec<A> {
    // The parts in the order of the values: position, member, part, and offset in the member's
    // message.
    let mut order: Vec<(u64, usize, &(usize, TreePart), usize)> = Vec::new();
    for (member, (_, share)) in sum.members.iter().enumerate() {
        let mut offset = 0;
        for (part, &start) in share.parts.iter().zip(&share.starts) {
            order.push((start, member, part, offset));
            offset += part.1.count() as usize;
        }
    }
    order.sort_by_key(|&(start, ..)| start);
    let accumulate = |accumulator: usize| {
        let mut parts = order.iter().peekable();
        sum.pieces.iter().enumerate().fold(start, |sum_so_far, (index, piece)| {
            let mut tree_parts = Vec::new();
            while let Some((_, member, (_, part), offset)) =
                parts.next_if(|(_, _, (piece, _), _)| *piece == index)
            {
                let from = accumulator * sum.members[*member].1.count + offset;
                let values = &values_by_member[*member][from..from + part.count() as usize];
                tree_parts.push((part.clone(), values.to_vec()));
            }
            let length = piece.end - piece.start;
            add(sum_so_far, join::<T>(length, &tree_parts).expect("the ranks cover the tree"))
        })
    };
    collect((0..sum.accumulators as usize).map(accumulate))
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
