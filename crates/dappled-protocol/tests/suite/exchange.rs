//! Every element moves exactly once to the right location, compared with an oracle per element.

use std::collections::HashMap;

use crate::strategies::{distribution_of, indices, signed, view};
use dappled_protocol::exchange::{Parcel, halo_receives, halo_sends, receives, sends};
use dappled_protocol::{Distribution, Transfer};
use proptest::prelude::*;

/// A location: a rank and a cell of its piece.
type Location = (u64, Vec<u64>);

fn cells(axes: &[Transfer], side: fn(&Transfer) -> Vec<u64>) -> Vec<Vec<u64>> {
    let lists: Vec<Vec<u64>> = axes.iter().map(side).collect();
    let lengths: Vec<u64> = lists.iter().map(|list| list.len() as u64).collect();
    let cell =
        |index: Vec<u64>| index.iter().zip(&lists).map(|(&at, list)| list[at as usize]).collect();
    indices(&lengths).into_iter().map(cell).collect()
}

fn own(axes: &[Transfer]) -> Vec<Vec<u64>> {
    cells(axes, |axis| axis.own.iter().collect())
}

fn other(axes: &[Transfer]) -> Vec<Vec<u64>> {
    cells(axes, |axis| axis.other.iter().collect())
}

/// Returns the cells on both sides of a parcel, in sending order.
fn pairs(parcel: &Parcel) -> Vec<(Vec<u64>, Vec<u64>)> {
    let pairs = parcel
        .boxes()
        .flat_map(|axes| own(&axes).into_iter().zip(other(&axes)).collect::<Vec<_>>());
    let pairs: Vec<_> = pairs.collect();
    assert_eq!(pairs.len() as u64, parcel.cells());
    assert!(!pairs.is_empty(), "an empty parcel");
    pairs
}

/// Checks that splitting boxes into spans keeps the cells on both sides.
fn spans_are_the_same(parcel: &Parcel) {
    for axes in parcel.boxes() {
        for axis in axes {
            let mut whole: Vec<_> = axis.own.iter().zip(axis.other.iter()).collect();
            let mut parts: Vec<_> = axis
                .spans()
                .iter()
                .flat_map(|part| part.own.iter().zip(part.other.iter()).collect::<Vec<_>>())
                .collect();
            whole.sort_unstable();
            parts.sort_unstable();
            assert_eq!(whole, parts);
            let turned = Transfer { own: axis.other.clone(), other: axis.own.clone() };
            let swapped: Vec<_> = turned
                .spans()
                .into_iter()
                .map(|t| Transfer { own: t.other, other: t.own })
                .collect();
            assert_eq!(axis.spans(), swapped, "the two sides cut differently");
        }
    }
}

/// Returns a map from target to source locations, as seen by one side.
fn moved(
    ranks: u64,
    parcels: impl Fn(u64) -> Vec<Parcel>,
    sending: bool,
) -> Vec<(Location, Location)> {
    let mut pairs_of_cells = Vec::new();
    for rank in 0..ranks {
        let parcels = parcels(rank);
        assert!(parcels.windows(2).all(|pair| pair[0].peer < pair[1].peer), "peers not ascending");
        for parcel in &parcels {
            spans_are_the_same(parcel);
            for (own, other) in pairs(parcel) {
                let (own, other) = ((rank, own), (parcel.peer, other));
                pairs_of_cells.push(if sending { (other, own) } else { (own, other) });
            }
        }
    }
    pairs_of_cells
}

fn by_target(moved: Vec<(Location, Location)>) -> HashMap<Location, Location> {
    let count = moved.len();
    let map: HashMap<Location, Location> = moved.into_iter().collect();
    assert_eq!(map.len(), count, "a cell was written twice");
    map
}

