//! Properties of axis maps, checked for every kind.

use std::collections::HashSet;

use crate::strategies::{axis_map, region_of};
use dappled_protocol::{AxisMap, Meaning, Value};
use proptest::prelude::*;

/// Checks all properties. A new kind of axis map only needs an entry in `strategies::axis_spec`.
fn axis_map_suite(map: &AxisMap) {
    owner_and_global_are_inverse(map);
    ranges_are_what_is_owned(map);
    described_as_it_is(map);
    knows_its_bounds(map);
}

fn owner_and_global_are_inverse(map: &AxisMap) {
    let mut places = HashSet::new();
    for global in 0..map.size() as i64 {
        let (rank, local) = map.owner(global).unwrap();
        assert!(rank < map.grid() && local < map.extent(rank));
        assert_eq!(map.global(rank, local), Some(global));
        assert!(places.insert((rank, local)), "two indices at {rank}, {local}");
        assert_eq!(map.owners(global).collect::<Vec<_>>(), [(rank, local)]);
    }
}

fn ranges_are_what_is_owned(map: &AxisMap) {
    let mut total = 0;
    for rank in 0..map.grid() {
        let owned: Vec<i64> = map.owned_ranges(rank).flatten().collect();
        assert_eq!(owned.len() as u64, map.owned(rank));
        assert!(map.extent(rank) >= map.owned(rank));
        let locals: Vec<u64> = owned.iter().map(|&global| map.owner(global).unwrap().1).collect();
        assert!(owned.iter().all(|&global| map.owner(global).unwrap().0 == rank));
        assert!(
            locals.windows(2).all(|pair| pair[0] + 1 == pair[1]),
            "not side by side: {locals:?}"
        );
        total += map.owned(rank);
    }
    assert_eq!(total, map.size());
}

fn described_as_it_is(map: &AxisMap) {
    for rank in 0..map.grid() {
        let dim = map.dim(rank).unwrap();
        assert_eq!((dim.size, dim.grid_size, dim.grid_rank), (map.size(), map.grid(), rank));
        assert_eq!((dim.owned(), dim.extent()), (map.owned(rank), map.extent(rank)));
        for local in 0..dim.extent() {
            assert_eq!(dim.global_index(local), map.global(rank, local), "{dim:?} at {local}");
        }
        let written = Value::dict(dim.write(Meaning::Current, map.is_padded()).unwrap());
        let read = dappled_protocol::Dim::read(&written, Some(dim.extent()), Meaning::Current);
        assert_eq!(read.unwrap().owned(), dim.owned());
    }
}

fn knows_its_bounds(map: &AxisMap) {
    assert_eq!(map.owner(-1), None);
    assert_eq!(map.owner(map.size() as i64), None);
    assert_eq!(map.owned(map.grid()), 0);
    assert_eq!(map.global(map.grid(), 0), None);
    for rank in 0..map.grid() {
        assert_eq!(map.global(rank, map.extent(rank)), None);
        assert_eq!(map.global(rank, u64::MAX), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn every_kind_passes_the_suite(map in axis_map()) {
        axis_map_suite(&map);
    }

    #[test]
    fn a_part_stays_where_it_was(
        (map, outer, inner) in axis_map().prop_flat_map(|map| {
            let outer = region_of(map.size());
            (Just(map), outer)
        }).prop_flat_map(|(map, outer)| (Just(map), Just(outer), region_of(outer.len())))
    ) {
        let view = map.slice(outer).unwrap().slice(inner).unwrap();
        axis_map_suite(&view);
        prop_assert_eq!((view.size(), view.grid()), (inner.len(), map.grid()));
        for at in 0..inner.len() {
            let base = outer.at(inner.at(at)) as i64;
            prop_assert_eq!(view.owner(at as i64).unwrap().0, map.owner(base).unwrap().0);
        }
    }
}

#[test]
fn a_size_of_2_to_the_62_is_only_a_number() {
    let size = 1u64 << 62;
    let middle = (size / 2) as i64 + 5;
    for map in [AxisMap::block(size, 1_000_000), AxisMap::block_cyclic(size, 1_000_000, 7)] {
        let (rank, local) = map.owner(middle).unwrap();
        assert_eq!(map.global(rank, local), Some(middle));
        let view = map.slice(dappled_protocol::Region::new(size - 3, -5, size / 7)).unwrap();
        let (rank, local) = view.owner(1 << 50).unwrap();
        assert_eq!(view.global(rank, local), Some(1 << 50));
        assert!(local < view.owned(rank));
    }
}

#[test]
fn labels_may_be_anything_and_anywhere() {
    let map = AxisMap::unstructured(5, vec![vec![-3, 7], vec![7, 0, i64::MIN]], false);
    assert_eq!(map.owner(-3), Some((0, 0)));
    assert_eq!(map.owners(7).collect::<Vec<_>>(), [(0, 1), (1, 0)]);
    assert_eq!(map.owner(1), None);
    assert_eq!(map.global(1, 2), Some(i64::MIN));
    assert!(!map.labels_are_indices());
    assert_eq!(map.slice(dappled_protocol::Region::new(0, 2, 2)), None);
}
