//! C01 to C08: valid sets of exports with one key changed at a time.

use dappled_protocol::export::check_all;
use dappled_protocol::{Dim, DimKind, Export, Meaning, ProtocolError, Value};

use super::{
    Changes, block, buffer, changed, cyclic, empty, export, int, labels, pair, said, text,
    undistributed, unstructured, with,
};

/// The dimension dictionaries of each rank.
type Ranks = Vec<Vec<Value>>;

/// A change of the dictionary of one rank and dimension, and the complete message.
type Row<'a> = ((usize, usize), Changes<'a>, &'a str);

fn read_all(meaning: Meaning, ranks: &Ranks) -> Result<Vec<Export>, ProtocolError> {
    let read = |dims: &Vec<Value>| Export::from_dim_data(&Value::List(dims.clone()), None, meaning);
    ranks.iter().map(read).collect()
}

fn verdict(meaning: Meaning, ranks: &Ranks) -> String {
    said(read_all(meaning, ranks).and_then(|exports| check_all(&exports)))
}

fn check(meaning: Meaning, good: &Ranks, rows: &[Row<'_>]) {
    assert_eq!(verdict(meaning, good), "ok");
    for ((rank, dimension), changes, expected) in rows {
        let mut ranks = good.clone();
        ranks[*rank][*dimension] = changed(&good[*rank][*dimension], changes);
        assert_eq!(verdict(meaning, &ranks), *expected, "{changes:?} on rank {rank}");
    }
}

/// 5 x 9 on a grid of 2 x 2: block with padding, and cyclic.
fn plane() -> Ranks {
    let rows = [
        with(&block(5, [0, 2], [0, 4]), "padding", pair(1, 1)),
        with(&block(5, [1, 2], [2, 5]), "padding", pair(1, 2)),
    ];
    let columns = [cyclic(9, [0, 2]), cyclic(9, [1, 2])];
    let ranks = [(0, 0), (0, 1), (1, 0), (1, 1)];
    ranks.map(|(row, column)| vec![rows[row].clone(), columns[column].clone()]).into()
}

#[test]
fn a_plane() {
    check(
        Meaning::Current,
        &plane(),
        &[
            (
                (2, 1),
                &[("dist_type", Some(text("u"))), ("indices", Some(labels(&[])))],
                "C01: rank 2, dimension 1, 'dist_type': got 'u', expected 'c', as on rank 0",
            ),
            (
                (1, 1),
                &[("size", Some(int(8)))],
                "C01: rank 1, dimension 1, 'size': got 8, expected 9, as on rank 0",
            ),
            (
                (0, 1),
                &[("size", Some(int(8)))],
                "C01: rank 1, dimension 1, 'size': got 9, expected 8, as on rank 0",
            ),
            (
                (3, 1),
                &[("proc_grid_size", Some(int(4)))],
                "C01: rank 3, dimension 1, 'proc_grid_size': got 4, expected 2, as on rank 0",
            ),
            (
                (2, 1),
                &[("block_size", None)],
                "C01: rank 2, dimension 1, 'block_size': got 1, expected 2, as on rank 0",
            ),
            (
                (3, 0),
                &[("periodic", Some(Value::Bool(true)))],
                "C01: rank 3, dimension 0, 'periodic': got True, expected False, as on rank 0",
            ),
            (
                (1, 1),
                &[("proc_grid_rank", Some(int(0))), ("start", Some(int(0)))],
                "C02: rank 1, dimension 1, 'proc_grid_rank': got 0, expected 1, its row-major coordinate in the grid [2, 2]",
            ),
            (
                (3, 0),
                &[("start", Some(int(1)))],
                "C03: rank 3, dimension 0, 'start': got 1, expected 2, as on rank 2",
            ),
            (
                (1, 0),
                &[("stop", Some(int(3)))],
                "C03: rank 1, dimension 0, 'stop': got 3, expected 4, as on rank 0",
            ),
            (
                (1, 0),
                &[("padding", Some(pair(1, 0)))],
                "C03: rank 1, dimension 0, 'padding': got communication padding (0, 0), expected communication padding (0, 1), as on rank 0",
            ),
            // Each piece may have its own boundary padding.
            ((1, 0), &[("padding", Some(pair(3, 1)))], "ok"),
            ((3, 0), &[("padding", Some(pair(1, 0)))], "ok"),
        ],
    );
}

#[test]
fn the_grid_is_all_processes() {
    let three = plane()[..3].to_vec();
    let product = "'proc_grid_size': got [2, 2], expected grid sizes with the product 3, the number of processes";
    assert_eq!(verdict(Meaning::Current, &three), format!("C02: {product}"));
    assert_eq!(verdict(Meaning::Current, &vec![]), "C02: expected at least one process");
    assert_eq!(verdict(Meaning::Current, &vec![vec![]; 5]), "ok");
    let huge = with(&block(0, [0, 1], [0, 0]), "proc_grid_size", int(1 << 62));
    let expected = "C02: 'proc_grid_size': got [4611686018427387904, 4611686018427387904], expected grid sizes with the product 1, the number of processes";
    assert_eq!(verdict(Meaning::Current, &vec![vec![huge.clone(), huge]]), expected);
    // The product overflows: 7 times its inverse modulo 2**64 wraps to 1.
    let grid = |grid: i128| with(&block(0, [0, 1], [0, 0]), "proc_grid_size", int(grid));
    let dims = [grid(7), grid(7905747460161236407)];
    let expected = "C02: 'proc_grid_size': got [7, 7905747460161236407], expected grid sizes with the product 1, the number of processes";
    assert_eq!(verdict(Meaning::Current, &vec![dims.to_vec()]), expected);
    let mut turned = plane();
    turned.swap(1, 2);
    let expected = "C02: rank 1, dimension 0, 'proc_grid_rank': got 1, expected 0, its row-major coordinate in the grid [2, 2]";
    assert_eq!(verdict(Meaning::Current, &turned), expected);
}

/// 12 on a grid of 3, with padding 1 and 2.
fn padded() -> Ranks {
    let dim = |rank, bounds, padding| vec![with(&block(12, [rank, 3], bounds), "padding", padding)];
    vec![dim(0, [0, 5], pair(0, 1)), dim(1, [3, 10], pair(1, 2)), dim(2, [6, 12], pair(2, 0))]
}

#[test]
fn neighbours() {
    check(
        Meaning::Current,
        &padded(),
        &[
            (
                (1, 0),
                &[("start", Some(int(4)))],
                "C04: rank 1, dimension 0, 'start': got 4, expected 3, as rank 0 owns up to 4",
            ),
            (
                (1, 0),
                &[("stop", Some(int(9)))],
                "C04: rank 2, dimension 0, 'start': got 6, expected 5, as rank 1 owns up to 7",
            ),
            (
                (2, 0),
                &[("padding", Some(pair(1, 0))), ("start", Some(int(7)))],
                "C05: rank 2, dimension 0, 'padding': got (1, 0), expected a left width of 2, as on the right of rank 1",
            ),
            (
                (0, 0),
                &[("padding", None), ("stop", Some(int(4)))],
                "C05: rank 1, dimension 0, 'padding': got (1, 2), expected a left width of 0, as on the right of rank 0",
            ),
        ],
    );
}

/// The start and stop of three ranks, and their padding.
type Pieces = [([u64; 2], (i128, i128)); 3];

#[test]
fn padding_between_neighbours() {
    let rows: [(Pieces, &str); 8] = [
        ([([0, 2], (0, 0)), ([2, 2], (0, 0)), ([2, 8], (0, 0))], "ok"),
        ([([0, 4], (2, 2)), ([0, 6], (2, 2)), ([2, 8], (2, 4))], "ok"),
        (
            [([0, 3], (0, 2)), ([0, 3], (2, 0)), ([3, 8], (0, 0))],
            "C04: rank 1, dimension 0, 'start': got 0, expected -1, as rank 0 owns up to 1",
        ),
        (
            [([0, 4], (0, 2)), ([0, 4], (2, 0)), ([2, 8], (0, 0))],
            "C04: rank 2, dimension 0, 'start': got 2, expected 4, as rank 1 owns up to 4",
        ),
        (
            [([0, 4], (0, 1)), ([1, 4], (2, 0)), ([4, 8], (0, 0))],
            "C05: rank 1, dimension 0, 'padding': got (2, 0), expected a left width of 1, as on the right of rank 0",
        ),
        (
            [([0, 4], (0, 2)), ([0, 3], (2, 0)), ([3, 8], (0, 0))],
            "C05: rank 0, dimension 0, 'padding': got (0, 2), expected a right width <= 1, what rank 1 owns",
        ),
        (
            [([0, 3], (0, 0)), ([3, 6], (0, 2)), ([2, 8], (2, 0))],
            "C05: rank 2, dimension 0, 'padding': got (2, 0), expected a left width <= 1, what rank 1 owns",
        ),
        (
            [([0, 4], (0, 0)), ([4, 5], (0, 1)), ([3, 8], (1, 0))],
            "C05: rank 2, dimension 0, 'padding': got (1, 0), expected a left width <= 0, what rank 1 owns",
        ),
    ];
    for (pieces, expected) in rows {
        let dim = |rank: usize| {
            let (bounds, (left, right)) = pieces[rank];
            vec![with(&block(8, [rank as u64, 3], bounds), "padding", pair(left, right))]
        };
        assert_eq!(verdict(Meaning::Current, &[0, 1, 2].map(dim).to_vec()), expected);
    }
}

/// 12 on a grid of 3 in 0.9, periodic, so that the outer padding wraps.
fn wrapping() -> Ranks {
    let bounds = [[0, 4], [4, 8], [8, 12]];
    let dim = |rank: usize| {
        let dim = with(&block(12, [rank as u64, 3], bounds[rank]), "padding", pair(1, 1));
        vec![with(&dim, "periodic", true.into())]
    };
    (0..3).map(dim).collect()
}

#[test]
fn version_0_9() {
    check(
        Meaning::V09,
        &wrapping(),
        &[
            ((0, 0), &[("padding", Some(pair(5, 1)))], "ok"),
            (
                (1, 0),
                &[("start", Some(int(5)))],
                "C04: rank 1, dimension 0, 'start': got 5, expected 4, as rank 0 owns up to 4",
            ),
            (
                (1, 0),
                &[("padding", None)],
                "C05: rank 1, dimension 0, 'padding': got (0, 0), expected a left width of 1, as on the right of rank 0",
            ),
            (
                (1, 0),
                &[("periodic", None)],
                "C01: rank 1, dimension 0, 'periodic': got False, expected True, as on rank 0",
            ),
        ],
    );
    let bounds = [[0, 4], [4, 8]];
    let plain = |rank: usize| vec![block(8, [rank as u64, 2], bounds[rank])];
    let zero = Some(pair(0, 0));
    check(
        Meaning::V09,
        &(0..2).map(plain).collect(),
        &[
            (
                (1, 0),
                &[("padding", zero.clone())],
                "C08: rank 1, dimension 0, 'padding': got (0, 0), expected the key on all processes or on none, and rank 0 does not have it",
            ),
            (
                (0, 0),
                &[("padding", zero.clone())],
                "C08: rank 1, dimension 0, 'padding': missing, expected the key on all processes or on none, and rank 0 has it",
            ),
        ],
    );
    let later = ((1, 0), &[("padding", zero)] as Changes<'_>, "ok");
    check(Meaning::Current, &(0..2).map(plain).collect(), &[later]);
    // The key does not apply to a cyclic dimension.
    let dealt =
        vec![vec![cyclic(8, [0, 2])], vec![with(&cyclic(8, [1, 2]), "padding", pair(0, 0))]];
    assert_eq!(verdict(Meaning::V09, &dealt), "ok");
    // 'n' is a block on a grid of 1.
    let column = |rank, whole: Value| vec![block(2, [rank, 2], [rank, rank + 1]), whole];
    let mixed = vec![column(0, undistributed(3)), column(1, block(3, [0, 1], [0, 3]))];
    assert_eq!(verdict(Meaning::V09, &mixed), "ok");
}

#[test]
fn padding_that_wraps_is_no_matter_of_each_piece() {
    let rank = |rank: u64, left| {
        let whole =
            with(&with(&undistributed(3), "padding", pair(left, 1)), "periodic", true.into());
        vec![block(2, [rank, 2], [rank, rank + 1]), whole]
    };
    assert_eq!(verdict(Meaning::V09, &vec![rank(0, 2), rank(1, 2)]), "ok");
    let expected = "C03: rank 1, dimension 1, 'padding': got communication padding (1, 1), expected communication padding (2, 1), as on rank 0";
    assert_eq!(verdict(Meaning::V09, &vec![rank(0, 2), rank(1, 1)]), expected);
}

#[test]
fn unstructured_sets() {
    let good =
        vec![vec![unstructured(5, [0, 2], &[-1, 7])], vec![unstructured(5, [1, 2], &[2, 0, 9])]];
    check(
        Meaning::Current,
        &good,
        &[
            (
                (1, 0),
                &[("one_to_one", None)],
                "C01: rank 1, dimension 0, 'one_to_one': got False, expected True, as on rank 0",
            ),
            (
                (1, 0),
                &[("indices", Some(labels(&[2, 7, 9])))],
                "C07: rank 1, dimension 0, 'indices': got 7, expected each on one process, but rank 0 has 7 too",
            ),
            (
                (1, 0),
                &[("indices", Some(labels(&[2, 8])))],
                "C07: dimension 0, 'size': got 5, expected 4, what the grid ranks own together",
            ),
        ],
    );
    let free = |dims: &Vec<Value>| vec![changed(&dims[0], &[("one_to_one", None)])];
    let free: Ranks = good.iter().map(free).collect();
    let changes: Changes<'_> = &[("indices", Some(labels(&[7])))];
    check(Meaning::Current, &free, &[((1, 0), changes, "ok")]);
    let twice = vec![
        vec![unstructured(1, [0, 1], &[0]), block(2, [0, 2], [0, 1])],
        vec![unstructured(1, [0, 1], &[4]), block(2, [1, 2], [1, 2])],
    ];
    let expected = "C03: rank 1, dimension 0, 'indices': got [4], expected [0], as on rank 0";
    assert_eq!(verdict(Meaning::Current, &twice), expected);
}

#[test]
fn owned_counts_sum_to_the_size() {
    // No dictionary that satisfies the other rules can violate this one, but a `Dim` can.
    let kind = DimKind::Block { owned: 0..3, padding: (0, 0), wraps: false, undistributed: false };
    let dim = Dim { size: 5, grid_size: 1, grid_rank: 0, periodic: false, kind };
    let mut exports = read_all(Meaning::Current, &vec![vec![block(5, [0, 1], [0, 5])]]).unwrap();
    assert_eq!(said(check_all(&exports)), "ok");
    exports[0].dims = vec![dim];
    let expected = "C06: dimension 0, 'size': got 5, expected 3, what the grid ranks own together";
    assert_eq!(said(check_all(&exports)), expected);
}

#[test]
fn whole_exports() {
    let good = |version: &str| export(version, &[], &[]);
    let all = |other: Value| {
        let exports = [good("0.10.0"), other].map(|export| Export::read(&export).unwrap());
        said(check_all(&exports))
    };
    let format = |format, itemsize| with(&good("1.2.0"), "buffer", buffer(&[], format, itemsize));
    assert_eq!(all(format("d", 8)), "ok");
    assert_eq!(all(format(if cfg!(target_endian = "big") { ">d" } else { "<d" }, 8)), "ok");
    let expected = "expected the format 'd' of 8 bytes, as on rank 0";
    assert_eq!(
        all(format("f", 4)),
        format!("C01: rank 1, 'buffer': got the format 'f' of 4 bytes, {expected}")
    );
    assert_eq!(
        all(format("d", 9)),
        format!("C01: rank 1, 'buffer': got the format 'd' of 9 bytes, {expected}")
    );
    let expected = "C01: rank 1, '__version__': got 0.9.0, expected a version that means the same as 0.10.0 on rank 0";
    assert_eq!(all(good("0.9.0")), expected);
    let expected = "C01: rank 1, 'dim_data': got 1 dimensions, expected 0, as on rank 0";
    assert_eq!(all(export("0.10.0", &[2], &[empty()])), expected);
}
