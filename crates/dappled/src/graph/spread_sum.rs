//! Sums of floats over ranks, with NumPy's bits.
//!
//! To NumPy, the values of an accumulator are runs in the order of memory, which its loop takes in
//! pieces, summing each along a tree. A rank has some ranges of that order. Of each piece it sends
//! the sums of the largest nodes that it has, and the values of leaves that are cut, to the rank that
//! has the accumulator's first value, which joins them.

use std::ops::Range;

use dappled_base::memory;
use dappled_fabric::Tag;
use dappled_kernels::element::bytes_of;
use dappled_kernels::tree::{Part, Summand};
use dappled_kernels::{Buffer, Element, Flags, Op, Runs, View, sum_parts, watched};
use dappled_protocol::Distribution;

use super::evaluate::{buffers, operands};
use super::fold::{Folding, Values, note};
use super::fuse::Fused;
use super::lies::here;
use super::notice::Request;
use super::spread_fold::{End, in_pieces, results};
use super::sum_group::{Group, Share};
use super::{Array, GraphError, Session};
use crate::run::RunError;

/// The sums of values in blocks, whose axes are in the order of memory, each an accumulator's with
/// all its pieces added. Collective.
pub(super) fn sum<A: Element, T: Summand>(
    session: &Session,
    values: Values,
    folding: &Folding,
    (target, tag): (&Distribution, Tag),
    add: fn(A, T) -> A,
) -> Result<Array, GraphError> {
    let (item, axes) = (folding.dtype.itemsize(), &folding.axes);
    let runs = Runs::new(&values.shape, &values.strides, axes, item, values.casts);
    let group = Group::new(target, axes, session.fabric().rank());
    let pieces: Vec<Range<u64>> = runs.pieces(group.lengths.iter().product()).collect();
    let shares: Vec<Share> = group.ranks.iter().map(|at| group.share::<T>(&pieces, at)).collect();
    let base = View::c_order(folding.dtype, &folding.folded(&values.shape));
    let values = here(session, values, target)?;
    let own = &shares[group.own];
    let (sent, folded) = contribution::<T>(session, values, &group.cells(own))?;
    let mut message = memory::with_room(1 + size_of_val(&sent[..]));
    message.push(folded.bits());
    memory::append(&mut message, bytes_of(&sent));
    let all = group.exchanged(session, tag, &shares, message)?;
    let start = folding.initial.and_then(|initial| initial.get::<A>()).unwrap_or_default();
    let memory = match all.is_empty() {
        true => Buffer::zeroed(0),
        false => {
            let known =
                all.iter().fold(Flags::NONE, |flags, sent| flags | Flags::from_bits(sent[0]));
            let sent: Vec<Vec<T>> =
                all.iter().map(|bytes| Buffer::from_slice(&bytes[1..]).to_vec()).collect();
            let (sums, flags) = watched(|| group.joined(start, &pieces, &shares, &sent, add));
            session.notices().add("reduce", flags.without(known), None);
            Buffer::from_slice(&sums)
        }
    };
    in_pieces(session, base, results(target, axes, End::First), memory, axes.len())
}

/// What this rank sends, for one accumulator after the other; and what was signalled.
fn contribution<T: Summand>(
    session: &Session,
    values: Values,
    parts: &[Part],
) -> Result<(Vec<T>, Flags), GraphError> {
    let values = Values { fused: widened::<T>(values.fused), ..values };
    let engine = session.engine(&values.fused.program)?;
    let buffers = buffers(session, &values.fused.inputs)?;
    let inputs = operands(&buffers, &values.fused.inputs)?;
    let (sent, folded) = sum_parts::<T>(&engine, &inputs, parts).map_err(RunError::from)?;
    note(session, &values, &folded);
    Ok((sent, folded.folding))
}

/// The same values in the dtype that their tree is summed in: NumPy sums float16 in float32.
fn widened<T: Summand>(mut fused: Fused) -> Fused {
    let output = fused.program.outputs[0];
    let dtype = fused.program.dtype(output).expect("a program has an output");
    if dtype != T::DTYPE {
        let wide = fused.program.push(Op::Cast(T::DTYPE), dtype, &[output]);
        fused.program.outputs = vec![wide];
        fused.steps.push(Request::from(Op::Cast(T::DTYPE)));
    }
    fused
}
