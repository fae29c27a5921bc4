//! Bringing padding up to date: which cells around a piece are copies of whose cells.
//!
//! Communication padding is a copy of what a neighbour owns. Boundary padding is ordinary data,
//! unless the axis is periodic: then it is filled from the other end of the interior. A copy of
//! a cell that is itself filled takes the value that the cell will have, so that one exchange
//! does it all, corners included.

use std::collections::BTreeMap;
use std::ops::Range;

use super::axis::AxisTransfers;
use super::parcel::{Parcel, parcels};
use crate::axis::{AxisMap, Block, Kind, Structured};
use crate::distribution::{Distribution, Held};
use crate::runs::{Runs, Transfer};

/// The padding that `rank` receives: [`Transfer::own`] are the cells to fill.
pub fn halo_receives(distribution: &Distribution, rank: u64) -> Vec<Parcel> {
    halo(distribution, rank, |line, at| line.received_by(at))
}

/// The cells that `rank` sends for the padding of others: [`Transfer::own`] are cells it owns.
pub fn halo_sends(distribution: &Distribution, rank: u64) -> Vec<Parcel> {
    match distribution.has_odd_edges() {
        true => searched_sends(distribution, rank),
        false => halo(distribution, rank, |line, at| line.sent_by(at)),
    }
}

/// The product of what moves along the axes. Cells that a rank owns in every axis stay.
fn halo(distribution: &Distribution, rank: u64, along: fn(&Line<'_>, u64) -> Halo) -> Vec<Parcel> {
    if distribution.held() != Held::Grid {
        return Vec::new();
    }
    let coords = distribution.coords(rank);
    let line = |(axis, &at): (usize, &u64)| along(&Line::new(distribution, axis, &coords), at);
    let axes: Vec<Halo> = coords.iter().enumerate().map(line).collect();
    let unmoved = axes.iter().all(|axis| axis.keeps_cells).then_some(rank);
    let axes = axes.into_iter().map(|axis| axis.transfers).collect();
    let all = parcels(axes, unmoved, |coords| distribution.rank(coords));
    all.filter(|parcel| parcel.boxes().next().is_some()).collect()
}

/// Where pieces have boundary padding of their own, who needs a rank's cells is no product over
/// the axes: everyone is asked.
fn searched_sends(distribution: &Distribution, rank: u64) -> Vec<Parcel> {
    let from_rank = |peer| {
        halo_receives(distribution, peer).into_iter().filter(move |parcel| parcel.peer == rank)
    };
    let turned = |peer| from_rank(peer).map(move |parcel| parcel.turned(peer));
    (0..distribution.nprocs()).flat_map(turned).collect()
}

/// What moves along one axis; a rank's own cells, which stay, are the first of its own entry.
struct Halo {
    transfers: AxisTransfers,
    keeps_cells: bool,
}

/// One line of ranks along an axis, with the boundary padding of its two ends.
struct Line<'a> {
    map: &'a AxisMap,
    left: u64,
    right: u64,
}

impl<'a> Line<'a> {
    fn new(distribution: &'a Distribution, axis: usize, coords: &[u64]) -> Self {
        let map = &distribution.axes()[axis];
        let end = |at: u64| {
            let mut coords = coords.to_vec();
            coords[axis] = at;
            distribution.padding(distribution.rank(&coords), axis)
        };
        Self { map, left: end(0).0, right: end(map.grid() - 1).1 }
    }

    fn received_by(&self, rank: u64) -> Halo {
        let mut halo = Halo { transfers: Vec::new(), keeps_cells: false };
        let mut found: BTreeMap<u64, Vec<Transfer>> = BTreeMap::new();
        let kept = self.kept(rank);
        if !kept.is_empty() {
            let cells = Runs::one(kept.start, kept.end - kept.start);
            found.insert(rank, vec![Transfer { own: cells.clone(), other: cells }]);
            halo.keeps_cells = true;
        }
        if let (Kind::Block(map), Some(at)) = (&self.map.kind, self.map.map_rank(rank)) {
            for (local, copied) in self.copied(map, at) {
                self.copy(map, local, copied, &mut found);
            }
        }
        halo.transfers = found.into_iter().collect();
        halo
    }

