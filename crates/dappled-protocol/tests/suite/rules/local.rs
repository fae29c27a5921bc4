//! L01 to L18: each row is an input, and "ok" or the complete message.

use dappled_protocol::{Dict, Export, Meaning, Value};

use super::{
    Changes, block, buffer, changed, cyclic, empty, export, int, labels, pair, said, text,
    undistributed, unstructured, verdict, with,
};

#[test]
fn the_export() {
    let good = export("0.10.0", &[10], &[empty()]);
    let keys = "exactly the keys __version__, buffer, dim_data";
    let versions = "a string major.minor.patch, one of 0.9.x, 0.10.x or later 0.x, 1.x";
    let rows: [(&str, Option<Value>, String); 18] = [
        ("buffer", None, format!("L01: 'buffer': missing, expected {keys}")),
        ("__version__", None, format!("L01: '__version__': missing, expected {keys}")),
        ("dim_data", None, format!("L01: 'dim_data': missing, expected {keys}")),
        ("extra", Some(int(3)), format!("L01: 'extra': got 3, expected {keys}")),
        ("__version__", Some(text("0.10.7")), "ok".into()),
        ("__version__", Some(text("0.11.0")), "ok".into()),
        ("__version__", Some(text("1.0.0")), "ok".into()),
        ("__version__", Some(text("2.0.0")), format!("L02: '__version__': got '2.0.0', expected {versions}")),
        ("__version__", Some(text("0.8.0")), format!("L02: '__version__': got '0.8.0', expected {versions}")),
        ("__version__", Some(text("0.10")), format!("L02: '__version__': got '0.10', expected {versions}")),
        ("__version__", Some(text("0.10.0b1")), format!("L02: '__version__': got '0.10.0b1', expected {versions}")),
        ("__version__", Some(int(1)), format!("L02: '__version__': got 1, expected {versions}")),
        ("buffer", Some(Value::Other("a list (TypeError: no buffer)".into())), "L03: 'buffer': got a list (TypeError: no buffer), expected an object that supports PEP 3118".into()),
        ("dim_data", Some(empty()), "L04: 'dim_data': got {}, expected a tuple of dicts".into()),
        ("dim_data", Some(Value::List(vec![])), "L04: 'dim_data': got a tuple of 0, expected 1, one for each dimension".into()),
        ("buffer", Some(buffer(&[], "d", 8)), "L04: 'dim_data': got a tuple of 1, expected 0, one for each dimension".into()),
        ("dim_data", Some(Value::List(vec![int(5)])), "L04: dimension 0, 'dim_data': got 5, expected a dict".into()),
        ("__version__", Some(text("0.9.0")), "L06: dimension 0, 'dist_type': missing, expected 'b', 'c', 'u' or 'n': {} is not 0.9".into()),
    ];
    assert_eq!(said(Export::read(&good)), "ok");
    for (key, value, expected) in rows {
        assert_eq!(said(Export::read(&changed(&good, &[(key, value)]))), expected);
    }
}

#[test]
fn the_export_as_a_dict() {
    let keys = "exactly the keys __version__, buffer, dim_data";
    assert_eq!(said(Export::read(&int(3))), format!("L01: got 3, expected a dict with {keys}"));
    let Value::Dict(Dict { entries, .. }) = export("0.10.0", &[], &[]) else { unreachable!() };
    assert_eq!(
        said(Export::read(&Value::Dict(Dict { entries: entries.clone(), ..Dict::default() }))),
        "ok"
    );
    let strange = Value::Dict(Dict { entries, non_text_keys: vec!["7".into()] });
    assert_eq!(said(Export::read(&strange)), format!("L01: got the key 7, expected {keys}"));
}

#[test]
fn dictionaries_alone() {
    let dims = Value::List(vec![empty(), empty()]);
    let read = |shape: Option<&[u64]>| said(Export::from_dim_data(&dims, shape, Meaning::Current));
    assert_eq!(read(Some(&[2, 3])), "ok");
    let expected = "L04: 'dim_data': got a tuple of 2, expected 1, one for each dimension";
    assert_eq!(read(Some(&[2])), expected);
    assert_eq!(read(None), "L05: dimension 0: expected an extent, to know the size of {}");
}

#[test]
fn the_first_failing_rule_is_named() {
    // Dimensions are checked in order, rules by id within one; L04 checks all dimensions first.
    let bad = changed(&block(10, [0, 1], [0, 10]), &[("size", Some(text("x"))), ("start", None)]);
    let worse = with(&bad, "dist_type", int(0));
    let read = |dims: &[Value]| said(Export::read(&export("0.10.0", &[10, 10], dims)));
    let size = "'size': got 'x', expected an int, 0 <= size < 2**63";
    assert_eq!(read(&[bad.clone(), worse]), format!("L07: dimension 0, {size}"));
    assert_eq!(read(&[empty(), bad.clone()]), format!("L07: dimension 1, {size}"));
    assert_eq!(read(&[bad, int(1)]), "L04: dimension 1, 'dim_data': got 1, expected a dict");
}

