//! Transfers along one axis between one rank of a map and all ranks of another.
//!
//! The axis is divided into segments in which each map is either one range or periodic. The pattern
//! of a segment repeats with the least common multiple of the periods, so only one such window is
//! examined, however long the segment is. Both ranks of a pair divide and walk the axis in the same
//! way, so they agree on the order without communication.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::axis::{AxisKind, AxisMap, StructuredMap, gcd};
use crate::runs::{CellRuns, Transfer};

/// The transfers between a rank and each peer along the axis, peers ascending.
pub type AxisTransfers = Vec<(u64, Vec<Transfer>)>;

/// Returns the transfers between `rank` of the map `own` and the ranks of the map `other`. Parcels
/// are the product of these over the axes.
pub fn axis_transfers(own: &AxisMap, other: &AxisMap, rank: u64) -> AxisTransfers {
    let Some(rank) = own.map_rank(rank) else { return Vec::new() };
    let transfers = match (own.structured(), other.structured()) {
        (Some(own), Some(other)) => {
            SegmentWalk { own, other, rank, transfers: BTreeMap::new() }.walk()
        }
        _ => listed_transfers(own, other, rank),
    };
    transfers
        .into_iter()
        .map(|(peer, transfers)| (other.placement.to_grid_rank(peer), transfers))
        .collect()
}

thread_local! {
    static VISITED: Cell<u64> = const { Cell::new(0) };
}

/// Returns how many pairs of runs or cells this thread has examined: the cost of planning.
pub fn visited_runs() -> u64 {
    VISITED.get()
}

fn count_visit() {
    VISITED.set(VISITED.get() + 1);
}

/// Transfers by peer, where peers are ranks of the other map.
type PeerTransfers = BTreeMap<u64, Vec<Transfer>>;

struct SegmentWalk<'a> {
    own: &'a dyn StructuredMap,
    other: &'a dyn StructuredMap,
    rank: u64,
    transfers: PeerTransfers,
}

impl SegmentWalk<'_> {
    fn walk(mut self) -> PeerTransfers {
        let all = 0..self.own.size();
        let own = self.own.range(self.rank).unwrap_or(all.clone());
        let mut position = own.start;
        while let Some(next) = self.own.next_owned(self.rank, position) {
            let other = self.other.range(self.other.run_at(next).rank).unwrap_or(all.clone());
            let segment = own.start.max(other.start)..own.end.min(other.end);
            position = segment.end;
            self.segment(segment);
        }
        self.transfers
    }

    /// Handles a segment as equal windows and a remainder.
    fn segment(&mut self, segment: Range<u64>) {
        let length = u128::from(segment.end - segment.start);
        let window = match (self.own.period(), self.other.period()) {
            (Some(own), Some(other)) => own / gcd(own, other) * other,
            (period, other) => period.or(other).unwrap_or(length),
        };
        let windows = (length / window.max(1)) as u64;
        if windows < 2 {
            return self.window(segment, 1, 0);
        }
        let end = segment.start + window as u64;
        self.window(segment.start..end, windows, window as u64);
        self.window(segment.start + windows * window as u64..segment.end, 1, 0);
    }

    /// Adds the runs that start in one window, each repeated in `count` windows.
    fn window(&mut self, window: Range<u64>, count: u64, width: u64) {
        let mut position = window.start;
        while let Some(next) = self.own.next_owned(self.rank, position).filter(|&p| p < window.end)
        {
            count_visit();
            let own = self.own.run_at(next);
            let other = self.other.run_at(next);
            position = own.stop.min(other.stop).min(window.end);
            let runs = |map: &dyn StructuredMap, rank: u64, start: u64| CellRuns::Periodic {
                start,
                len: position - next,
                count,
                period: match count {
                    1 => position - next,
                    _ => {
                        map.owned_before(rank, window.start + width)
                            - map.owned_before(rank, window.start)
                    }
                },
            };
            let transfer = Transfer {
                own: runs(self.own, self.rank, own.local),
                other: runs(self.other, other.rank, other.local),
            };
            push_transfer(self.transfers.entry(other.rank).or_default(), transfer);
        }
    }
}

/// Appends a transfer, or extends the last one if it continues it.
fn push_transfer(transfers: &mut Vec<Transfer>, next: Transfer) {
    match transfers.last().and_then(|last| last.joined(&next)) {
        Some(joined) => *transfers.last_mut().expect("it was joined to the last") = joined,
        None => transfers.push(next),
    }
}

/// Computes transfers cell by cell for maps with tables, in the order of global indices.
fn listed_transfers(own: &AxisMap, other: &AxisMap, rank: u64) -> PeerTransfers {
    let mut cells: Vec<(i64, u64)> = match &own.kind {
        AxisKind::Unstructured(map) => map.labels(rank).iter().copied().zip(0..).collect(),
        _ => {
            let ranges = own.owned_ranges(own.placement.to_grid_rank(rank)).flatten();
            let first = own.structured().map_or(0, |map| map.first_local(rank));
            ranges.zip(first..).collect()
        }
    };
    cells.sort_unstable();
    let mut transfers: BTreeMap<u64, (Vec<u64>, Vec<u64>)> = BTreeMap::new();
    for (global, local) in cells {
        count_visit();
        for (peer, remote) in other.owners_in_map(global) {
            let lists = transfers.entry(peer).or_default();
            lists.0.push(local);
            lists.1.push(remote);
        }
    }
    transfers
        .into_iter()
        .map(|(peer, (own, other))| (peer, vec![listed_transfer(own, other)]))
        .collect()
}

fn listed_transfer(own: Vec<u64>, other: Vec<u64>) -> Transfer {
    Transfer { own: CellRuns::of(own), other: CellRuns::of(other) }
}
