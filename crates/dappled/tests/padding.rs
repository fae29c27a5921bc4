//! Padding is a copy of what others own: after an update, and in every piece that is handed out.

mod numpy;

use dappled::graph::{Array, Limits, Session};
use dappled::protocol::{Dim, DimKind, Distribution};
use dappled_fabric::{Fabric, Threads};
use dappled_kernels::Buffer;
use numpy::dice::Dice;
use numpy::twins::ranks;
use proptest::prelude::*;

const SHAPES: [&[usize]; 4] = [&[30], &[12, 9], &[8, 8], &[6, 5, 9]];

/// Along one axis the index whose value belongs at an index: of a periodic axis, what lies in the
/// padding of a boundary comes from the other end of what lies between.
fn source(distribution: &Distribution, axis: usize, index: i64) -> i64 {
    let last = distribution.grid_shape().iter().map(|ranks| ranks - 1).collect::<Vec<_>>();
    let end = |coords: &[u64]| -> Dim {
        distribution.dim_data(distribution.rank(coords)).unwrap().swap_remove(axis)
    };
    let (first, last) = (end(&vec![0; last.len()]), end(&last));
    let (DimKind::Block { padding: (left, _), .. }, DimKind::Block { padding: (_, right), .. }) =
        (&first.kind, &last.kind)
    else {
        return index;
    };
    let (left, right) = (*left as i64, *right as i64);
    let between = distribution.shape()[axis] as i64 - left - right;
    match first.periodic && between > 0 {
        true => (index - left).rem_euclid(between) + left,
        false => index,
    }
}

/// What every cell of a rank's piece should be, if elements are their numbers in C order, and minus
/// that along one row.
fn wanted(distribution: &Distribution, rank: u64, row: Option<i64>) -> Vec<f64> {
    let local = distribution.local_shape(rank);
    let count: u64 = local.iter().product();
    let cell = |mut number: u64| {
        let mut place = vec![0; local.len()];
        for (at, &length) in place.iter_mut().zip(&local).rev() {
            (number, *at) = (number / length, number % length);
        }
        let index = distribution.global(rank, &place).expect("a cell has an index");
        let from = |(axis, &index): (usize, &i64)| source(distribution, axis, index);
        let index: Vec<i64> = index.iter().enumerate().map(from).collect();
        let shape = distribution.shape();
        let number = index.iter().zip(&shape).fold(0, |all, (&at, &len)| all * len as i64 + at);
        if row == Some(index[0]) { -number as f64 } else { number as f64 }
    };
    (0..count).map(cell).collect()
}

fn held(buffer: &Buffer) -> Vec<f64> {
    buffer.to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_cell_is_the_element_of_its_index(seed: u64, ranks in ranks()) {
        let dice = &mut Dice(seed);
        let shape = dice.of(&SHAPES);
        let distribution = dice.distribution(shape, ranks);
        // A whole array is in blocks from then on.
        let in_pieces = distribution.dim_data(0).is_ok();
        prop_assume!(in_pieces);
        let row = dice.below(shape[0]) as i64;
        let found = Threads::run(ranks, |fabric| {
            let rank = fabric.rank();
            let limits = Limits { whole_below: 0, at_once: 0 };
            let session = Session::with_limits(Box::new(fabric), limits);
            let count = shape.iter().product::<usize>();
            let numbers: Vec<f64> = (0..count).map(|number| number as f64).collect();
            let array = Array::from_slice(&session, shape, &numbers).redistributed(&distribution);
            let array = array.unwrap();
            let (before, copy) = (array.add(0.0).unwrap(), array.copied().unwrap());
            array.update_padding().unwrap();
            let updated = held(&array.lend().unwrap().buffer);
            // A write after it is seen in the padding of the next piece that is handed out.
            let part = array.part(&[dappled::protocol::slice::Item::Index(row)]).unwrap();
            part.assign(&part.multiply(-1.0).unwrap()).unwrap();
            let piece = held(&array.piece().unwrap().loan.buffer);
            let kept = [before, copy].map(|array| array.to_vec::<f64>().unwrap());
            (rank, updated, piece, kept == [numbers.clone(), numbers])
        });
        for (rank, updated, piece, kept) in found {
            prop_assert_eq!(updated, wanted(&distribution, rank, None), "rank {}", rank);
            prop_assert!(kept, "who was asked before, and copies, have the old values");
            // A row that is itself filled from elsewhere is as before; one that is copied is not.
            let copied = (0..shape[0] as i64).filter(|&at| source(&distribution, 0, at) == row);
            let row = (source(&distribution, 0, row) == row && copied.count() > 0).then_some(row);
            prop_assert_eq!(piece, wanted(&distribution, rank, row), "rank {}", rank);
        }
    }
}