/// Applies each change alone; the message is the part after `dimension 0`.
fn check(meaning: Meaning, extent: Option<u64>, good: &Value, rows: &[(Changes<'_>, &str)]) {
    assert_eq!(verdict(meaning, extent, good), "ok");
    for (changes, expected) in rows {
        let found = verdict(meaning, extent, &changed(good, changes));
        assert_eq!(found.replace(": dimension 0, ", " "), *expected, "{changes:?}");
    }
}

#[test]
fn every_dimension() {
    let types = "'b', 'c' or 'u' ('n' in 0.9 only)";
    check(
        Meaning::Current,
        Some(5),
        &block(10, [1, 2], [5, 10]),
        &[
            (&[("unknown", Some(empty()))], "ok"),
            (&[("block_size", Some(text("ignored"))), ("indices", Some(int(1)))], "ok"),
            (&[("dist_type", None)], &format!("L06 'dist_type': missing, expected {types}")),
            (
                &[("dist_type", Some(text("n")))],
                &format!("L06 'dist_type': got 'n', expected {types}"),
            ),
            (
                &[("dist_type", Some(Value::Bool(true)))],
                &format!("L06 'dist_type': got True, expected {types}"),
            ),
            (&[("size", None)], "L07 'size': missing, expected an int, 0 <= size < 2**63"),
            (&[("size", Some(int(-1)))], "L07 'size': got -1, expected an int, 0 <= size < 2**63"),
            (
                &[("size", Some(Value::Bool(true)))],
                "L07 'size': got True, expected an int, 0 <= size < 2**63",
            ),
            (
                &[("size", Some(int(1 << 63)))],
                "L07 'size': got 9223372036854775808, expected an int, 0 <= size < 2**63",
            ),
            (
                &[("size", Some(Value::Other("10.0".into())))],
                "L07 'size': got 10.0, expected an int, 0 <= size < 2**63",
            ),
            (
                &[("proc_grid_size", None)],
                "L08 'proc_grid_size': missing, expected an int, 1 <= proc_grid_size < 2**63",
            ),
            (
                &[("proc_grid_size", Some(int(0)))],
                "L08 'proc_grid_size': got 0, expected an int, 1 <= proc_grid_size < 2**63",
            ),
            (
                &[("proc_grid_rank", None)],
                "L08 'proc_grid_rank': missing, expected an int, 0 <= proc_grid_rank <= 1",
            ),
            (
                &[("proc_grid_rank", Some(int(2)))],
                "L08 'proc_grid_rank': got 2, expected an int, 0 <= proc_grid_rank <= 1",
            ),
            (
                &[("proc_grid_rank", Some(int(-1)))],
                "L08 'proc_grid_rank': got -1, expected an int, 0 <= proc_grid_rank <= 1",
            ),
        ],
    );
    assert_eq!(verdict(Meaning::Current, Some(3), &empty()), "ok");
}

#[test]
fn block_dimensions() {
    check(
        Meaning::Current,
        Some(5),
        &block(10, [1, 2], [5, 10]),
        &[
            (&[("start", None)], "L09 'start': missing, expected an int, 0 <= start <= 10"),
            (&[("start", Some(int(11)))], "L09 'start': got 11, expected an int, 0 <= start <= 10"),
            (&[("start", Some(int(-1)))], "L09 'start': got -1, expected an int, 0 <= start <= 10"),
            (&[("stop", None)], "L09 'stop': missing, expected an int, 5 <= stop <= 10"),
            (&[("stop", Some(int(4)))], "L09 'stop': got 4, expected an int, 5 <= stop <= 10"),
            (
                &[("stop", Some(int(1 << 100)))],
                "L09 'stop': got 1267650600228229401496703205376, expected an int, 5 <= stop <= 10",
            ),
            (&[("proc_grid_rank", Some(int(0)))], "L10 'start': got 5, expected 0 on grid rank 0"),
            (
                &[("stop", Some(int(9)))],
                "L10 'stop': got 9, expected the size 10 on the last grid rank",
            ),
            (
                &[("proc_grid_size", Some(int(3))), ("stop", Some(int(8)))],
                "L11 'stop': got 8, expected start 5 + extent 5 = 10",
            ),
            (&[("start", Some(int(4)))], "L11 'stop': got 10, expected start 4 + extent 5 = 9"),
            (&[("padding", Some(pair(2, 3)))], "ok"),
            (&[("padding", Some(labels(&[2, 3])))], "ok"),
            (
                &[("padding", Some(pair(2, 4)))],
                "L12 'padding': got (2, 4), expected two ints >= 0, together not more than the extent 5",
            ),
            (
                &[("padding", Some(pair(-1, 0)))],
                "L12 'padding': got (-1, 0), expected two ints >= 0, together not more than the extent 5",
            ),
            (
                &[("padding", Some(int(1)))],
                "L12 'padding': got 1, expected two ints >= 0, together not more than the extent 5",
            ),
            (
                &[("padding", Some(labels(&[0, 0, 0])))],
                "L12 'padding': got [0, 0, 0], expected two ints >= 0, together not more than the extent 5",
            ),
            (&[("periodic", Some(Value::Bool(true)))], "ok"),
            (&[("periodic", Some(int(1)))], "L13 'periodic': got 1, expected a bool"),
        ],
    );
    // An empty rank, and an extent known only from the dictionary.
    assert_eq!(verdict(Meaning::Current, Some(0), &block(10, [1, 3], [5, 5])), "ok");
    let alone = with(&block(10, [0, 1], [0, 10]), "padding", pair(8, 9));
    let expected = "L12: dimension 0, 'padding': got (8, 9), expected two ints >= 0, together not more than the extent 10";
    assert_eq!(verdict(Meaning::Current, None, &alone), expected);
}

#[test]
fn block_dimensions_of_0_9() {
    let huge = int(i64::MAX.into());
    check(
        Meaning::V09,
        Some(7),
        &with(&block(10, [1, 3], [3, 6]), "padding", pair(2, 2)),
        &[
            (
                &[("padding", None)],
                "L11 'stop': got 6, expected start 3 + extent 7 - communication padding 0 = 10",
            ),
            (
                &[("padding", Some(pair(2, 1)))],
                "L11 'stop': got 6, expected start 3 + extent 7 - communication padding 3 = 7",
            ),
            (
                &[("padding", Some(pair(9, 9)))],
                "L11 'stop': got 6, expected start 3 + extent 7 - communication padding 18 = -8",
            ),
            (
                &[("padding", Some(text("x")))],
                "L12 'padding': got 'x', expected two ints >= 0, together not more than the extent 7",
            ),
            (&[("periodic", Some(Value::Bool(true)))], "ok"),
            (&[("periodic", Some(text("x")))], "L13 'periodic': got 'x', expected a bool"),
        ],
    );
    // At the ends of the array: boundary padding is inside, periodic padding outside.
    check(
        Meaning::V09,
        Some(4),
        &with(&block(10, [0, 3], [0, 3]), "padding", pair(3, 1)),
        &[
            (
                &[("padding", Some(pair(4, 1)))],
                "L12 'padding': got (4, 1), expected two ints >= 0, together not more than the extent 4",
            ),
            (
                &[("periodic", Some(Value::Bool(true)))],
                "L11 'stop': got 3, expected start 0 + extent 4 - communication padding 4 = 0",
            ),
            (&[("periodic", Some(Value::Bool(true))), ("padding", Some(pair(1, 0)))], "ok"),
        ],
    );
    check(
        Meaning::V09,
        None,
        &with(&block(10, [1, 3], [3, 6]), "padding", pair(5, 5)),
        &[
            (
                &[("padding", Some(pair(1, -1)))],
                "L12 'padding': got (1, -1), expected two ints >= 0",
            ),
            (
                &[("padding", Some(Value::List(vec![huge.clone(), huge])))],
                "L12 'padding': got (9223372036854775807, 9223372036854775807), expected two ints >= 0, for an extent < 2**63",
            ),
        ],
    );
}

#[test]
fn undistributed_dimensions_of_0_9() {
    check(
        Meaning::V09,
        Some(10),
        &undistributed(10),
        &[
            (&[("proc_grid_size", Some(text("ignored"))), ("start", Some(int(-7)))], "ok"),
            (
                &[("size", Some(int(9)))],
                "L11 'size': got 9, expected extent 10 - communication padding 0 = 10",
            ),
            (&[("padding", Some(pair(5, 5)))], "ok"),
            (
                &[("padding", Some(pair(5, 6)))],
                "L12 'padding': got (5, 6), expected two ints >= 0, together not more than the extent 10",
            ),
            (
                &[("padding", Some(pair(1, 1))), ("periodic", Some(Value::Bool(true)))],
                "L11 'size': got 10, expected extent 10 - communication padding 2 = 8",
            ),
            (
                &[
                    ("padding", Some(pair(1, 1))),
                    ("periodic", Some(Value::Bool(true))),
                    ("size", Some(int(8))),
                ],
                "ok",
            ),
            (&[("periodic", Some(int(0)))], "L13 'periodic': got 0, expected a bool"),
        ],
    );
}

#[test]
fn cyclic_dimensions() {
    let only_block = "no such key: only a block dimension is periodic (any in 0.9)";
    check(
        Meaning::Current,
        Some(3),
        &cyclic(7, [1, 2]),
        &[
            (&[("padding", Some(text("ignored")))], "ok"),
            (
                &[("periodic", Some(Value::Bool(false)))],
                &format!("L13 'periodic': got False, expected {only_block}"),
            ),
            (
                &[("periodic", Some(int(1)))],
                &format!("L13 'periodic': got 1, expected {only_block}"),
            ),
            (
                &[("block_size", Some(int(0)))],
                "L14 'block_size': got 0, expected an int, 1 <= block_size < 2**63",
            ),
            (
                &[("block_size", Some(Value::Bool(true)))],
                "L14 'block_size': got True, expected an int, 1 <= block_size < 2**63",
            ),
            (&[("block_size", None)], "L15 'start': got 2, expected rank 1 * block_size 1 = 1"),
            (&[("block_size", None), ("start", Some(int(1)))], "ok"),
            (&[("start", Some(int(7)))], "L15 'start': got 7, expected rank 1 * block_size 2 = 2"),
            (&[("start", None)], "L15 'start': missing, expected rank 1 * block_size 2 = 2"),
            (
                &[("start", Some(Value::Bool(true)))],
                "L15 'start': got True, expected rank 1 * block_size 2 = 2",
            ),
            (
                &[("block_size", Some(int(9)))],
                "L15 'start': got 2, expected rank 1 * block_size 9 = 9, or the size 7",
            ),
            (
                &[("size", Some(int(8)))],
                "L16 'buffer': got the extent 3, expected 4, what rank 1 of 2 owns of 8 in blocks of 2",
            ),
        ],
    );
    check(
        Meaning::Current,
        Some(0),
        &cyclic(3, [2, 3]),
        &[
            (&[("start", Some(int(3)))], "ok"),
            (
                &[("start", Some(int(2)))],
                "L15 'start': got 2, expected rank 2 * block_size 2 = 4, or the size 3",
            ),
        ],
    );
    let periodic = [("periodic", Some(Value::Bool(true)))];
    assert_eq!(verdict(Meaning::V09, Some(3), &changed(&cyclic(7, [1, 2]), &periodic)), "ok");
}

#[test]
fn unstructured_dimensions() {
    let ints = "a 1-D buffer or sequence of ints";
    check(
        Meaning::Current,
        Some(3),
        &unstructured(9, [0, 2], &[-4, 100, 0]),
        &[
            (
                &[("periodic", Some(Value::Bool(true)))],
                "L13 'periodic': got True, expected no such key: only a block dimension is periodic (any in 0.9)",
            ),
            (&[("indices", Some(Value::List(vec![int(3), int(1), int(2)])))], "ok"),
            (&[("indices", None)], &format!("L17 'indices': missing, expected {ints}")),
            (
                &[("indices", Some(text("abc")))],
                &format!("L17 'indices': got 'abc', expected {ints}"),
            ),
            (
                &[("indices", Some(Value::List(vec![int(3), Value::Bool(true)])))],
                &format!("L17 'indices': got (3, True), expected {ints}"),
            ),
            (
                &[("indices", Some(Value::List(vec![int(1 << 63)])))],
                &format!("L17 'indices': got (9223372036854775808), expected {ints}"),
            ),
            (
                &[("indices", Some(buffer(&[3], "d", 8)))],
                &format!(
                    "L17 'indices': got a buffer of shape [3] and format 'd', expected {ints}"
                ),
            ),
            (
                &[("indices", Some(buffer(&[0, 3], "q", 8)))],
                &format!(
                    "L17 'indices': got a buffer of shape [0, 3] and format 'q', expected {ints}"
                ),
            ),
            (
                &[("indices", Some(labels(&[1, 2, 1])))],
                "L17 'indices': got [1, 2, 1], expected each index once, not 1 again",
            ),
            (
                &[("indices", Some(labels(&[1, 2])))],
                "L17 'indices': got [1, 2], expected as many as the extent 3, not 2",
            ),
            (
                &[("size", Some(int(0)))],
                "L17 'indices': got [-4, 100, 0], expected none, for the size is 0",
            ),
            (&[("one_to_one", None)], "ok"),
            (&[("one_to_one", Some(int(1)))], "L18 'one_to_one': got 1, expected a bool"),
        ],
    );
    for none in [labels(&[]), Value::List(vec![]), buffer(&[0], "d", 8)] {
        let dim = with(&unstructured(0, [0, 2], &[]), "indices", none);
        assert_eq!(verdict(Meaning::Current, Some(0), &dim), "ok");
    }
    assert_eq!(verdict(Meaning::Current, None, &unstructured(9, [0, 2], &[5])), "ok");
}
