//! Properties of arbitrary input: no panics, and written dimensions are read back.

use dappled_protocol::export::check_all;
use dappled_protocol::{Buffer, Dict, Dim, DimKind, Export, Meaning, Value};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;

use super::with;

const KEYS: [&str; 15] = [
    "__version__",
    "buffer",
    "dim_data",
    "dist_type",
    "size",
    "proc_grid_size",
    "proc_grid_rank",
    "start",
    "stop",
    "padding",
    "periodic",
    "block_size",
    "indices",
    "one_to_one",
    "other",
];

const TEXTS: [&str; 9] = ["", "b", "c", "u", "n", "0.9.0", "0.10.0", "1.0.0", "9.9.9.9"];

fn number() -> impl Strategy<Value = i128> {
    let edge = select(vec![0, 1, 1 << 62, i64::MAX.into(), u64::MAX.into(), i128::MAX, i128::MIN]);
    prop_oneof![4 => -2..10i128, 1 => edge, 1 => any::<i128>()]
}

fn extent() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..6u64, 1 => any::<u64>()]
}

fn any_buffer() -> impl Strategy<Value = Value> {
    (vec(extent(), 0..3), "[a-zA-Z<>=@:{}0-9]{0,4}", any::<u64>())
        .prop_map(|(shape, format, itemsize)| Value::Buffer(Buffer { shape, format, itemsize }))
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Int),
        select(&TEXTS[..]).prop_map(Value::from),
        (number(), number())
            .prop_map(|(left, right)| Value::List(vec![Value::Int(left), Value::Int(right)])),
        vec(-2..5i64, 0..4).prop_map(|labels| Value::Labels(labels.into())),
        ".{0,3}".prop_map(Value::Other),
        any_buffer(),
    ]
}

/// Arbitrary trees of values, with keys known to the rules.
fn any_value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 40, 12, |inner| {
        let keys = btree_map(select(&KEYS[..]).prop_map(str::to_owned), inner.clone(), 0..12);
        let non_text = vec("[0-9]", 0..2);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::List),
            (keys, non_text).prop_map(|(entries, non_text_keys)| {
                Value::Dict(Dict { entries, non_text_keys })
            }),
        ]
    })
}

fn meaning() -> impl Strategy<Value = Meaning> {
    select(vec![Meaning::Current, Meaning::V09])
}

/// A size and a grid coordinate.
fn place() -> impl Strategy<Value = (u64, u64, u64)> {
    (0..40u64, 1..5u64).prop_flat_map(|(size, grid)| (Just(size), Just(grid), 0..grid))
}

/// A block that the version can express: outer ranks reach the ends of the array, and padding
/// between start and stop is inside the array.
fn any_block(meaning: Meaning) -> impl Strategy<Value = Dim> {
    let numbers = (any::<[u64; 4]>(), any::<bool>(), any::<bool>());
    (place(), numbers).prop_map(move |((size, grid_size, grid_rank), numbers)| {
        let ([a, b, left, right], periodic, whole) = numbers;
        let (first, last) = (grid_rank == 0, grid_rank + 1 == grid_size);
        let start = if first { 0 } else { a % (size + 1) };
        let stop = if last { size } else { start + b % (size - start + 1) };
        let wraps = periodic && meaning == Meaning::V09;
        let bound = |end: bool, room: u64| if end && !wraps { stop - start } else { room };
        let left = left % (bound(first, if wraps { 5 } else { start }) + 1);
        let right = right % (bound(last, if wraps { 5 } else { size - stop }) + 1);
        // A single piece may have padding at both boundaries, but the two must not overlap.
        let right = if first && last && !wraps { right.min(stop - start - left) } else { right };
        let undistributed = whole && grid_size == 1 && meaning == Meaning::V09;
        let padding = (left, right);
        let kind = DimKind::Block { owned: start..stop, padding, wraps, undistributed };
        Dim { size, grid_size, grid_rank, periodic, kind }
    })
}

