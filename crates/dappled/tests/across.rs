//! Views that do not follow the axes of arrays in pieces, read and written: the values are those of
//! one memory, and nothing is gathered.

mod numpy;

use dappled::graph::{Array, Limits, Session};
use dappled::protocol::slice::Item;
use dappled::view::{diagonal, indexed, reshaped};
use dappled_fabric::Threads;
use dappled_kernels::{DType, View};
use numpy::dice::Dice;
use proptest::prelude::*;

const SHAPE: [usize; 3] = [4, 9, 6];
const SIZE: usize = 216;

fn base() -> View {
    View::c_order(DType::Float64, &SHAPE)
}

fn wide(shape: &[usize]) -> View {
    reshaped(&base(), shape).expect("in C order any shape is a view")
}

fn cut(view: &View, items: &[(i64, i64)]) -> View {
    let items = items.iter().map(|&(start, step)| Item::Slice(Some(start), None, Some(step)));
    indexed(view, &items.collect::<Vec<_>>()).expect("inside").view
}

/// Views of all kinds: other shapes, parts of them, diagonals, windows, turned ones.
fn views() -> Vec<View> {
    let windows = |length: usize, step: isize| View {
        shape: [SIZE / step as usize - length, length][..].into(),
        strides: [8 * step, 8][..].into(),
        ..wide(&[SIZE])
    };
    vec![
        wide(&[SIZE]),
        wide(&[2, 108]),
        wide(&[108, 2]),
        wide(&[3, 72]),
        wide(&[1, 216]),
        wide(&[24, 9]),
        wide(&[2, 3, 4, 9]),
        wide(&[24, 9]).transposed(),
        cut(&wide(&[SIZE]), &[(5, 7)]),
        cut(&wide(&[SIZE]), &[(-1, -1)]),
        cut(&wide(&[24, 9]), &[(20, -3), (1, 2)]),
        cut(&wide(&[12, 18]), &[(0, 1), (3, 1)]),
        diagonal(&base(), 1, 1, 2),
        diagonal(&wide(&[12, 18]), -2, 0, 1),
        windows(3, 1),
        windows(2, 5),
    ]
}

/// The places of the elements, in C order.
fn places(view: &View) -> Vec<usize> {
    let mut found = vec![view.offset as isize];
    for (&length, &stride) in view.shape.iter().zip(&view.strides) {
        let along = |start: isize| (0..length as isize).map(move |at| start + at * stride);
        found = found.into_iter().flat_map(along).collect();
    }
    found.into_iter().map(|place| place as usize / 8).collect()
}

fn numbers() -> Vec<f64> {
    (0..SIZE).map(|number| number as f64).collect()
}

fn array(session: &Session, seed: u64, ranks: u64) -> Array {
    let array = Array::from_slice(session, &SHAPE, &numbers());
    array.redistributed(&Dice(seed).distribution(&SHAPE, ranks)).unwrap()
}

/// All reading and writing in one world.
fn check(session: &Session, seed: u64, ranks: u64, view: &View) -> Result<(), String> {
    let array = array(session, seed, ranks);
    let is_whole = array.is_whole();
    let before = session.gathered_bytes();
    let seen = array.with_view(view.clone());
    let copy = seen.cast_copy(DType::Float64).map_err(|error| error.to_string())?;
    let places = places(view);
    let repeats = places.len() != places.iter().collect::<std::collections::HashSet<_>>().len();
    if !repeats {
        seen.assign(&copy.add(0.5).unwrap()).map_err(|error| error.to_string())?;
    }
    let gathered = session.gathered_bytes() - before;
    let mut wanted = numbers();
    let read: Vec<f64> = places.iter().map(|&place| wanted[place]).collect();
    if !repeats {
        places.iter().for_each(|&place| wanted[place] += 0.5);
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
    fn views_across_the_axes(seed: u64, ranks in numpy::twins::ranks()) {
        for view in views() {
            let results = Threads::run(ranks, |fabric| {
                let limits = Limits { whole_below: 0, at_once: 0 };
                check(&Session::with_limits(Box::new(fabric), limits), seed, ranks, &view)
            });
            for result in results {
                prop_assert_eq!(result, Ok(()), "{:?} on {} ranks", view, ranks);
            }
        }
    }

    /// The same memory as other elements: halves of complex numbers, bytes.
    #[test]
    fn elements_of_other_dtypes(seed: u64, ranks in numpy::twins::ranks()) {
        let halves = |offset: usize| View {
            dtype: DType::Float32, offset, ..wide(&[24, 9])
        };
        for view in [halves(0), halves(4), View { dtype: DType::Int64, ..base() }] {
            let results = Threads::run(ranks, |fabric| {
                let limits = Limits { whole_below: 0, at_once: 0 };
                let session = Session::with_limits(Box::new(fabric), limits);
                let array = array(&session, seed, ranks);
                let (before, is_whole) = (session.gathered_bytes(), array.is_whole());
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
fn copies_in_another_shape_are_in_pieces_of_their_own() {
    for ranks in [1, 2, 3, 4, 7] {
        for shape in [&[SIZE][..], &[2, 108], &[36, 6], &[3, 8, 9]] {
            let found = Threads::run(ranks, |fabric| {
                let limits = Limits { whole_below: 0, at_once: 0 };
                let session = Session::with_limits(Box::new(fabric), limits);
                let array = array(&session, ranks, ranks);
                let copy = array.copied_in_shape(shape).unwrap();
                array.fill(-1.0).unwrap();
                assert_eq!(copy.shape(), shape);
                assert_eq!(copy.is_whole(), ranks == 1);
                copy.to_vec::<f64>().unwrap()
            });
            found.iter().for_each(|found| assert_eq!(found, &numbers(), "{shape:?} on {ranks}"));
        }
    }
}
