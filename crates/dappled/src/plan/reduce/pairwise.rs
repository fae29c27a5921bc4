//! NumPy's pairwise summation over ranks: the parts of the tree that each rank contributes.
//!
//! NumPy splits the values of an accumulator, in memory order, into pieces and sums each piece
//! along a tree. A rank owns some ranges of that order. For each piece it sends the sums of the
//! largest tree nodes that it owns, and the values of leaves that are split between ranks, to the
//! rank that owns the accumulator's first value. That rank combines them.

use std::ops::Range;

use dappled_base::memory::collect;
use dappled_kernels::tree::{TreePart, cover};
use dappled_kernels::{DType, ReduceRuns, View};
use dappled_protocol::Distribution;
use num_complex::{Complex32, Complex64};

use crate::plan::values::{local_shape, owned_range};

/// The parts of pairwise sums that a rank contributes, and the rank that combines them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairwiseSum {
    /// The dtype of the accumulators.
    pub dtype: DType,
    /// The pieces of an accumulator's values, each of which has a tree.
    pub pieces: Vec<Range<u64>>,
    /// The rank that combines the parts.
    pub root: u64,
    /// The parts of this rank.
    pub own_share: SumShare,
    /// The ranks that own values of the same accumulators, with their parts; empty except on the
    /// root.
    pub members: Vec<(u64, SumShare)>,
    /// The number of accumulators.
    pub accumulators: u64,
    /// The reduced axes.
    axes: Vec<usize>,
    /// The lengths of the reduced axes.
    lengths: Vec<u64>,
    /// The ranges along the reduced axes that this rank owns.
    own_ranges: Vec<Range<u64>>,
    /// The shape of this rank's local piece.
    local_shape: Vec<usize>,
}

/// The parts of every accumulator that a rank owns, each with the index of its piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumShare {
    /// The parts, each with the index of its piece.
    pub parts: Vec<(usize, TreePart)>,
    /// The number of values that the rank sends for an accumulator.
    pub count: usize,
    /// The position of each part in the order of all values.
    pub starts: Vec<u64>,
}

impl PairwiseSum {
    /// Plans the sum of block-distributed values along some axes for one rank.
    pub fn new(
        target: &Distribution,
        axes: &[usize],
        (runs, dtype): (&ReduceRuns, DType),
        rank: u64,
    ) -> Self {
        let coords = target.coords(rank);
        let mut root_coords = coords.clone();
        for &axis in axes {
            root_coords[axis] = target.axes()[axis].owner(0).map_or(0, |(rank, _)| rank);
        }
        let lengths: Vec<u64> = axes.iter().map(|&axis| target.shape()[axis]).collect();
        let pieces: Vec<Range<u64>> = runs.pieces(lengths.iter().product()).collect();
        let share = |coords: &[u64]| {
            SumShare::new(dtype, &pieces, &lengths, &owned_ranges(target, axes, coords))
        };
        let members = match coords == root_coords {
            true => member_coords(target, axes, &coords),
            false => Vec::new(),
        };
        let local_shape = local_shape(target, rank);
        let kept = (0..local_shape.len()).filter(|axis| !axes.contains(axis));
        Self {
            dtype,
            root: target.rank(&root_coords),
            own_share: share(&coords),
            members: members.iter().map(|coords| (target.rank(coords), share(coords))).collect(),
            accumulators: kept.map(|axis| local_shape[axis] as u64).product(),
            axes: axes.to_vec(),
            own_ranges: owned_ranges(target, axes, &coords),
            local_shape,
            lengths,
            pieces,
        }
    }

    /// The positions of the parts of all accumulators in this rank's local piece.
    pub fn local_parts(&self) -> Vec<TreePart> {
        let local = View::c_order(DType::Bool, &self.local_shape);
        let strides: Vec<u64> = self.axes.iter().map(|&axis| local.strides[axis] as u64).collect();
        let position = |start: u64| {
            let (mut rest, mut position) = (start, 0);
            let axes = self.lengths.iter().zip(&self.own_ranges).zip(&strides);
            for ((&length, range), stride) in axes.rev() {
                position += (rest % length - range.start) * stride;
                rest /= length;
            }
            position
        };
        let positions = self.own_share.parts.iter().zip(&self.own_share.starts);
        let positions = positions.map(|((_, part), &start)| (part, position(start)));
        let positions: Vec<(&TreePart, u64)> = positions.collect();
        let cells = |accumulator_start: u64| {
            positions
                .iter()
                .map(move |(part, position)| part.at(accumulator_start + position))
                .collect::<Vec<_>>()
        };
        collect(accumulator_starts(&local, &self.axes).into_iter().flat_map(cells))
    }

    /// The number of bytes of the message with these parts: floating-point flags, then values.
    pub fn message_bytes(&self, share: &SumShare) -> u64 {
        let width = self.dtype.itemsize().max(DType::Float32.itemsize()) as u64;
        1 + share.count as u64 * self.accumulators * width
    }
}

impl SumShare {
    /// The parts that a rank owns, given its ranges along the reduced axes.
    fn new(
        dtype: DType,
        pieces: &[Range<u64>],
        lengths: &[u64],
        ranges: &[Range<u64>],
    ) -> SumShare {
        let mut share = SumShare { parts: Vec::new(), count: 0, starts: Vec::new() };
        for segment in segments(lengths, ranges) {
            let first = pieces.partition_point(|piece| piece.end <= segment.start);
            for (piece_index, piece) in pieces.iter().enumerate().skip(first) {
                let within = segment.start.max(piece.start)..segment.end.min(piece.end);
                if within.is_empty() {
                    break;
                }
                let range = within.start - piece.start..within.end - piece.start;
                for part in tree_parts(dtype, piece.end - piece.start, range) {
                    share.count += part.count() as usize;
                    share.starts.push(piece.start + part.range().start);
                    share.parts.push((piece_index, part));
                }
            }
        }
        share
    }

    /// The number of tree nodes, of which only the sums are sent.
    pub fn node_count(&self) -> usize {
        self.parts.iter().filter(|(_, part)| matches!(part, TreePart::Node(_))).count()
    }
}

/// The parts of a tree of `total` values that a range of them covers, for a dtype of accumulators.
pub(crate) fn tree_parts(dtype: DType, total: u64, range: Range<u64>) -> Vec<TreePart> {
    match dtype {
        DType::Float16 | DType::Float32 => cover::<f32>(total, range),
        DType::Float64 => cover::<f64>(total, range),
        DType::Complex64 => cover::<Complex32>(total, range),
        _ => cover::<Complex64>(total, range),
    }
}

/// The ranges along some axes that the rank at these grid coordinates owns.
fn owned_ranges(target: &Distribution, axes: &[usize], coords: &[u64]) -> Vec<Range<u64>> {
    axes.iter().map(|&axis| owned_range(&target.axes()[axis], coords[axis])).collect()
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
