//! Searches: where the least or the greatest value is. Of arrays in pieces, each rank searches what it
//! has, and what they found is compared.

use dappled_kernels::element::bytes_of;
use dappled_kernels::{Axes, Buffer, DType, Engine, Extreme, View, arg_reduce};
use dappled_protocol::Distribution;

use super::fold::Values;
use super::lies::{ascends, here, lies, local_shape};
use super::scan::written;
use super::spread_fold::{End, in_pieces, results};
use super::tag::{Aspect, Fingerprint};
use super::{Array, GraphError, Session};
use crate::plan::for_reduction;
use crate::run::RunError;

impl Array {
    /// Where the least or the greatest element is, along an axis, which stays, with length 1; or
    /// among all of them, which are then counted in C order. Collective.
    pub fn arg_fold(&self, extreme: Extreme, axis: Option<usize>) -> Result<Array, GraphError> {
        let (session, dtype) = (self.session(), self.dtype());
        let values = Values::new(self, dtype)?;
        if self.is_collective(&values) {
            let with = |print: Fingerprint| {
                self.with_distribution(print).with(Aspect::Operation, (extreme, axis))
            };
            values.noted(session, "a search", with)?;
        }
        if values.is_spread() && !self.view().is_empty() {
            return match axis.filter(|_| self.shape().len() > 1) {
                Some(axis) => arg_along(session, values, extreme, axis),
                None => arg_of_all(session, values, extreme),
            };
        }
        let values = values.somewhere(self, dtype)?;
        let out = View::c_order(DType::Int64, &counted(self.shape(), axis));
        let memory = arg_here(session, &values, extreme, axis, &out)?;
        Ok(Array::whole(session, out, memory))
    }
}

/// The shape with length 1 where places are counted.
fn counted(shape: &[usize], axis: Option<usize>) -> Vec<usize> {
    let counted = |at: usize| axis.is_none_or(|axis| axis == at);
    shape.iter().enumerate().map(|(at, &length)| if counted(at) { 1 } else { length }).collect()
}

/// Along an axis, which is whole on each rank.
fn arg_along(
    session: &Session,
    values: Values,
    extreme: Extreme,
    axis: usize,
) -> Result<Array, GraphError> {
    let target = for_reduction(&lies(session, &values), &[axis]);
    let base = View::c_order(DType::Int64, &counted(&values.shape, Some(axis)));
    let values = here(session, values, &target)?;
    let local = counted(&local_shape(&target, session.fabric().rank()), Some(axis));
    let out = View::c_order(DType::Int64, &local);
    let memory = match out.is_empty() {
        true => Buffer::zeroed(0),
        false => arg_here(session, &values, extreme, Some(axis), &out)?,
    };
    in_pieces(session, base, results(&target, &[axis], End::First), memory, 1)
}

/// Among all: each rank's best, and the best of those; of equal ones the first.
fn arg_of_all(session: &Session, values: Values, extreme: Extreme) -> Result<Array, GraphError> {
    let lies = lies(session, &values);
    let target = match lies.axes().iter().all(ascends) {
        true => lies,
        false => session.blocks(&values.shape),
    };
    let ones = vec![1; values.shape.len()];
    let values = here(session, values, &target)?;
    let own = best_here(session, &values, extreme, &target)?;
    let own = own.map_or(Vec::new(), |(place, value)| [bytes_of(&[place]), &value].concat());
    let all = session.gather("a search", own)?;
    let mut found: Vec<(u64, &[u8])> = all.iter().filter_map(|sent| split_place(sent)).collect();
    found.sort_by_key(|(place, _)| *place);
    let bytes: Vec<u8> = found.iter().flat_map(|(_, value)| value.iter().copied()).collect();
    let dtype = values.dtype();
    let bests =
        Array::whole(session, View::c_order(dtype, &[found.len()]), Buffer::from_slice(&bytes));
    let best = bests.arg_fold(extreme, None)?.to_vec::<i64>()?[0];
    Ok(Array::from_slice(session, &ones, &[found[best as usize].0 as i64]))
}

fn split_place(sent: &[u8]) -> Option<(u64, &[u8])> {
    let (place, value) = sent.split_first_chunk()?;
    Some((u64::from_ne_bytes(*place), value))
}

/// This rank's best: its place among all, and its value.
fn best_here(
    session: &Session,
    values: &Values,
    extreme: Extreme,
    target: &Distribution,
) -> Result<Option<(u64, Vec<u8>)>, GraphError> {
    let rank = session.fabric().rank();
    let local = local_shape(target, rank);
    if local.contains(&0) {
        return Ok(None);
    }
    let one = View::c_order(DType::Int64, &vec![1; local.len()]);
    let place = arg_here(session, values, extreme, None, &one)?.to_vec::<i64>()[0];
    let index = unraveled(place as u64, &local);
    let global = target.global(rank, &index).expect("an element of the piece");
    let lengths = target.shape();
    let flat = |place: u64, (at, length): (&i64, &u64)| place * length + *at as u64;
    let place = global.iter().zip(&lengths).fold(0, flat);
    let one = View::c_order(values.dtype(), &[]);
    let only = values.element(&index);
    let (memory, _) = written(session, &only, &one, |code, inputs, out| code.run(inputs, &[*out]))?;
    let value = memory.read().map_err(RunError::from)?.to_vec();
    Ok(Some((place, value)))
}

fn unraveled(place: u64, shape: &[usize]) -> Vec<u64> {
    let mut rest = place;
    let mut index = vec![0; shape.len()];
    for (at, &length) in index.iter_mut().zip(shape).rev() {
        *at = rest % length as u64;
        rest /= length as u64;
    }
    index
}

impl Values {
    /// The program of one of them.
    fn element(&self, index: &[u64]) -> Values {
        let mut values = self.clone();
        for (_, view) in &mut values.fused.inputs {
            let offsets = index.iter().zip(&view.strides);
            let offset: isize = offsets.map(|(&at, &stride)| at as isize * stride).sum();
            view.offset = (view.offset as isize + offset) as usize;
            (view.shape, view.strides) = (Axes::new(), Axes::new());
        }
        values
    }
}

/// Searches memory that is here.
fn arg_here(
    session: &Session,
    values: &Values,
    extreme: Extreme,
    axis: Option<usize>,
    out: &View,
) -> Result<Buffer, GraphError> {
    let (memory, raised) = written(session, values, out, |code, inputs, out| {
        arg_reduce(code, inputs, extreme, axis, out)
    })?;
    session.notices().add_all(&values.fused.steps, &raised);
    Ok(memory)
}
