//! Sums of floats over all ranks, with NumPy's bits.
//!
//! NumPy's loop takes the values in pieces, in the order of memory, and sums each along a tree. Each
//! rank has a range of that order, and sends of each piece the sums of the largest nodes that it
//! has, and the values of leaves that are cut. All ranks then join them.

use std::ops::Range;

use dappled_kernels::element::bytes_of;
use dappled_kernels::tree::{Part, Summand, cover, join};
use dappled_kernels::{
    Buffer, Flags, Folded, Runs, sum_range_flagged, values_range_flagged, watched,
};
use dappled_protocol::Distribution;

use super::evaluate::{buffers, operands};
use super::fold::{Folding, Values, note};
use super::spread_fold::{here, ready};
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
    let (sent, folded) = contribution::<T>(session, &values, &pieces, own)?;
    note(session, &values, &folded);
    let tag = session.next("a sum", (T::DTYPE, total))?;
    let bytes = [&[folded.folding.bits()], bytes_of(&sent)].concat();
    let all = session.fabric().gather_all(tag, bytes).map_err(RunError::from)?;
    let (mut known, mut sent) = (Flags::NONE, Vec::<Vec<T>>::new());
    for (flags, values) in all.iter().filter_map(|bytes| bytes.split_first()) {
        known |= Flags::from_bits(*flags);
        sent.push(Buffer::from_slice(values).to_vec());
    }
    let start = folding.initial.and_then(|initial| initial.get::<T>()).unwrap_or_default();
    let (sum, flags) = watched(|| joined(start, &pieces, &ranges, &sent));
    if session.fabric().rank() == 0 {
        // What all ranks see, one of them says.
        session.notices().add("reduce", flags.without(known), None);
    }
    Ok(Array::from_slice(session, &ones, &[sum]))
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

/// What this rank sends, of each piece sums of nodes and values of cut leaves in order; and what
/// was signalled.
fn contribution<T: Summand>(
    session: &Session,
    values: &Values,
    pieces: &[Range<u64>],
    own: &Range<u64>,
) -> Result<(Vec<T>, Folded), GraphError> {
    let engine = session.engine(&values.fused.program)?;
    let buffers = buffers(session, &values.fused.inputs)?;
    let inputs = operands(&buffers, &values.fused.inputs)?;
    let (mut sent, mut folded) = (Vec::new(), Folded::default());
    for piece in pieces {
        let local = |cells: &Range<u64>| {
            let at = |cell: u64| (piece.start + cell - own.start) as usize;
            at(cells.start)..at(cells.end)
        };
        for part in parts::<T>(piece, own) {
            let told = match part {
                Part::Node(node) => {
                    let sum = sum_range_flagged::<T>(&engine, &inputs, local(&node));
                    let (sum, told) = sum.map_err(RunError::from)?;
                    sent.push(sum);
                    told
                }
                Part::Values(cells) => {
                    let values = values_range_flagged::<T>(&engine, &inputs, local(&cells));
                    let (values, steps) = values.map_err(RunError::from)?;
                    sent.extend(values);
                    Folded { steps, ..Folded::default() }
                }
            };
            folded = folded.join(told);
        }
    }
    Ok((sent, folded))
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
