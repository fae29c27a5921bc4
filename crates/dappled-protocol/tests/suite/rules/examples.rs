//! Examples from the protocol texts: 0.10.0 (seed 000) and 0.9.0 (seed 003).

use dappled_protocol::export::check_all;
use dappled_protocol::{Export, Value};

use super::{block, export, pair, said, undistributed, unstructured, with};

fn verdict(exports: &[Value]) -> String {
    let exports: Result<Vec<Export>, _> = exports.iter().map(Export::read).collect();
    said(exports.and_then(|exports| check_all(&exports)))
}

#[test]
fn block_with_padding() {
    let dim = |bounds, rank| with(&block(18, [rank, 2], bounds), "padding", pair(1, 1));
    let piece = |version, bounds, rank| export(version, &[10], &[dim(bounds, rank)]);
    let new = [piece("0.10.0", [0, 10], 0), piece("0.10.0", [8, 18], 1)];
    let old = [piece("0.9.0", [0, 9], 0), piece("0.9.0", [9, 18], 1)];
    assert_eq!([verdict(&new), verdict(&old)], ["ok", "ok"]);
    let read =
        |exports: &[Value; 2]| exports.clone().map(|export| Export::read(&export).unwrap().dims);
    assert_eq!(read(&new), read(&old));
}

#[test]
fn the_table_of_paddings() {
    // Left boundary 4, widths 1, 2 and 3 between the ranks, each owning 10.
    let rows = [([0, 11], (4, 1)), ([9, 22], (1, 2)), ([18, 33], (2, 3)), ([27, 40], (3, 0))];
    let piece = |rank: usize| {
        let ([start, stop], (left, right)) = rows[rank];
        let dim = with(&block(40, [rank as u64, 4], [start, stop]), "padding", pair(left, right));
        export("0.10.0", &[stop - start], &[dim])
    };
    assert_eq!(verdict(&[0, 1, 2, 3].map(piece)), "ok");
}

#[test]
fn block_undistributed() {
    let piece = |rank| {
        let dims = [block(2, [rank, 2], [rank, rank + 1]), undistributed(10)];
        export("0.9.0", &[1, 10], &dims)
    };
    assert_eq!(verdict(&[0, 1].map(piece)), "ok");
}

#[test]
fn unstructured_on_three() {
    let indices: [&[i64]; 3] = [
        &[19, 1, 0, 12, 2, 15, 4],
        &[6, 13, 3],
        &[10, 25, 5, 21, 7, 18, 11, 26, 29, 24, 23, 28, 14, 20, 9, 16, 27, 8, 17, 22],
    ];
    for version in ["0.9.0", "0.10.0"] {
        let piece = |rank: usize| {
            let dim = unstructured(30, [rank as u64, 3], indices[rank]);
            export(version, &[indices[rank].len() as u64], &[dim])
        };
        assert_eq!(verdict(&[0, 1, 2].map(piece)), "ok");
    }
}
