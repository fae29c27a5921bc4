//! Counts, widths and index conversions of a dimension.

use dappled_protocol::{Dim, DimKind, Meaning};

use super::{block, cyclic, int, pair, undistributed, unstructured, with};

/// Returns the global index of every cell of the buffer.
fn cells(dim: &Dim) -> Vec<Option<i64>> {
    (0..dim.extent()).map(|local| dim.global_index(local)).collect()
}

fn dealt(size: u64, grid_size: u64, grid_rank: u64, block_size: u64) -> Dim {
    Dim { size, grid_size, grid_rank, periodic: false, kind: DimKind::Cyclic { block_size } }
}

#[test]
fn cyclic_counts_are_those_of_dealing() {
    let owned = |rank| dealt(7, 2, rank, 2).owned();
    assert_eq!([owned(0), owned(1)], [4, 3]);
    for (size, grid, block_size) in all_small() {
        for rank in 0..grid {
            let dim = dealt(size, grid, rank, block_size);
            let mine = |index: &u64| index / block_size % grid == rank;
            let brute: Vec<Option<i64>> =
                (0..size).filter(mine).map(|index| Some(index as i64)).collect();
            assert_eq!(cells(&dim), brute);
            assert_eq!(dim.owned(), brute.len() as u64);
        }
    }
}

fn all_small() -> impl Iterator<Item = (u64, u64, u64)> {
    let grids = (1..5).flat_map(|grid| (1..5).map(move |block_size| (grid, block_size)));
    grids.flat_map(|(grid, block_size)| (0..20).map(move |size| (size, grid, block_size)))
}

#[test]
fn huge_numbers_are_only_numbers() {
    let size = i64::MAX as u64;
    assert_eq!(dealt(size, size, size - 1, 1).owned(), 1);
    assert_eq!(dealt(size, size, 1, size).owned(), 0);
    let dim = dealt(1 << 62, 3, 2, 5);
    let last = dim.global_index(dim.owned() - 1).unwrap();
    assert_eq!(dim.local_index(last), Some(dim.owned() - 1));
    let whole = Dim::read(&block(size, [0, 1], [0, size]), None, Meaning::Current).unwrap();
    assert_eq!((whole.extent(), whole.local_index(i64::MAX)), (size, None));
    assert_eq!(whole.local_index(i64::MAX - 1), Some(size - 1));
}

#[test]
fn both_versions_of_padding_are_one_dimension() {
    let current = with(&block(10, [1, 3], [3, 8]), "padding", pair(1, 2));
    let old = with(&block(10, [1, 3], [4, 6]), "padding", pair(1, 2));
    let current = Dim::read(&current, Some(5), Meaning::Current).unwrap();
    assert_eq!(Dim::read(&old, Some(5), Meaning::V09).unwrap(), current);
    assert_eq!((current.owned(), current.extent()), (2, 5));
    assert_eq!((current.left_padding(), current.right_padding()), (1, 2));
    assert_eq!(cells(&current), [3, 4, 5, 6, 7].map(Some));
    assert_eq!(
        [2, 3, 7, 8, -1].map(|index| current.local_index(index)),
        [None, Some(0), Some(4), None, None]
    );
}

#[test]
fn boundary_padding_is_owned() {
    for meaning in [Meaning::Current, Meaning::V09] {
        let dim = with(&block(10, [0, 1], [0, 10]), "padding", pair(2, 1));
        let dim = Dim::read(&dim, Some(10), meaning).unwrap();
        assert_eq!((dim.owned(), dim.left_padding(), dim.right_padding()), (10, 0, 0));
        assert_eq!(cells(&dim), (0..10).map(Some).collect::<Vec<_>>());
    }
}

#[test]
fn padding_that_wraps_copies_the_other_end() {
    let dim = with(&undistributed(3), "padding", pair(2, 4));
    let dim = Dim::read(&with(&dim, "periodic", true.into()), Some(9), Meaning::V09).unwrap();
    assert_eq!(cells(&dim), [1, 2, 0, 1, 2, 0, 1, 2, 0].map(Some));
    assert_eq!([0, 1, 2, 3].map(|index| dim.local_index(index)), [Some(2), Some(3), Some(4), None]);
    let first = with(&block(9, [0, 3], [0, 3]), "padding", pair(2, 1));
    let first = Dim::read(&with(&first, "periodic", true.into()), None, Meaning::V09).unwrap();
    assert_eq!(cells(&first), [7, 8, 0, 1, 2, 3].map(Some));
    assert_eq!([8, 3, 4].map(|index| first.local_index(index)), [Some(1), Some(5), None]);
    let none = with(&with(&undistributed(0), "padding", pair(1, 1)), "periodic", true.into());
    assert_eq!(cells(&Dim::read(&none, Some(2), Meaning::V09).unwrap()), [None, None]);
}

#[test]
fn padding_beyond_the_array_copies_nothing() {
    // A violation that only the neighbours reveal (C05).
    let dim = with(&block(5, [1, 3], [1, 4]), "padding", pair(2, 2));
    let dim = Dim::read(&dim, None, Meaning::V09).unwrap();
    assert_eq!(cells(&dim), [None, Some(0), Some(1), Some(2), Some(3), Some(4), None]);
}

#[test]
fn unstructured_indices_are_labels() {
    let dim = Dim::read(&unstructured(5, [0, 1], &[-3, 70]), Some(2), Meaning::Current).unwrap();
    assert_eq!([-3, 70, 0].map(|label| dim.local_index(label)), [Some(0), Some(1), None]);
    assert_eq!([0, 1, 2].map(|local| dim.global_index(local)), [Some(-3), Some(70), None]);
}

#[test]
fn both_starts_of_an_empty_cyclic_rank_are_one() {
    let (by_rank, by_size) = (cyclic(3, [2, 3]), with(&cyclic(3, [2, 3]), "start", int(3)));
    let read = |dim| Dim::read(&dim, Some(0), Meaning::Current).unwrap();
    assert_eq!(read(by_rank), read(by_size));
}
