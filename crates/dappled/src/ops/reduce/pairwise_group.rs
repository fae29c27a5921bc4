//! The ranks that share accumulators in a pairwise sum: their parts, and how the parts are
//! combined.

use std::ops::Range;

use dappled_base::memory::collect;
use dappled_fabric::Tag;
use dappled_kernels::tree::{Summand, TreePart, cover, join};
use dappled_kernels::{DType, Element, View};
use dappled_protocol::Distribution;

use super::local_block::{local_shape, owned_range};
use crate::error::Result;
use crate::session::Session;

/// The ranks that own values of the same accumulators.
pub(crate) struct SumGroup {
    /// The members, with their ranges along the reduced axes.
    pub members: Vec<SumGroupMember>,
    /// The index of this rank among the members.
    pub own_index: usize,
    /// The index of the member that combines the parts.
    root: usize,
    /// The lengths of the reduced axes.
    pub lengths: Vec<u64>,
    /// The strides of this rank's local piece along the reduced axes, in elements.
    strides: Vec<u64>,
    /// The position of each accumulator's first value in the local piece.
    accumulator_starts: Vec<u64>,
}

/// A rank of the group, and its ranges along the reduced axes.
pub(crate) struct SumGroupMember {
    rank: u64,
    ranges: Vec<Range<u64>>,
}

/// The parts of every accumulator that a rank owns, each with the index of its piece.
pub(crate) struct SumShare {
    parts: Vec<(usize, TreePart)>,
    /// The number of values that the rank sends for an accumulator.
    count: usize,
    /// The position of each part in the order of all values.
    starts: Vec<u64>,
}

impl SumGroup {
    /// The group of a rank for a reduction of these axes.
    pub fn new(target: &Distribution, axes: &[usize], rank: u64) -> Self {
        let coords = target.coords(rank);
        let all_coords = member_coords(target, axes, &coords);
        let first_coord = |axis: usize| target.axes()[axis].owner(0).map_or(0, |(rank, _)| rank);
        let is_first =
            |coords: &Vec<u64>| axes.iter().all(|&axis| coords[axis] == first_coord(axis));
        let member_at = |coords: &Vec<u64>| SumGroupMember {
            rank: target.rank(coords),
            ranges: axes
                .iter()
                .map(|&axis| owned_range(&target.axes()[axis], coords[axis]))
                .collect(),
        };
        let local = View::c_order(DType::Bool, &local_shape(target, rank));
        Self {
            own_index: all_coords
                .iter()
                .position(|member| *member == coords)
                .expect("this rank is a member"),
            root: all_coords.iter().position(is_first).expect("the first owner is a member"),
            members: all_coords.iter().map(member_at).collect(),
            lengths: axes.iter().map(|&axis| target.shape()[axis]).collect(),
            strides: axes.iter().map(|&axis| local.strides[axis] as u64).collect(),
            accumulator_starts: accumulator_starts(&local, axes),
        }
    }

    /// The parts of every accumulator that a member owns.
    pub fn share<T: Summand>(&self, pieces: &[Range<u64>], member: &SumGroupMember) -> SumShare {
        let mut share = SumShare { parts: Vec::new(), count: 0, starts: Vec::new() };
        for segment in segments(&self.lengths, &member.ranges) {
            let first = pieces.partition_point(|piece| piece.end <= segment.start);
            for (piece_index, piece) in pieces.iter().enumerate().skip(first) {
                let within = segment.start.max(piece.start)..segment.end.min(piece.end);
                if within.is_empty() {
                    break;
                }
                let range = within.start - piece.start..within.end - piece.start;
                for part in cover::<T>(piece.end - piece.start, range) {
                    share.count += part.count() as usize;
                    share.starts.push(piece.start + part.range().start);
                    share.parts.push((piece_index, part));
                }
            }
        }
        share
    }

    /// The positions of the parts of all accumulators in this rank's local piece.
    pub fn local_parts(&self, share: &SumShare) -> Vec<TreePart> {
        let ranges = &self.members[self.own_index].ranges;
        let position = |start: u64| {
            let (mut rest, mut position) = (start, 0);
            let axes = self.lengths.iter().zip(ranges).zip(&self.strides);
            for ((&length, range), stride) in axes.rev() {
                position += (rest % length - range.start) * stride;
                rest /= length;
            }
            position
        };
        let positions = share.parts.iter().zip(&share.starts);
        let positions = positions.map(|((_, part), &start)| (part, position(start)));
        let positions: Vec<(&TreePart, u64)> = positions.collect();
        let cells = |accumulator_start: &u64| {
            let accumulator_start = *accumulator_start;
            positions
                .iter()
                .map(move |(part, position)| part.at(accumulator_start + position))
                .collect::<Vec<_>>()
        };
        collect(self.accumulator_starts.iter().flat_map(cells))
    }

