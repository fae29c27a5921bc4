//! Padding equals the elements of other ranks, after an update and in every lent piece.

use crate::reference::choices::Choices;
use crate::reference::pairs::ranks;
use dappled::protocol::{Dim, DimKind, Distribution};
use dappled::{Array, Limits, Session};
use dappled_fabric::{Fabric, Threads};
use dappled_kernels::Buffer;
use proptest::prelude::*;

const SHAPES: [&[usize]; 4] = [&[30], &[12, 9], &[8, 8], &[6, 5, 9]];

/// The index along an axis whose value a cell holds.
///
/// Boundary padding of a periodic axis holds the elements of the opposite end.
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

/// The expected cells of a rank's piece: flat indices, negated along one row.
fn expected(distribution: &Distribution, rank: u64, row: Option<i64>) -> Vec<f64> {
    let local = distribution.local_shape(rank);
    let count: u64 = local.iter().product();
    let cell = |mut number: u64| {
        let mut position = vec![0; local.len()];
        for (at, &length) in position.iter_mut().zip(&local).rev() {
            (number, *at) = (number / length, number % length);
        }
        let index = distribution.global(rank, &position).expect("a cell has an index");
        let from = |(axis, &index): (usize, &i64)| source(distribution, axis, index);
        let index: Vec<i64> = index.iter().enumerate().map(from).collect();
        let shape = distribution.shape();
        let number = index.iter().zip(&shape).fold(0, |all, (&at, &len)| all * len as i64 + at);
        if row == Some(index[0]) { -number as f64 } else { number as f64 }
    };
    (0..count).map(cell).collect()
}

fn elements(buffer: &Buffer) -> Vec<f64> {
    buffer.to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn padding_equals_owned_elements(seed: u64, ranks in ranks()) {
        let choices = &mut Choices(seed);
        let shape = choices.of(&SHAPES);
        let distribution = choices.distribution(shape, ranks);
        // The piece of a replicated array is in blocks.
        let in_pieces = distribution.dim_data(0).is_ok();
        prop_assume!(in_pieces);
        let row = choices.below(shape[0]) as i64;
        let found = Threads::run(ranks, |fabric| {
            let rank = fabric.rank();
            let limits = Limits { replicate_below: 0, eager_max: 0 };
            let session = Session::with_limits(Box::new(fabric), limits);
            let count = shape.iter().product::<usize>();
            let numbers: Vec<f64> = (0..count).map(|number| number as f64).collect();
            let array = Array::from_slice(&session, shape, &numbers).redistribute(&distribution);
            let array = array.unwrap();
            let (before, copy) = (array.add(0.0).unwrap(), array.copy().unwrap());
            array.update_padding().unwrap();
            let updated = elements(&array.lend().unwrap().buffer);
            // A later write is visible in the padding of the next lent piece.
            let part = array.slice(&[dappled::protocol::slice::KeyItem::Index(row)]).unwrap();
            part.assign(&part.multiply(-1.0).unwrap()).unwrap();
            let piece = elements(&array.local_piece().unwrap().loan.buffer);
            let kept = [before, copy].map(|array| array.to_vec::<f64>().unwrap());
            (rank, updated, piece, kept == [numbers.clone(), numbers])
        });
        for (rank, updated, piece, kept) in found {
            prop_assert_eq!(updated, expected(&distribution, rank, None), "rank {}", rank);
            prop_assert!(kept, "who was asked before, and copies, have the old values");
            // The negation is not visible in a row that is filled from another one.
            let copied = (0..shape[0] as i64).filter(|&at| source(&distribution, 0, at) == row);
            let row = (source(&distribution, 0, row) == row && copied.count() > 0).then_some(row);
            prop_assert_eq!(piece, expected(&distribution, rank, row), "rank {}", rank);
        }
    }
}
