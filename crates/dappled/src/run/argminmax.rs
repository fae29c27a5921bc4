//! Argmin and argmax: each rank searches its local values, and the ranks compare their results.

use dappled_kernels::element::bytes_of;
use dappled_kernels::{ArgReduceOp, Axes, Buffer, DType, Engine, View, arg_reduce};
use dappled_protocol::Distribution;

use super::reduce::ReduceInput;
use super::reduce::distributed::place_result;
use super::reduce::local_values::local_values;
use super::reduce::run_into_new;
use crate::array::Array;
use crate::error::Result;
use crate::plan::reduce::argminmax::{ArgReducePlan, searched_shape};
use crate::plan::values::local_shape;
use crate::session::Session;

/// Runs the plan of a search. Collective.
pub(crate) fn run_arg_reduce(
    session: &Session,
    values: ReduceInput,
    plan: &ArgReducePlan,
) -> Result<Array> {
    let target = plan.values.distribution().expect("a search never gathers its values");
    let values = local_values(session, values, &plan.values)?;
    let Some(axis) = plan.axis else { return arg_reduce_all(session, &values, plan, target) };
    let base = View::c_order(DType::Int64, &searched_shape(&plan.shape, Some(axis)));
    let local = searched_shape(&local_shape(target, plan.context.rank), Some(axis));
    let out = View::c_order(DType::Int64, &local);
    let memory = match out.is_empty() {
        true => Buffer::zeroed(0),
        false => arg_reduce_local(session, &values, plan.op, Some(axis), &out)?,
    };
    place_result(session, base, &plan.result, memory)
}

/// Searches all elements: compares the extremes of all ranks; of equal elements the first wins.
fn arg_reduce_all(
    session: &Session,
    values: &ReduceInput,
    plan: &ArgReducePlan,
    target: &Distribution,
) -> Result<Array> {
    let candidate = local_extreme(session, values, (plan.op, plan.context.rank), target)?;
    let candidate =
        candidate.map_or(Vec::new(), |(index, value)| [bytes_of(&[index]), &value].concat());
    let messages = session.allgather("argmin or argmax", candidate)?;
    let mut candidates: Vec<(u64, &[u8])> =
        messages.iter().filter_map(|message| decode_candidate(message)).collect();
    candidates.sort_by_key(|(index, _)| *index);
    let bytes: Vec<u8> = candidates.iter().flat_map(|(_, value)| value.iter().copied()).collect();
    let extremes = View::c_order(values.dtype(), &[candidates.len()]);
    let extremes = Array::replicated(session, extremes, Buffer::from_slice(&bytes));
    let extremes = ReduceInput::new(&extremes, values.dtype())?;
    let one = View::c_order(DType::Int64, &[1]);
    let best = arg_reduce_local(session, &extremes, plan.op, None, &one)?.to_vec::<i64>()[0];
    let shape = vec![1; plan.shape.len()];
    Ok(Array::from_slice(session, &shape, &[candidates[best as usize].0 as i64]))
}

/// Splits a message into the flat index and the bytes of the value.
fn decode_candidate(message: &[u8]) -> Option<(u64, &[u8])> {
    let (index, value) = message.split_first_chunk()?;
    Some((u64::from_ne_bytes(*index), value))
}

/// The global flat index and the value of this rank's extreme; `None` without elements.
fn local_extreme(
    session: &Session,
    values: &ReduceInput,
    (extreme, rank): (ArgReduceOp, u64),
    target: &Distribution,
) -> Result<Option<(u64, Vec<u8>)>> {
    let local = local_shape(target, rank);
    if local.contains(&0) {
        return Ok(None);
    }
    let one = View::c_order(DType::Int64, &vec![1; local.len()]);
    let flat_index = arg_reduce_local(session, values, extreme, None, &one)?.to_vec::<i64>()[0];
    let index = unravel_index(flat_index as u64, &local);
    let global = target.global(rank, &index).expect("the index is inside the local piece");
    let lengths = target.shape();
    let flat = |flat_index: u64, (coord, length): (&i64, &u64)| flat_index * length + *coord as u64;
    let flat_index = global.iter().zip(&lengths).fold(0, flat);
    let one = View::c_order(values.dtype(), &[]);
    let element = values.at_element(&index);
    let (memory, _) =
        run_into_new(session, &element, &one, |engine, inputs, out| engine.run(inputs, &[*out]))?;
    let value = memory.read()?.to_vec();
    Ok(Some((flat_index, value)))
}

fn unravel_index(flat_index: u64, shape: &[usize]) -> Vec<u64> {
    let mut rest = flat_index;
    let mut index = vec![0; shape.len()];
    for (coord, &length) in index.iter_mut().zip(shape).rev() {
        *coord = rest % length as u64;
        rest /= length as u64;
    }
    index
}

impl ReduceInput {
    /// The input restricted to one element.
    fn at_element(&self, index: &[u64]) -> ReduceInput {
        let mut values = self.clone();
        for (_, view) in &mut values.fused.inputs {
            let offsets = index.iter().zip(&view.strides);
            let offset: isize = offsets.map(|(&coord, &stride)| coord as isize * stride).sum();
            view.offset = (view.offset as isize + offset) as usize;
            (view.shape, view.strides) = (Axes::new(), Axes::new());
        }
        values
    }
}

/// Searches local values.
pub(crate) fn arg_reduce_local(
    session: &Session,
    values: &ReduceInput,
    extreme: ArgReduceOp,
    axis: Option<usize>,
    out: &View,
) -> Result<Buffer> {
    let (memory, raised) = run_into_new(session, values, out, |engine, inputs, out| {
        arg_reduce(engine, inputs, extreme, axis, out)
    })?;
    session.fp_warnings().add_program(&values.fused.requests, &raised);
    Ok(memory)
}
