//! Written dimensions, and dimensions that a version cannot express.

use dappled_protocol::{Dim, Meaning, Value};

use super::{block, cyclic, int, pair, said, undistributed, unstructured, with};

fn read(dim: &Value, meaning: Meaning) -> Dim {
    Dim::read(dim, None, meaning).unwrap()
}

fn periodic(dim: &Value) -> Value {
    with(dim, "periodic", true.into())
}

#[test]
fn only_what_is_needed_is_written() {
    let plain = block(10, [1, 3], [3, 6]);
    let dim = read(
        &with(&with(&plain, "padding", pair(0, 0)), "periodic", false.into()),
        Meaning::Current,
    );
    let write = |meaning, padded| Value::dict(dim.write(meaning, padded).unwrap());
    assert_eq!(write(Meaning::Current, true), plain);
    assert_eq!(write(Meaning::V09, false), plain);
    assert_eq!(write(Meaning::V09, true), with(&plain, "padding", pair(0, 0)));
    let all =
        Value::dict(read(&cyclic(9, [3, 4]), Meaning::V09).write(Meaning::V09, true).unwrap());
    assert_eq!(all, cyclic(9, [3, 4]));
}

#[test]
fn a_start_past_the_end_is_written_as_it_is() {
    let huge = i128::from(i64::MAX);
    let dim = with(&with(&cyclic(5, [2, 3]), "block_size", int(huge)), "start", int(5));
    let written = read(&dim, Meaning::Current).write(Meaning::Current, false).unwrap();
    assert!(written.contains(&("start", int(2 * huge))));
    assert_eq!(read(&Value::dict(written), Meaning::Current), read(&dim, Meaning::Current));
}

#[test]
fn each_version_has_its_own_bounds() {
    let old = with(&block(10, [1, 3], [4, 6]), "padding", pair(1, 2));
    let new = with(&block(10, [1, 3], [3, 8]), "padding", pair(1, 2));
    let dim = read(&new, Meaning::Current);
    assert_eq!(Value::dict(dim.write(Meaning::V09, true).unwrap()), old);
    assert_eq!(Value::dict(dim.write(Meaning::Current, true).unwrap()), new);
}

#[test]
fn undistributed_is_a_block_since_0_10() {
    let dim = read(&undistributed(4), Meaning::V09);
    assert_eq!(Value::dict(dim.write(Meaning::V09, false).unwrap()), undistributed(4));
    let written = Value::dict(dim.write(Meaning::Current, false).unwrap());
    assert_eq!(written, block(4, [0, 1], [0, 4]));
}

#[test]
fn what_a_version_can_not_say_is_an_error() {
    let padded = |padding| periodic(&with(&undistributed(4), "padding", padding));
    let boundary = periodic(&with(&block(4, [0, 1], [0, 4]), "padding", pair(1, 0)));
    let beyond = with(&block(5, [1, 3], [1, 4]), "padding", pair(2, 0));
    let above = with(&block(5, [1, 3], [1, 4]), "padding", pair(0, 2));
    let only_block = "a block dimension: only 0.9 can say that another is periodic";
    let (old, new) = (Meaning::V09, Meaning::Current);
    let rows = [
        (old, padded(pair(1, 2)), new, "L13: 'periodic': got True, expected no padding (1, 2) that copies the other end: only 0.9 can say that".to_owned()),
        (old, padded(pair(0, 0)), new, "ok".to_owned()),
        (new, boundary, old, "L13: 'periodic': got True, expected no boundary padding (1, 0) in the array: only 0.10 can say that".to_owned()),
        (new, periodic(&block(4, [0, 1], [0, 4])), old, "ok".to_owned()),
        (old, periodic(&cyclic(4, [0, 2])), new, format!("L13: 'periodic': got True, expected {only_block}")),
        (old, periodic(&unstructured(4, [0, 2], &[])), new, format!("L13: 'periodic': got True, expected {only_block}")),
        (old, beyond, new, "L09: 'start': got -1, expected left padding that starts at 0 or later".to_owned()),
        (old, above, new, "L09: 'stop': got 6, expected right padding that ends at 5 or before".to_owned()),
    ];
    for (from, dim, to, expected) in rows {
        assert_eq!(said(read(&dim, from).write(to, true)), expected);
    }
}
