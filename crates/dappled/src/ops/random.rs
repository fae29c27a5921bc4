//! Random arrays: each rank draws its elements by their global indices, without communication.

use std::ops::Range;

use dappled_base::memory::collect;
use dappled_kernels::{Draw, RandomStream, View};
use dappled_protocol::Distribution;

use crate::array::Array;
use crate::array::node::{Node, NodeState};
use crate::array::placement::Placement;
use crate::error::Result;
use crate::session::Session;
use crate::session::fingerprint::{Fingerprint, FingerprintField};
use crate::view::format_shape;

impl Array {
    /// Creates an array of draws number `first` and on, in C order.
    ///
    /// The values do not depend on the number of ranks and threads.
    pub fn random(
        session: &Session,
        shape: &[usize],
        kind: Draw,
        stream: RandomStream,
        first: u64,
    ) -> Result<Array> {
        session.check_capacity(kind.dtype(), shape);
        let base = View::c_order(kind.dtype(), shape);
        let placement = session.default_placement(kind.dtype(), shape);
        let ranges = match &placement {
            Placement::Replicated => vec![index_range(first, base.len() as u64)],
            Placement::Distributed(placement) => {
                // No message is sent: the next message carries the fingerprint of this operation.
                let fingerprint = Fingerprint::of(kind).with(FingerprintField::Shape, shape);
                let fingerprint = fingerprint.with(FingerprintField::Contents, (stream, first));
                session.next_tag("random numbers", fingerprint, || {
                    format!(" of shape {}", format_shape(shape))
                })?;
                owned_index_ranges(&placement.distribution, session.fabric().rank(), first)
            }
        };
        let bytes = placement.local_view(&base).len() * kind.dtype().itemsize();
        let memory = session.buffer_pool().allocate(bytes, &base);
        dappled_kernels::draw(kind, stream, &ranges, &memory)?;
        let node = Node::new(session, base, placement, NodeState::Stored(memory));
        Ok(Array::from_node(session, node))
    }
}

/// The flat indices of a rank's elements, offset by `first`: a range for each row of its blocks.
fn owned_index_ranges(distribution: &Distribution, rank: u64, first: u64) -> Vec<Range<u64>> {
    let coordinates = distribution.coords(rank);
    let mut starts = vec![index_range(first, 1)];
    for (map, &coordinate) in distribution.axes().iter().zip(&coordinates) {
        let owned = map.owned_ranges(coordinate).map(|range| {
            let (start, end) = range.into_inner();
            start as u64..end as u64 + 1
        });
        starts = extend_index_ranges(&starts, map.size(), &owned.collect::<Vec<_>>(), first);
    }
    starts
}

/// Extends the ranges of flat indices by one more axis.
fn extend_index_ranges(
    ranges: &[Range<u64>],
    length: u64,
    owned: &[Range<u64>],
    first: u64,
) -> Vec<Range<u64>> {
    let rows = ranges.iter().flat_map(Clone::clone);
    let along = |row: u64| {
        let start = first + (row - first) * length;
        owned.iter().map(move |range| start + range.start..start + range.end)
    };
    collect(rows.flat_map(along))
}

fn index_range(first: u64, count: u64) -> Range<u64> {
    first..first + count
}