    /// Ranks next to each other need each other's cells; of a periodic axis, those at the ends
    /// (and next to them, whose padding may copy a boundary) may need anyone's.
    fn sent_by(&self, rank: u64) -> Halo {
        let last = self.map.grid() - 1;
        let near = rank.saturating_sub(1)..=(rank + 1).min(last);
        let is_periodic = matches!(&self.map.kind, Kind::Block(map) if map.periodic);
        let ends = [0, 1.min(last), last.saturating_sub(1), last];
        let mut peers: Vec<u64> = near.chain(ends.into_iter().filter(|_| is_periodic)).collect();
        peers.sort_unstable();
        peers.dedup();
        let mut halo = Halo { transfers: Vec::new(), keeps_cells: false };
        for peer in peers {
            let received = self.received_by(peer);
            halo.keeps_cells |= peer == rank && received.keeps_cells;
            let from_rank = received.transfers.into_iter().filter(|&(from, _)| from == rank);
            halo.transfers.extend(from_rank.map(|(_, transfers)| {
                (peer, transfers.into_iter().map(Transfer::turned).collect())
            }));
        }
        halo
    }

    /// The cells of a rank's piece that no update changes.
    fn kept(&self, rank: u64) -> Range<u64> {
        let (Kind::Block(map), Some(at)) = (&self.map.kind, self.map.map_rank(rank)) else {
            return 0..self.map.extent(rank);
        };
        let (owned, (left, _)) = (map.owned(at), map.communication(at));
        let interior = self.interior(map);
        let kept = owned.start.max(interior.start)..owned.end.min(interior.end).max(interior.start);
        let local = |index: u64| index.clamp(owned.start, owned.end) - owned.start + left;
        local(kept.start)..local(kept.end)
    }

    /// The indices that are filled from nowhere.
    fn interior(&self, map: &Block) -> Range<u64> {
        let size = map.size();
        let filled = map.periodic && !map.wraps && self.left + self.right < size;
        if filled { self.left..size - self.right } else { 0..size }
    }

    /// The cells of a piece that are copies: where the first lies, and which indices they are,
    /// outside 0..size where the axis wraps.
    fn copied(&self, map: &Block, rank: u64) -> Vec<(u64, Range<i128>)> {
        let (owned, (left, right)) = (map.owned(rank), map.communication(rank));
        let (start, end) = (i128::from(owned.start), i128::from(owned.end));
        let all = start - i128::from(left)..end + i128::from(right);
        let interior = self.interior(map);
        let inside = |index: u64| i128::from(index).clamp(start, end);
        let inside = inside(interior.start)..inside(interior.end);
        let before = all.start..inside.start.max(all.start);
        let after = inside.end.max(before.end)..all.end;
        let local = |index: i128| (index - all.start) as u64;
        [before, after]
            .into_iter()
            .filter(|cells| !cells.is_empty())
            .map(|cells| (local(cells.start), cells))
            .collect()
    }

    /// Where the copies come from, owner by owner.
    fn copy(
        &self,
        map: &Block,
        mut local: u64,
        cells: Range<i128>,
        found: &mut BTreeMap<u64, Vec<Transfer>>,
    ) {
        let mut index = cells.start;
        while index < cells.end {
            let Some((source, room)) = self.source(map, index) else { return };
            let run = map.run_at(source);
            let len = (run.stop - source).min(room).min((cells.end - index) as u64);
            let transfer =
                Transfer { own: Runs::one(local, len), other: Runs::one(run.local, len) };
            found.entry(self.map.place.outer(run.rank)).or_default().push(transfer);
            (index, local) = (index + i128::from(len), local + len);
        }
    }

    /// The index whose value belongs at an index, and for how many from there on the same holds.
    fn source(&self, map: &Block, index: i128) -> Option<(u64, u64)> {
        let interior = if map.wraps { 0..map.size() } else { self.interior(map) };
        let (start, end) = (i128::from(interior.start), i128::from(interior.end));
        let period = (end > start).then_some(end - start)?;
        let source = (index - start).rem_euclid(period) + start;
        Some((source as u64, (end - source) as u64))
    }
}
