//! Opaque items and fields: arrays without kernels, and views of some bytes of each element.

use crate::reference::choices::Choices;
use dappled::protocol::Distribution;
use dappled::{Array, Limits, Session};
use dappled_fabric::{Fabric, Threads};
use dappled_kernels::{DType, View};
use proptest::prelude::*;

const SHAPE: [usize; 2] = [7, 9];
/// Bytes of an item: three, then a float, then one.
const ITEM: usize = 12;
const FIELD: usize = 3;
const LIMITS: [Limits; 2] = [
    Limits { replicate_below: 0, eager_max: 0 },
    Limits { replicate_below: 1 << 20, eager_max: 1 << 20 },
];

fn items() -> Vec<u8> {
    (0..SHAPE[0] * SHAPE[1] * ITEM).map(|byte| (byte * 7 % 251) as u8).collect()
}

fn floats(count: usize) -> Vec<f64> {
    (0..count).map(|number| number as f64 - 20.0).collect()
}

/// The float field of a slice of the items.
fn field(array: &Array, choices: &mut Choices) -> Array {
    let bytes = array.view();
    let all = View {
        dtype: DType::Float64,
        offset: bytes.offset + FIELD,
        shape: bytes.shape[..2].into(),
        strides: bytes.strides[..2].into(),
    };
    let all = array.with_view(all);
    let part = all.slice(&choices.items(&SHAPE)).unwrap();
    if choices.one_in(2) {
        part.transposed(&(0..part.shape().len()).rev().collect::<Vec<_>>())
    } else {
        part
    }
}

/// Array and copies after writes to fields, and operations requested before the writes.
fn results_of_writes(
    session: &Session,
    distribution: Option<&Distribution>,
    seed: u64,
) -> Vec<Vec<u8>> {
    let choices = &mut Choices(seed);
    let bytes = [&SHAPE[..], &[ITEM]].concat();
    let values = Array::from_slice(session, &bytes, &items());
    let array = match distribution {
        Some(distribution) => values.redistribute_items(distribution).unwrap(),
        None => values.copy_items().unwrap(),
    };
    let view = field(&array, choices);
    let (before, copy) = (view.add(0.0).unwrap(), array.copy_items().unwrap());
    let new = Array::from_slice(session, view.shape(), &floats(view.view().len()));
    view.assign(&new).unwrap();
    let other = field(&array, choices);
    let doubled = other.multiply(2.0).unwrap();
    other.assign(&doubled).unwrap();
    [&before, &doubled].map(bits).into_iter().chain([&copy, &array].map(raw)).collect()
}

fn bits(array: &Array) -> Vec<u8> {
    array.to_vec::<f64>().unwrap().into_iter().flat_map(f64::to_ne_bytes).collect()
}

fn raw(array: &Array) -> Vec<u8> {
    array.to_vec().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fields_are_read_and_written_in_place(
        seed: u64, ranks in crate::reference::pairs::ranks(), limits in 0usize..2
    ) {
        let distribution = Choices(seed).distribution(&SHAPE, ranks);
        prop_assume!(distribution.dim_data(0).is_ok());
        let run = |ranks, distribution: Option<&Distribution>, limits| {
            Threads::run(ranks, |fabric| {
                assert_eq!(fabric.size(), ranks);
                results_of_writes(&Session::with_limits(Box::new(fabric), limits), distribution, !seed)
            })
        };
        let expected = run(1, None, Limits::default()).remove(0);
        for found in run(ranks, Some(&distribution), LIMITS[limits]) {
            prop_assert_eq!(&found, &expected);
        }
        for found in run(ranks, None, LIMITS[limits]) {
            prop_assert_eq!(&found, &expected);
        }
    }
}
