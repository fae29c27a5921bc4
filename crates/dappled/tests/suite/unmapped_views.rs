//! Reads and writes through views without an axis mapping, without gathering.

use crate::reference::choices::Choices;
use dappled::protocol::slice::KeyItem;
use dappled::view::{diagonal, index_view, reshape_view};
use dappled::{Array, Limits, Session};
use dappled_fabric::Threads;
use dappled_kernels::{DType, View};
use proptest::prelude::*;

const SHAPE: [usize; 3] = [4, 9, 6];
const SIZE: usize = 216;

fn base() -> View {
    View::c_order(DType::Float64, &SHAPE)
}

fn reshaped_base(shape: &[usize]) -> View {
    reshape_view(&base(), shape).expect("in C order any shape is a view")
}

fn sliced(view: &View, items: &[(i64, i64)]) -> View {
    let items = items.iter().map(|&(start, step)| KeyItem::Slice(Some(start), None, Some(step)));
    index_view(view, &items.collect::<Vec<_>>()).expect("inside").view
}

/// Views of all kinds: reshaped, sliced, diagonals, windows, transposed.
fn views() -> Vec<View> {
    let windows = |length: usize, step: isize| View {
        shape: [SIZE / step as usize - length, length][..].into(),
        strides: [8 * step, 8][..].into(),
        ..reshaped_base(&[SIZE])
    };
    vec![
        reshaped_base(&[SIZE]),
        reshaped_base(&[2, 108]),
        reshaped_base(&[108, 2]),
        reshaped_base(&[3, 72]),
        reshaped_base(&[1, 216]),
        reshaped_base(&[24, 9]),
        reshaped_base(&[2, 3, 4, 9]),
        reshaped_base(&[24, 9]).transposed(),
        sliced(&reshaped_base(&[SIZE]), &[(5, 7)]),
        sliced(&reshaped_base(&[SIZE]), &[(-1, -1)]),
        sliced(&reshaped_base(&[24, 9]), &[(20, -3), (1, 2)]),
        sliced(&reshaped_base(&[12, 18]), &[(0, 1), (3, 1)]),
        diagonal(&base(), 1, 1, 2),
        diagonal(&reshaped_base(&[12, 18]), -2, 0, 1),
        windows(3, 1),
        windows(2, 5),
    ]
}

/// The flat indices of the elements, in C order.
fn positions(view: &View) -> Vec<usize> {
    let mut found = vec![view.offset as isize];
    for (&length, &stride) in view.shape.iter().zip(&view.strides) {
        let along = |start: isize| (0..length as isize).map(move |at| start + at * stride);
        found = found.into_iter().flat_map(along).collect();
    }
    found.into_iter().map(|position| position as usize / 8).collect()
}

fn numbers() -> Vec<f64> {
    (0..SIZE).map(|number| number as f64).collect()
}

fn array(session: &Session, seed: u64, ranks: u64) -> Array {
    let array = Array::from_slice(session, &SHAPE, &numbers());
    array.redistribute(&Choices(seed).distribution(&SHAPE, ranks)).unwrap()
}

/// Reads and writes through a view, and compares with one memory.
fn check(session: &Session, seed: u64, ranks: u64, view: &View) -> Result<(), String> {
    let array = array(session, seed, ranks);
    let is_whole = array.is_replicated();
    let before = session.gathered_bytes();
    let seen = array.with_view(view.clone());
    let copy = seen.cast_copy(DType::Float64).map_err(|error| error.to_string())?;
    let positions = positions(view);
    let repeats =
        positions.len() != positions.iter().collect::<std::collections::HashSet<_>>().len();
    if !repeats {
        seen.assign(&copy.add(0.5).unwrap()).map_err(|error| error.to_string())?;
    }
    let gathered = session.gathered_bytes() - before;
    let mut wanted = numbers();
    let read: Vec<f64> = positions.iter().map(|&position| wanted[position]).collect();
    if !repeats {
        positions.iter().for_each(|&position| wanted[position] += 0.5);
    }
    let found = (copy.to_vec::<f64>().unwrap(), array.to_vec::<f64>().unwrap());
    match found == (read, wanted) {
        _ if gathered > 0 && !is_whole => Err(format!("{gathered} bytes gathered")),
        true => Ok(()),
        false => Err(format!("{found:?}")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_and_writes_through_unmapped_views(seed: u64, ranks in crate::reference::pairs::ranks()) {
        for view in views() {
            let results = Threads::run(ranks, |fabric| {
                let limits = Limits { replicate_below: 0, eager_max: 0 };
                check(&Session::with_limits(Box::new(fabric), limits), seed, ranks, &view)
            });
            for result in results {
                prop_assert_eq!(result, Ok(()), "{:?} on {} ranks", view, ranks);
            }
        }
    }

    /// Views with another dtype: halves of floats, and integers.
    #[test]
    fn views_with_other_dtypes(seed: u64, ranks in crate::reference::pairs::ranks()) {
        let halves = |offset: usize| View {
            dtype: DType::Float32, offset, ..reshaped_base(&[24, 9])
        };
        for view in [halves(0), halves(4), View { dtype: DType::Int64, ..base() }] {
            let results = Threads::run(ranks, |fabric| {
                let limits = Limits { replicate_below: 0, eager_max: 0 };
                let session = Session::with_limits(Box::new(fabric), limits);
                let array = array(&session, seed, ranks);
                let (before, is_whole) = (session.gathered_bytes(), array.is_replicated());
                let seen = array.with_view(view.clone());
                let copy = seen.cast_copy(view.dtype).unwrap();
                seen.assign(&copy).unwrap();
                let gathered = session.gathered_bytes() - before;
                (is_whole || gathered == 0, array.to_vec::<f64>().unwrap())
            });
            for (quiet, all) in results {
                prop_assert!(quiet, "gathered");
                prop_assert_eq!(&all, &numbers());
            }
        }
    }
}

#[test]
fn reshaped_copies_are_distributed() {
    for ranks in [1, 2, 3, 4, 7] {
        for shape in [&[SIZE][..], &[2, 108], &[36, 6], &[3, 8, 9]] {
            let found = Threads::run(ranks, |fabric| {
                let limits = Limits { replicate_below: 0, eager_max: 0 };
                let session = Session::with_limits(Box::new(fabric), limits);
                let array = array(&session, ranks, ranks);
                let copy = array.reshaped_copy(shape).unwrap();
                array.fill(-1.0).unwrap();
                assert_eq!(copy.shape(), shape);
                assert_eq!(copy.is_replicated(), ranks == 1);
                copy.to_vec::<f64>().unwrap()
            });
            found.iter().for_each(|found| assert_eq!(found, &numbers(), "{shape:?} on {ranks}"));
        }
    }
}
