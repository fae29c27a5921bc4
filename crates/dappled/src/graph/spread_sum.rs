//! Sums of floats over all ranks, with NumPy's bits.
//!
//! NumPy's loop takes the values in pieces, in the order of memory, and sums each along a tree. Each
//! rank has a range of that order, and sends of each piece the sums of the largest nodes that it
//! has, and the values of leaves that are cut. All ranks then join them.

use std::ops::Range;

use dappled_kernels::element::bytes_of;
use dappled_kernels::tree::{Part, Summand, cover, join};
use dappled_kernels::{Buffer, Runs, sum_range, values_range};
use dappled_protocol::Distribution;

use super::evaluate::{buffers, operands};
use super::fold::{Folding, Values};
use super::spread_fold::{here, ready};
use super::tag::said;
use super::{Array, GraphError, Session};
use crate::run::RunError;

/// The sum of all values, whose axes are in the order of memory. Collective.
pub(super) fn sum<T: Summand>(
    session: &Session,
    values: Values,
    folding: &Folding,
) -> Result<Array, GraphError> {
    let runs = Runs::new(&values.shape, &values.strides, T::DTYPE.itemsize(), values.casts);
    let total: u64 = values.shape.iter().map(|&length| length as u64).product();
    let pieces: Vec<Range<u64>> = runs.pieces(total).collect();
    let ones = vec![1; values.shape.len()];
    let target = ready(session, &values, &folding.axes);
    let ranges = ranges(&target);
    let values = here(session, values, &target)?;
    let own = &ranges[session.fabric().rank() as usize];
    let sent = contribution::<T>(session, &values, &pieces, own)?;
    let what = (T::DTYPE, &values.shape, &values.fused.program);
    let tag = session.next("a sum", what, || said(&values.fused.program, &values.shape, &[]))?;
    let all = session.fabric().gather_all(tag, bytes_of(&sent).to_vec()).map_err(RunError::from)?;
    let sent: Vec<Vec<T>> = all.iter().map(|bytes| Buffer::from_slice(bytes).to_vec()).collect();
    let start = folding.initial.and_then(|initial| initial.get::<T>()).unwrap_or_default();
    Ok(Array::from_slice(session, &ones, &[joined(start, &pieces, &ranges, &sent)]))
}

/// The part of the order that each rank has: blocks of the first axis.
fn ranges(distribution: &Distribution) -> Vec<Range<u64>> {
    let row: u64 = distribution.shape()[1..].iter().product();
    let mut start = 0;
    let range = |rank| {
        let range = start..start + distribution.local_shape(rank)[0] * row;
        start = range.end;
        range
    };
    (0..distribution.nprocs()).map(range).collect()
}

/// What a rank has of a piece, counted from the start of the piece.
fn parts<T: Summand>(piece: &Range<u64>, own: &Range<u64>) -> Vec<Part> {
    let within = own.start.max(piece.start)..own.end.min(piece.end);
    match within.is_empty() {
        true => Vec::new(),
        false => {
            let range = within.start - piece.start..within.end - piece.start;
            cover::<T>(piece.end - piece.start, range)
        }
    }
}

/// What this rank sends: of each piece sums of nodes and values of cut leaves, in order.
fn contribution<T: Summand>(
    session: &Session,
    values: &Values,
    pieces: &[Range<u64>],
    own: &Range<u64>,
) -> Result<Vec<T>, GraphError> {
    let engine = session.engine(&values.fused.program)?;
    let buffers = buffers(session, &values.fused.inputs)?;
    let inputs = operands(&buffers, &values.fused.inputs)?;
    let mut sent = Vec::new();
    for piece in pieces {
        let local = |cells: &Range<u64>| {
            let at = |cell: u64| (piece.start + cell - own.start) as usize;
            at(cells.start)..at(cells.end)
        };
        for part in parts::<T>(piece, own) {
            match part {
                Part::Node(node) => sent
                    .push(sum_range::<T>(&engine, &inputs, local(&node)).map_err(RunError::from)?),
                Part::Values(cells) => sent.extend(
                    values_range::<T>(&engine, &inputs, local(&cells)).map_err(RunError::from)?,
                ),
            }
        }
    }
    Ok(sent)
}

/// The sum, from what all ranks sent.
fn joined<T: Summand>(
    start: T,
    pieces: &[Range<u64>],
    ranges: &[Range<u64>],
    sent: &[Vec<T>],
) -> T {
    let mut sent: Vec<_> = sent.iter().map(|values| values.iter().copied()).collect();
    let piece = |sum: T, piece: &Range<u64>| {
        let mut known = Vec::new();
        for (range, sent) in ranges.iter().zip(&mut sent) {
            for part in parts::<T>(piece, range) {
                let count = match &part {
                    Part::Node(_) => 1,
                    Part::Values(cells) => (cells.end - cells.start) as usize,
                };
                known.push((part, sent.by_ref().take(count).collect()));
            }
        }
        let length = piece.end - piece.start;
        sum + join::<T>(length, &known).expect("the ranks have all of the tree")
    };
    pieces.iter().fold(start, piece)
}
