//! Random arrays: each rank draws its own elements by their global places, without a message.

use std::ops::Range;

use dappled_base::memory::collected;
use dappled_kernels::{Draw, Stream, View, draw};
use dappled_protocol::Distribution;

use super::layout::Layout;
use super::node::{Node, State};
use super::tag::{Aspect, Fingerprint};
use super::{Array, GraphError, Session};
use crate::run::RunError;
use crate::view::tuple;

impl Array {
    /// Draws number `first` and on, as an array of this shape in C order: the same whatever the
    /// number of ranks and threads.
    pub fn random(
        session: &Session,
        shape: &[usize],
        what: Draw,
        stream: Stream,
        first: u64,
    ) -> Result<Array, GraphError> {
        session.expect_room(what.dtype(), shape);
        let base = View::c_order(what.dtype(), shape);
        let layout = session.layout(what.dtype(), shape);
        let ranges = match &layout {
            Layout::Whole => vec![places_from(first, base.len() as u64)],
            Layout::Split(split) => {
                // Nothing is sent; that every rank draws the same is found out with what is.
                let print = Fingerprint::of(what).with(Aspect::Shape, shape);
                let print = print.with(Aspect::Contents, (stream, first));
                session.next("random numbers", print, || format!(" of shape {}", tuple(shape)))?;
                own_ranges(&split.distribution, session.fabric().rank(), first)
            }
        };
        let bytes = layout.local(&base).len() * what.dtype().itemsize();
        let memory = session.freed().array(bytes, &base);
        draw(what, stream, &ranges, &memory).map_err(RunError::from)?;
        let node = Node::new(session, base, layout, State::Stored(memory));
        Ok(Array::over(session, node))
    }
}

/// The places of a rank's elements, counted in C order from `first`, as they lie in its piece of
/// blocks: a range for each of its rows.
fn own_ranges(distribution: &Distribution, rank: u64, first: u64) -> Vec<Range<u64>> {
    let coordinates = distribution.coords(rank);
    let mut starts = vec![places_from(first, 1)];
    for (map, &coordinate) in distribution.axes().iter().zip(&coordinates) {
        let owned = map.owned_ranges(coordinate).map(|range| {
            let (start, end) = range.into_inner();
            start as u64..end as u64 + 1
        });
        starts = places(&starts, map.size(), &owned.collect::<Vec<_>>(), first);
    }
    starts
}

/// From the places along the axes so far to those along one more.
fn places(so_far: &[Range<u64>], length: u64, owned: &[Range<u64>], first: u64) -> Vec<Range<u64>> {
    let rows = so_far.iter().flat_map(Clone::clone);
    let along = |row: u64| {
        let start = first + (row - first) * length;
        owned.iter().map(move |range| start + range.start..start + range.end)
    };
    collected(rows.flat_map(along))
}

fn places_from(first: u64, count: u64) -> Range<u64> {
    first..first + count
}