fn any_dim(meaning: Meaning) -> impl Strategy<Value = Dim> {
    let periodic = any::<bool>().prop_map(move |periodic| periodic && meaning == Meaning::V09);
    let cyclic = (1..6u64).prop_map(|block_size| DimKind::Cyclic { block_size });
    let indices = btree_set(-9..50i64, 0..9).prop_map(Vec::from_iter).prop_shuffle();
    let unstructured = (indices, any::<bool>()).prop_map(|(indices, one_to_one)| {
        DimKind::Unstructured { indices: indices.into(), one_to_one }
    });
    let kinds = prop_oneof![cyclic, unstructured];
    let others =
        (place(), periodic, kinds).prop_map(|((size, grid_size, grid_rank), periodic, kind)| {
            let labels = matches!(kind, DimKind::Unstructured { .. });
            let size = if labels { size + 1 } else { size };
            Dim { size, grid_size, grid_rank, periodic, kind }
        });
    prop_oneof![any_block(meaning), others]
}

fn any_legal() -> impl Strategy<Value = (Meaning, Dim)> {
    meaning().prop_flat_map(|meaning| (Just(meaning), any_dim(meaning)))
}

/// Calls every method of a dimension.
fn use_dim(dim: &Dim, global: i64, local: u64) -> Result<(), TestCaseError> {
    prop_assert!(dim.owned() <= dim.extent());
    if let Some(index) = dim.global_index(local) {
        let place = dim.local_index(index);
        prop_assert_eq!(place.and_then(|place| dim.global_index(place)), Some(index));
    }
    if let Some(place) = dim.local_index(global) {
        prop_assert_eq!(dim.global_index(place), Some(global));
    }
    for meaning in [Meaning::Current, Meaning::V09] {
        if let Ok(entries) = dim.write(meaning, true) {
            let again = Dim::read(&Value::dict(entries), Some(dim.extent()), meaning);
            prop_assert_eq!(again.map(|again| again.owned()), Ok(dim.owned()));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_value_is_read_or_refused(value in any_value(), shape in vec(extent(), 0..3)) {
        for meaning in [Meaning::Current, Meaning::V09] {
            for shape in [None, Some(&shape[..])] {
                if let Ok(export) = Export::from_dim_data(&value, shape, meaning) {
                    let _ = check_all(&[export.clone(), export]);
                }
            }
        }
        match Export::read(&value) {
            Ok(export) => { let _ = check_all(&[export]); }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn any_dictionary_is_read_or_refused(
        (meaning, dim) in any_legal(),
        changes in vec((select(&KEYS[..]), leaf()), 0..3),
        known in proptest::option::of(extent()),
        (global, local) in (any::<i64>(), any::<u64>()),
    ) {
        let mut dict = Value::dict(dim.write(meaning, true).unwrap());
        for (key, value) in changes {
            dict = with(&dict, key, value);
        }
        for extent in [None, known, Some(dim.extent())] {
            match Dim::read(&dict, extent, meaning) {
                Ok(read) => {
                    prop_assert!(extent.is_none_or(|extent| extent == read.extent()));
                    use_dim(&read, global, local)?;
                    use_dim(&read, global % 50, local % 20)?;
                }
                Err(error) => prop_assert!(error.rule.id >= "L05"),
            }
        }
    }

    #[test]
    fn what_is_written_is_read_again((meaning, dim) in any_legal(), padded in any::<bool>()) {
        let written = Value::dict(dim.write(meaning, padded).unwrap());
        for extent in [None, Some(dim.extent())] {
            prop_assert_eq!(Dim::read(&written, extent, meaning), Ok(dim.clone()));
        }
    }

    #[test]
    fn any_set_is_judged(dims in vec(any_legal(), 0..5), rank in any::<bool>()) {
        let exports = dims.into_iter().filter_map(|(meaning, dim)| {
            let dim = Dim { grid_rank: if rank { dim.grid_rank } else { 0 }, ..dim };
            let written = Value::List(vec![Value::dict(dim.write(meaning, true).ok()?)]);
            Export::from_dim_data(&written, None, meaning).ok()
        });
        let _ = check_all(&exports.collect::<Vec<_>>());
    }
}
