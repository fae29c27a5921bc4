//! Ranks that have values of the same accumulators: which parts of their sums each has, and how the
//! parts are joined.

use std::ops::Range;

use dappled_base::memory::collected;
use dappled_fabric::Tag;
use dappled_kernels::tree::{Part, Summand, cover, join};
use dappled_kernels::{DType, Element, View};
use dappled_protocol::Distribution;

use super::lies::{local_shape, owned};
use super::{GraphError, Session};
use crate::run::RunError;

/// The ranks that have values of the same accumulators.
pub(super) struct Group {
    /// Their ranges along the axes that are folded.
    pub ranks: Vec<Member>,
    /// Which of them is this one, and which joins.
    pub own: usize,
    joins: usize,
    /// The lengths of the axes that are folded.
    pub lengths: Vec<u64>,
    /// How far apart elements of this rank's piece are along them.
    strides: Vec<u64>,
    /// Where the values of each of its accumulators begin in it.
    begins: Vec<u64>,
}

pub(super) struct Member {
    rank: u64,
    ranges: Vec<Range<u64>>,
}

/// What a rank has of every accumulator: parts, each of a piece, counted from the piece's start.
pub(super) struct Share {
    parts: Vec<(usize, Part)>,
    /// How many numbers it sends for it.
    count: usize,
    /// Where each part begins.
    starts: Vec<u64>,
}

impl Group {
    pub fn new(target: &Distribution, axes: &[usize], rank: u64) -> Self {
        let coords = target.coords(rank);
        let members = members(target, axes, &coords);
        let first = |axis: usize| target.axes()[axis].owner(0).map_or(0, |(rank, _)| rank);
        let is_first = |coords: &Vec<u64>| axes.iter().all(|&axis| coords[axis] == first(axis));
        let member = |coords: &Vec<u64>| Member {
            rank: target.rank(coords),
            ranges: axes.iter().map(|&axis| owned(&target.axes()[axis], coords[axis])).collect(),
        };
        let local = View::c_order(DType::Bool, &local_shape(target, rank));
        Self {
            own: members.iter().position(|member| *member == coords).expect("one of them"),
            joins: members.iter().position(is_first).expect("one of them"),
            ranks: members.iter().map(member).collect(),
            lengths: axes.iter().map(|&axis| target.shape()[axis]).collect(),
            strides: axes.iter().map(|&axis| local.strides[axis] as u64).collect(),
            begins: begins(&local, axes),
        }
    }

    /// What a rank has of every accumulator.
    pub fn share<T: Summand>(&self, pieces: &[Range<u64>], member: &Member) -> Share {
        let mut share = Share { parts: Vec::new(), count: 0, starts: Vec::new() };
        for segment in segments(&self.lengths, &member.ranges) {
            let first = pieces.partition_point(|piece| piece.end <= segment.start);
            for (at, piece) in pieces.iter().enumerate().skip(first) {
                let within = segment.start.max(piece.start)..segment.end.min(piece.end);
                if within.is_empty() {
                    break;
                }
                let range = within.start - piece.start..within.end - piece.start;
                for part in cover::<T>(piece.end - piece.start, range) {
                    share.count += part.count() as usize;
                    share.starts.push(piece.start + part.range().start);
                    share.parts.push((at, part));
                }
            }
        }
        share
    }

    /// Where the parts of all its accumulators lie in this rank's piece.
    pub fn cells(&self, share: &Share) -> Vec<Part> {
        let ranges = &self.ranks[self.own].ranges;
        let place = |start: u64| {
            let (mut rest, mut place) = (start, 0);
            let axes = self.lengths.iter().zip(ranges).zip(&self.strides);
            for ((&length, range), stride) in axes.rev() {
                place += (rest % length - range.start) * stride;
                rest /= length;
            }
            place
        };
        let places = share.parts.iter().zip(&share.starts);
        let places = places.map(|((_, part), &start)| (part, place(start)));
        let places: Vec<(&Part, u64)> = places.collect();
        let cells = |begin: &u64| {
            let begin = *begin;
            places.iter().map(move |(part, place)| part.at(begin + place)).collect::<Vec<_>>()
        };
        collected(self.begins.iter().flat_map(cells))
    }