    /// Sends the parts to the root, which receives those of all members; empty elsewhere.
    pub fn gather_to_root(
        &self,
        session: &Session,
        tag: Tag,
        shares: &[SumShare],
        message: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>> {
        let fabric = session.fabric();
        if self.own_index != self.root {
            let to = self.members[self.root].rank;
            fabric.exchange(tag, vec![(to, message)], vec![])?;
            return Ok(Vec::new());
        }
        let others = (0..shares.len()).filter(|&index| index != self.own_index);
        let receives = others.map(|index| (self.members[index].rank, None)).collect();
        let mut messages = fabric.start_exchange(tag, vec![], receives).wait()?;
        messages.insert(self.own_index, message);
        Ok(messages)
    }

    /// The sums, from the parts of all members.
    pub fn combine<A: Element, T: Summand>(
        &self,
        start: A,
        pieces: &[Range<u64>],
        shares: &[SumShare],
        values_by_member: &[Vec<T>],
        add: fn(A, T) -> A,
    ) -> Vec<A> {
        // The parts in the order of the values: position, member, part, and offset in the member's
        // message.
        let mut order: Vec<(u64, usize, &(usize, TreePart), usize)> = Vec::new();
        for (member, share) in shares.iter().enumerate() {
            let mut offset = 0;
            for (part, &start) in share.parts.iter().zip(&share.starts) {
                order.push((start, member, part, offset));
                offset += part.1.count() as usize;
            }
        }
        order.sort_by_key(|&(start, ..)| start);
        let sum = |accumulator: usize| {
            let mut parts = order.iter().peekable();
            pieces.iter().enumerate().fold(start, |sum, (index, piece)| {
                let mut tree_parts = Vec::new();
                while let Some((_, member, (_, part), offset)) =
                    parts.next_if(|(_, _, (piece, _), _)| *piece == index)
                {
                    let from = accumulator * shares[*member].count + offset;
                    let values = &values_by_member[*member][from..from + part.count() as usize];
                    tree_parts.push((part.clone(), values.to_vec()));
                }
                let length = piece.end - piece.start;
                add(sum, join::<T>(length, &tree_parts).expect("the ranks cover the tree"))
            })
        };
        collect((0..self.accumulator_starts.len()).map(sum))
    }
}

/// The grid coordinates that differ from `coords` along some axes only.
fn member_coords(target: &Distribution, axes: &[usize], coords: &[u64]) -> Vec<Vec<u64>> {
    let mut members = vec![coords.to_vec()];
    for &axis in axes {
        let along = |coords: Vec<u64>| {
            (0..target.axes()[axis].grid()).map(move |coord| {
                let mut coords = coords.clone();
                coords[axis] = coord;
                coords
            })
        };
        members = members.into_iter().flat_map(along).collect();
    }
    members
}

/// The position of each accumulator's first value in a local piece.
fn accumulator_starts(local: &View, axes: &[usize]) -> Vec<u64> {
    let mut starts = vec![0];
    for axis in (0..local.shape.len()).filter(|axis| !axes.contains(axis)) {
        let (length, stride) = (local.shape[axis] as u64, local.strides[axis] as u64);
        let along = |start: u64| (0..length).map(move |index| start + index * stride);
        starts = collect(starts.into_iter().flat_map(along));
    }
    starts
}

/// The ranges that a box occupies in the C order of all values.
fn segments(lengths: &[u64], ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    if ranges.iter().any(Range::is_empty) {
        return Vec::new();
    }
    let is_partial = |axis: &usize| ranges[*axis] != (0..lengths[*axis]);
    let last = (0..lengths.len()).rev().find(is_partial).unwrap_or(0);
    let inner: u64 = lengths[last + 1..].iter().product();
    let mut starts = vec![0];
    for (range, length) in ranges[..last].iter().zip(lengths) {
        let along = |start: u64| range.clone().map(move |index| start * length + index);
        starts = collect(starts.into_iter().flat_map(along));
    }
    let (range, length) = (&ranges[last], lengths[last]);
    let segment = |start: u64| {
        let start = start * length;
        (start + range.start) * inner..(start + range.end) * inner
    };
    collect(starts.into_iter().map(segment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_boxes() {
        assert_eq!(segments(&[4, 5], &[1..3, 0..5]), [5..15]);
        assert_eq!(segments(&[4, 5], &[1..3, 2..4]), [7..9, 12..14]);
        assert_eq!(segments(&[2, 3, 4], &[0..2, 1..2, 0..4]), [4..8, 16..20]);
        assert_eq!(segments(&[4], &[0..4]), [0..4]);
        assert_eq!(segments(&[4, 5], &[1..1, 0..5]), []);
    }
}
