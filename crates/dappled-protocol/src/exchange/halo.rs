//! Halo exchange: the cells that fill the padding of each piece.
//!
//! Communication padding is a copy of cells that a neighbour owns. Boundary padding is ordinary
//! data, unless the axis is periodic: then it is filled from the other end of the interior. A copy
//! of a cell that is itself filled gets the final value of that cell, so one exchange fills
//! everything, corners included.

use std::collections::BTreeMap;
use std::ops::Range;

use super::axis::AxisTransfers;
use super::parcel::{Parcel, parcels};
use crate::axis::{AxisKind, AxisMap, BlockMap, StructuredMap};
use crate::distribution::{Distribution, Held};
use crate::runs::{CellRuns, Transfer};

/// Returns the padding that `rank` receives; [`Transfer::own`] are the cells to fill.
pub fn halo_receives(distribution: &Distribution, rank: u64) -> Vec<Parcel> {
    halo_parcels(distribution, rank, |line, at| line.received_by(at))
}

/// Returns the cells that `rank` sends for the padding of others; [`Transfer::own`] are its own
/// cells.
pub fn halo_sends(distribution: &Distribution, rank: u64) -> Vec<Parcel> {
    match distribution.has_padding_exceptions() {
        true => searched_sends(distribution, rank),
        false => halo_parcels(distribution, rank, |line, at| line.sent_by(at)),
    }
}

/// Returns the product of the halos along the axes, without the cells a rank keeps in every axis.
fn halo_parcels(
    distribution: &Distribution,
    rank: u64,
    along: fn(&RankLine<'_>, u64) -> AxisHalo,
) -> Vec<Parcel> {
    if distribution.held() != Held::Grid {
        return Vec::new();
    }
    let coords = distribution.coords(rank);
    let halo_along =
        |(axis, &at): (usize, &u64)| along(&RankLine::new(distribution, axis, &coords), at);
    let axes: Vec<AxisHalo> = coords.iter().enumerate().map(halo_along).collect();
    let unmoved = axes.iter().all(|axis| axis.keeps_cells).then_some(rank);
    let axes = axes.into_iter().map(|axis| axis.transfers).collect();
    let all = parcels(axes, unmoved, |coords| distribution.rank(coords));
    all.filter(|parcel| parcel.boxes().next().is_some()).collect()
}

/// Returns the sends if boundary padding differs between pieces. The halo is then no product over
/// the axes, so all ranks are searched.
fn searched_sends(distribution: &Distribution, rank: u64) -> Vec<Parcel> {
    let from_rank = |peer| {
        halo_receives(distribution, peer).into_iter().filter(move |parcel| parcel.peer == rank)
    };
    let reversed = |peer| from_rank(peer).map(move |parcel| parcel.reversed(peer));
    (0..distribution.nprocs()).flat_map(reversed).collect()
}

/// The halo along one axis. The first transfer of a rank to itself are the cells it keeps.
struct AxisHalo {
    transfers: AxisTransfers,
    keeps_cells: bool,
}

/// A line of ranks along an axis, with the boundary padding at its ends.
struct RankLine<'a> {
    map: &'a AxisMap,
    left: u64,
    right: u64,
}

impl<'a> RankLine<'a> {
    fn new(distribution: &'a Distribution, axis: usize, coords: &[u64]) -> Self {
        let map = &distribution.axes()[axis];
        let end = |at: u64| {
            let mut coords = coords.to_vec();
            coords[axis] = at;
            distribution.padding(distribution.rank(&coords), axis)
        };
        Self { map, left: end(0).0, right: end(map.grid() - 1).1 }
    }

    fn received_by(&self, rank: u64) -> AxisHalo {
        let mut halo = AxisHalo { transfers: Vec::new(), keeps_cells: false };
        let mut transfers: BTreeMap<u64, Vec<Transfer>> = BTreeMap::new();
        let unchanged = self.unchanged_cells(rank);
        if !unchanged.is_empty() {
            let cells = CellRuns::contiguous(unchanged.start, unchanged.end - unchanged.start);
            transfers.insert(rank, vec![Transfer { own: cells.clone(), other: cells }]);
            halo.keeps_cells = true;
        }
        if let (AxisKind::Block(map), Some(at)) = (&self.map.kind, self.map.map_rank(rank)) {
            for (local, copied) in self.copied_cells(map, at) {
                self.add_copies(map, local, copied, &mut transfers);
            }
        }
        halo.transfers = transfers.into_iter().collect();
        halo
    }