    /// What all sent, on the rank that joins; nothing elsewhere.
    pub fn exchanged(
        &self,
        session: &Session,
        tag: Tag,
        shares: &[Share],
        sent: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, GraphError> {
        let fabric = session.fabric();
        if self.own != self.joins {
            let to = self.ranks[self.joins].rank;
            fabric.exchange(tag, vec![(to, sent)], vec![]).map_err(RunError::from)?;
            return Ok(Vec::new());
        }
        let others = (0..shares.len()).filter(|&at| at != self.own);
        let receives = others.map(|at| (self.ranks[at].rank, None)).collect();
        let mut all = fabric.start(tag, vec![], receives).wait().map_err(RunError::from)?;
        all.insert(self.own, sent);
        Ok(all)
    }

    /// The sums, from what all ranks sent.
    pub fn joined<A: Element, T: Summand>(
        &self,
        start: A,
        pieces: &[Range<u64>],
        shares: &[Share],
        sent: &[Vec<T>],
        add: fn(A, T) -> A,
    ) -> Vec<A> {
        // In the order of the values: of which rank, and where in what it sent.
        let mut order: Vec<(u64, usize, &(usize, Part), usize)> = Vec::new();
        for (member, share) in shares.iter().enumerate() {
            let mut at = 0;
            for (part, &start) in share.parts.iter().zip(&share.starts) {
                order.push((start, member, part, at));
                at += part.1.count() as usize;
            }
        }
        order.sort_by_key(|&(start, ..)| start);
        let sum = |acc: usize| {
            let mut parts = order.iter().peekable();
            pieces.iter().enumerate().fold(start, |sum, (number, piece)| {
                let mut known = Vec::new();
                while let Some((_, member, (_, part), at)) =
                    parts.next_if(|(_, _, (piece, _), _)| *piece == number)
                {
                    let from = acc * shares[*member].count + at;
                    let values = &sent[*member][from..from + part.count() as usize];
                    known.push((part.clone(), values.to_vec()));
                }
                let length = piece.end - piece.start;
                add(sum, join::<T>(length, &known).expect("the ranks have all of the tree"))
            })
        };
        collected((0..self.begins.len()).map(sum))
    }
}

/// Where on the grid those are that differ along some axes alone.
fn members(target: &Distribution, axes: &[usize], coords: &[u64]) -> Vec<Vec<u64>> {
    let mut members = vec![coords.to_vec()];
    for &axis in axes {
        let along = |coords: Vec<u64>| {
            (0..target.axes()[axis].grid()).map(move |at| {
                let mut coords = coords.clone();
                coords[axis] = at;
                coords
            })
        };
        members = members.into_iter().flat_map(along).collect();
    }
    members
}

/// Where the values of each accumulator begin in a piece that lies so.
fn begins(local: &View, axes: &[usize]) -> Vec<u64> {
    let mut begins = vec![0];
    for axis in (0..local.shape.len()).filter(|axis| !axes.contains(axis)) {
        let (length, stride) = (local.shape[axis] as u64, local.strides[axis] as u64);
        let along = |begin: u64| (0..length).map(move |at| begin + at * stride);
        begins = collected(begins.into_iter().flat_map(along));
    }
    begins
}

/// The ranges of the order of all values that a box of them is.
fn segments(lengths: &[u64], ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    if ranges.iter().any(Range::is_empty) {
        return Vec::new();
    }
    let is_part = |axis: &usize| ranges[*axis] != (0..lengths[*axis]);
    let last = (0..lengths.len()).rev().find(is_part).unwrap_or(0);
    let inner: u64 = lengths[last + 1..].iter().product();
    let mut starts = vec![0];
    for (range, length) in ranges[..last].iter().zip(lengths) {
        let along = |start: u64| range.clone().map(move |at| start * length + at);
        starts = collected(starts.into_iter().flat_map(along));
    }
    let (range, length) = (&ranges[last], lengths[last]);
    let segment = |start: u64| {
        let start = start * length;
        (start + range.start) * inner..(start + range.end) * inner
    };
    collected(starts.into_iter().map(segment))
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
