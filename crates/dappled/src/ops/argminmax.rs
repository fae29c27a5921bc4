//! Argmin and argmax: each rank searches its local values, and the ranks compare their results.

use dappled_kernels::element::bytes_of;
use dappled_kernels::{ArgReduceOp, Axes, Buffer, DType, Engine, View, arg_reduce};
use dappled_protocol::Distribution;

use super::reduce::ReduceInput;
use super::reduce::distributed::{ResultOwner, distributed_result, result_distribution};
use super::reduce::local_block::{is_ascending, local_shape, local_values, values_distribution};
use super::scan::run_into_new;
use crate::array::Array;
use crate::error::Result;
use crate::plan::reduce::reduction_distribution;
use crate::session::Session;
use crate::session::fingerprint::{Fingerprint, FingerprintField};

impl Array {
    /// The index of the smallest or largest element along an axis, which is kept with length 1.
    ///
    /// Without an axis it is the flat index in C order. Collective.
    pub fn arg_reduce(&self, extreme: ArgReduceOp, axis: Option<usize>) -> Result<Array> {
        let (session, dtype) = (self.session(), self.dtype());
        let values = ReduceInput::new(self, dtype)?;
        if self.is_collective(&values) {
            let with = |fingerprint: Fingerprint| {
                self.fingerprint_distribution(fingerprint)
                    .with(FingerprintField::Operation, (extreme, axis))
            };
            values.log_operation(session, "argmin or argmax", with)?;
        }
        if values.is_distributed() && !self.view().is_empty() {
            return match axis.filter(|_| self.shape().len() > 1) {
                Some(axis) => arg_reduce_axis(session, values, extreme, axis),
                None => arg_reduce_all(session, values, extreme),
            };
        }
        let values = values.with_stored_input(self, dtype)?;
        let out = View::c_order(DType::Int64, &reduced_shape(self.shape(), axis));
        let memory = arg_reduce_local(session, &values, extreme, axis, &out)?;
        Ok(Array::replicated(session, out, memory))
    }
}

/// The shape with length 1 along the searched axes.
fn reduced_shape(shape: &[usize], axis: Option<usize>) -> Vec<usize> {
    let is_searched = |dim: usize| axis.is_none_or(|axis| axis == dim);
    shape
        .iter()
        .enumerate()
        .map(|(dim, &length)| if is_searched(dim) { 1 } else { length })
        .collect()
}

/// Searches along an axis, which is made undistributed first.
fn arg_reduce_axis(
    session: &Session,
    values: ReduceInput,
    extreme: ArgReduceOp,
    axis: usize,
) -> Result<Array> {
    let target = reduction_distribution(&values_distribution(session, &values), &[axis]);
    let base = View::c_order(DType::Int64, &reduced_shape(&values.shape, Some(axis)));
    let values = local_values(session, values, &target)?;
    let local = reduced_shape(&local_shape(&target, session.fabric().rank()), Some(axis));
    let out = View::c_order(DType::Int64, &local);
    let memory = match out.is_empty() {
        true => Buffer::zeroed(0),
        false => arg_reduce_local(session, &values, extreme, Some(axis), &out)?,
    };
    distributed_result(
        session,
        base,
        result_distribution(&target, &[axis], ResultOwner::First),
        memory,
        1,
    )
}

/// Searches all elements: compares the extremes of all ranks; of equal elements the first wins.
fn arg_reduce_all(session: &Session, values: ReduceInput, extreme: ArgReduceOp) -> Result<Array> {
    let distribution = values_distribution(session, &values);
    let target = match distribution.axes().iter().all(is_ascending) {
        true => distribution,
        false => session.block_distribution(&values.shape),
    };
    let ones = vec![1; values.shape.len()];
    let values = local_values(session, values, &target)?;
    let candidate = local_extreme(session, &values, extreme, &target)?;
    let candidate =
        candidate.map_or(Vec::new(), |(index, value)| [bytes_of(&[index]), &value].concat());
    let messages = session.allgather("argmin or argmax", candidate)?;
    let mut candidates: Vec<(u64, &[u8])> =
        messages.iter().filter_map(|message| decode_candidate(message)).collect();
    candidates.sort_by_key(|(index, _)| *index);
    let bytes: Vec<u8> = candidates.iter().flat_map(|(_, value)| value.iter().copied()).collect();
    let dtype = values.dtype();
    let extremes = Array::replicated(
        session,
        View::c_order(dtype, &[candidates.len()]),
        Buffer::from_slice(&bytes),
    );
    let best = extremes.arg_reduce(extreme, None)?.to_vec::<i64>()?[0];
    Ok(Array::from_slice(session, &ones, &[candidates[best as usize].0 as i64]))
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
    extreme: ArgReduceOp,
    target: &Distribution,
) -> Result<Option<(u64, Vec<u8>)>> {
    let rank = session.fabric().rank();
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
fn arg_reduce_local(
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