    /// Returns the halo that a rank sends. Neighbours need each other's cells; on a periodic axis
    /// the ranks at the ends, and those next to them, may need cells of any rank.
    fn sent_by(&self, rank: u64) -> AxisHalo {
        let last = self.map.grid() - 1;
        let neighbours = rank.saturating_sub(1)..=(rank + 1).min(last);
        let is_periodic = matches!(&self.map.kind, AxisKind::Block(map) if map.periodic);
        let ends = [0, 1.min(last), last.saturating_sub(1), last];
        let mut peers: Vec<u64> =
            neighbours.chain(ends.into_iter().filter(|_| is_periodic)).collect();
        peers.sort_unstable();
        peers.dedup();
        let mut halo = AxisHalo { transfers: Vec::new(), keeps_cells: false };
        for peer in peers {
            let received = self.received_by(peer);
            halo.keeps_cells |= peer == rank && received.keeps_cells;
            let from_rank = received.transfers.into_iter().filter(|&(from, _)| from == rank);
            halo.transfers.extend(from_rank.map(|(_, transfers)| {
                (peer, transfers.into_iter().map(Transfer::reversed).collect())
            }));
        }
        halo
    }

    /// Returns the cells of a rank's piece that no halo exchange changes.
    fn unchanged_cells(&self, rank: u64) -> Range<u64> {
        let (AxisKind::Block(map), Some(at)) = (&self.map.kind, self.map.map_rank(rank)) else {
            return 0..self.map.extent(rank);
        };
        let (owned, (left, _)) = (map.owned(at), map.communication_padding(at));
        let interior = self.interior(map);
        let unchanged =
            owned.start.max(interior.start)..owned.end.min(interior.end).max(interior.start);
        let local = |index: u64| index.clamp(owned.start, owned.end) - owned.start + left;
        local(unchanged.start)..local(unchanged.end)
    }

    /// Returns the indices that are not filled from elsewhere.
    fn interior(&self, map: &BlockMap) -> Range<u64> {
        let size = map.size();
        let filled = map.periodic && !map.wraps && self.left + self.right < size;
        if filled { self.left..size - self.right } else { 0..size }
    }

    /// Returns the cells of a piece that are copies, with the local index of the first; global
    /// indices are outside 0..size if the axis wraps.
    fn copied_cells(&self, map: &BlockMap, rank: u64) -> Vec<(u64, Range<i128>)> {
        let (owned, (left, right)) = (map.owned(rank), map.communication_padding(rank));
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

    /// Adds the transfers that fill the copies, owner by owner.
    fn add_copies(
        &self,
        map: &BlockMap,
        mut local: u64,
        cells: Range<i128>,
        transfers: &mut BTreeMap<u64, Vec<Transfer>>,
    ) {
        let mut index = cells.start;
        while index < cells.end {
            let Some((source, room)) = self.source(map, index) else { return };
            let run = map.run_at(source);
            let len = (run.stop - source).min(room).min((cells.end - index) as u64);
            let transfer = Transfer {
                own: CellRuns::contiguous(local, len),
                other: CellRuns::contiguous(run.local, len),
            };
            transfers.entry(self.map.placement.to_grid_rank(run.rank)).or_default().push(transfer);
            (index, local) = (index + i128::from(len), local + len);
        }
    }

    /// Returns the index that an index is filled from, and the number of following indices with the
    /// same offset.
    fn source(&self, map: &BlockMap, index: i128) -> Option<(u64, u64)> {
        let interior = if map.wraps { 0..map.size() } else { self.interior(map) };
        let (start, end) = (i128::from(interior.start), i128::from(interior.end));
        let period = (end > start).then_some(end - start)?;
        let source = (index - start).rem_euclid(period) + start;
        Some((source as u64, (end - source) as u64))
    }
}