fn exchange_is_right(source: &Distribution, target: &Distribution) {
    let ranks = source.nprocs().max(target.nprocs());
    let sent = moved(ranks, |rank| sends(source, target, rank).unwrap().collect(), true);
    let received = moved(ranks, |rank| receives(source, target, rank).unwrap().collect(), false);
    // Ordered by pairs of ranks, both sides list the same cells in the same order.
    let ordered = |mut list: Vec<(Location, Location)>| {
        list.sort_by_key(|((to, _), (from, _))| (*to, *from));
        list
    };
    assert_eq!(ordered(sent.clone()), ordered(received));
    let moved = by_target(sent);
    let mut wanted = 0;
    for index in indices(&source.shape()) {
        for place in target.owners(&signed(&index)) {
            let from = &moved[&place];
            assert!(
                source.owners(&signed(&index)).any(|place| place == *from),
                "{index:?} from {from:?}"
            );
            wanted += 1;
        }
    }
    assert_eq!(moved.len(), wanted);
}

/// Checks each padding cell against the cell that it copies.
fn halo_is_right(distribution: &Distribution) {
    let ranks = distribution.nprocs();
    let received = moved(ranks, |rank| halo_receives(distribution, rank), false);
    let sent = moved(ranks, |rank| halo_sends(distribution, rank), true);
    let ordered = |mut list: Vec<(Location, Location)>| {
        list.sort_by_key(|((to, _), (from, _))| (*to, *from));
        list
    };
    assert_eq!(ordered(sent), ordered(received.clone()));
    let moved = by_target(received);
    for rank in 0..ranks {
        for cell in indices(&distribution.local_shape(rank)) {
            let global = distribution.global(rank, &cell).unwrap();
            let filled: Vec<i64> = global
                .iter()
                .enumerate()
                .map(|(axis, &at)| filled_from(distribution, axis, at))
                .collect();
            let source = distribution.owner(&filled).unwrap();
            let stays = source == (rank, cell.clone());
            assert_eq!(
                moved.get(&(rank, cell.clone())),
                (!stays).then_some(&source),
                "{rank} {cell:?}"
            );
        }
    }
}

/// The periodic fill of 0.10 as defined in PROTOCOL.md, one period at a time.
fn filled_from(distribution: &Distribution, axis: usize, at: i64) -> i64 {
    let map = &distribution.axes()[axis];
    let (first, last) = (map.dim(0).unwrap(), map.dim(map.grid() - 1).unwrap());
    let width = |dim: &dappled_protocol::Dim| match dim.kind {
        dappled_protocol::DimKind::Block { padding, .. } if dim.periodic => padding,
        _ => (0, 0),
    };
    let (low, high) = (width(&first).0 as i64, map.size() as i64 - width(&last).1 as i64);
    let mut source = at;
    while low < high && source < low {
        source += high - low;
    }
    while low < high && source >= high {
        source -= high - low;
    }
    source
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn every_element_moves_once((source, target) in view().prop_flat_map(|source| {
        let shape = source.shape();
        (Just(source), distribution_of(shape))
    }), turned in any::<bool>()) {
        let (source, target) = if turned { (target, source) } else { (source, target) };
        exchange_is_right(&source, &target);
    }

    #[test]
    fn every_padding_cell_is_a_copy(distribution in view()) {
        if distribution.held() == dappled_protocol::Held::Grid {
            halo_is_right(&distribution);
        } else {
            prop_assert!(halo_receives(&distribution, 0).is_empty());
        }
    }
}

#[test]
fn huge_periodic_exchanges_are_a_few_runs() {
    let size = 1u64 << 62;
    let spec = |kind: &str, block| {
        Distribution::spec(&[size]).dist(kind).nprocs(6).block_size(block).build().unwrap()
    };
    for (source, target) in [("c", "b"), ("b", "c"), ("c", "c")] {
        let (source, target) = (spec(source, 4), spec(target, 6));
        let parcels: Vec<Parcel> = sends(&source, &target, 1).unwrap().collect();
        let boxes: usize = parcels.iter().map(|parcel| parcel.boxes().count()).sum();
        let cells: u64 = parcels.iter().map(Parcel::cells).sum();
        assert!(boxes < 100, "{boxes} boxes");
        assert_eq!(cells, source.local_shape(1)[0]);
    }
}
