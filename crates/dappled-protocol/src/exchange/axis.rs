//! What moves along one axis between one rank of a map and all ranks of another.
//!
//! The two maps are cut into segments in which each is either one range or purely periodic.
//! A segment's pattern repeats after the least common multiple of the periods, so that one
//! such window is looked at, however long the segment is. Both sides of a pair cut and walk
//! alike, so that they agree on the order without a word.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::axis::{AxisMap, Kind, Structured, gcd};
use crate::runs::{Runs, Transfer};

/// For each peer along the axis, in ascending order, what moves between it and this rank.
pub type AxisTransfers = Vec<(u64, Vec<Transfer>)>;

/// What moves between `rank` of the map `own` and the ranks of the map `other`, two maps of one
/// axis: the factor of which parcels are the product.
pub fn along_axis(own: &AxisMap, other: &AxisMap, rank: u64) -> AxisTransfers {
    let Some(rank) = own.map_rank(rank) else { return Vec::new() };
    let found = match (own.structured(), other.structured()) {
        (Some(own), Some(other)) => Walk { own, other, rank, found: BTreeMap::new() }.all(),
        _ => listed(own, other, rank),
    };
    found.into_iter().map(|(peer, transfers)| (other.place.outer(peer), transfers)).collect()
}

thread_local! {
    static VISITED: Cell<u64> = const { Cell::new(0) };
}

/// How many pairs of runs or cells this thread has looked at so far: what planning costs.
pub fn visited() -> u64 {
    VISITED.get()
}

fn visit() {
    VISITED.set(VISITED.get() + 1);
}

/// Peers of the other map (its own ranks) and what moves.
type Found = BTreeMap<u64, Vec<Transfer>>;

struct Walk<'a> {
    own: &'a dyn Structured,
    other: &'a dyn Structured,
    rank: u64,
    found: Found,
}

impl Walk<'_> {
    fn all(mut self) -> Found {
        let all = 0..self.own.size();
        let own = self.own.range(self.rank).unwrap_or(all.clone());
        let mut position = own.start;
        while let Some(next) = self.own.next_owned(self.rank, position) {
            let other = self.other.range(self.other.run_at(next).rank).unwrap_or(all.clone());
            let segment = own.start.max(other.start)..own.end.min(other.end);
            position = segment.end;
            self.segment(segment);
        }
        self.found
    }

    /// A segment as many equal windows and a rest.
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

    /// The runs that start in one window, each repeated in `count` windows.
    fn window(&mut self, window: Range<u64>, count: u64, width: u64) {
        let mut position = window.start;
        while let Some(next) = self.own.next_owned(self.rank, position).filter(|&p| p < window.end)
        {
            visit();
            let own = self.own.run_at(next);
            let other = self.other.run_at(next);
            position = own.stop.min(other.stop).min(window.end);
            let runs = |map: &dyn Structured, rank: u64, start: u64| Runs::Periodic {
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
            add(self.found.entry(other.rank).or_default(), transfer);
        }
    }
}

/// Adds a transfer, to the last one if it goes on where that ended.
fn add(transfers: &mut Vec<Transfer>, next: Transfer) {
    match transfers.last().and_then(|last| last.joined(&next)) {
        Some(joined) => *transfers.last_mut().expect("it was joined to the last") = joined,
        None => transfers.push(next),
    }
}

/// Where a map has a table, cell by cell; both sides in the order of the global index.
fn listed(own: &AxisMap, other: &AxisMap, rank: u64) -> Found {
    let mut cells: Vec<(i64, u64)> = match &own.kind {
        Kind::Unstructured(map) => map.labels(rank).iter().copied().zip(0..).collect(),
        _ => {
            let ranges = own.owned_ranges(own.place.outer(rank)).flatten();
            let first = own.structured().map_or(0, |map| map.first_local(rank));
            ranges.zip(first..).collect()
        }
    };
    cells.sort_unstable();
    let mut found: BTreeMap<u64, (Vec<u64>, Vec<u64>)> = BTreeMap::new();
    for (global, local) in cells {
        visit();
        for (peer, there) in other.owners_in_map(global) {
            let lists = found.entry(peer).or_default();
            lists.0.push(local);
            lists.1.push(there);
        }
    }
    found.into_iter().map(|(peer, (own, other))| (peer, vec![transfer(own, other)])).collect()
}

fn transfer(own: Vec<u64>, other: Vec<u64>) -> Transfer {
    Transfer { own: Runs::of(own), other: Runs::of(other) }
}
