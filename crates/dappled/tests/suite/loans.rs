//! Loans of memory to foreign code: requests before a write keep the old values, later ones see the
//! new.

use crate::reference::choices::Choices;
use dappled::protocol::slice::KeyItem;
use dappled::{Array, Limits, Session};
use dappled_fabric::{Fabric, Solo, Threads};
use dappled_kernels::element::typed_mut;
use dappled_kernels::{Buffer, DType, View};
use proptest::prelude::*;

const LIMITS: [Limits; 2] = [
    Limits { replicate_below: 0, eager_max: 0 },
    Limits { replicate_below: 0, eager_max: 1 << 20 },
];

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|number| number as f64).collect()
}

/// Writes an element of lent memory, as foreign code does.
fn write_element(memory: &Buffer, at: usize, value: f64) {
    typed_mut::<f64>(&mut memory.write().unwrap())[at] = value;
}

#[test]
fn writes_to_lent_memory_are_shared() {
    for limits in LIMITS {
        let session = Session::with_limits(Box::new(Solo::default()), limits);
        let array = Array::from_slice(&session, &[6], &numbers(6));
        let (pending, copy) = (array.add(10.0).unwrap(), array.copy().unwrap());
        let loan = array.lend().unwrap();
        write_element(&loan.buffer, 0, -1.0);
        // A request before the loan keeps the old value; one after it sees the first write and not
        // the second.
        let after = array.add(10.0).unwrap();
        write_element(&loan.buffer, 1, -2.0);
        assert_eq!(pending.to_vec::<f64>().unwrap(), [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]);
        assert_eq!(after.to_vec::<f64>().unwrap(), [9.0, 11.0, 12.0, 13.0, 14.0, 15.0]);
        assert_eq!(copy.to_vec::<f64>().unwrap(), numbers(6));
        assert_eq!(array.to_vec::<f64>().unwrap(), [-1.0, -2.0, 2.0, 3.0, 4.0, 5.0]);
        // Writes through the array are visible in the lent memory, also if they read the written
        // elements.
        let slice = |start, stop| array.slice(&[KeyItem::Slice(start, stop, None)]).unwrap();
        slice(Some(1), None).assign(&slice(None, Some(-1))).unwrap();
        assert_eq!(loan.buffer.to_vec::<f64>(), [-1.0, -1.0, -2.0, 2.0, 3.0, 4.0]);
        // So are writes after a copy.
        let second = array.copy().unwrap();
        array.fill(7.0).unwrap();
        assert_eq!(loan.buffer.to_vec::<f64>(), [7.0; 6]);
        assert_eq!(second.to_vec::<f64>().unwrap(), [-1.0, -1.0, -2.0, 2.0, 3.0, 4.0]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Foreign pieces of any memory order, read and written by both sides.
    #[test]
    fn foreign_pieces(seed: u64, ranks in crate::reference::pairs::ranks(), limits in 0usize..2) {
        let shape = [7, 9];
        let distribution = Choices(seed).distribution(&shape, ranks);
        prop_assume!(distribution.dim_data(0).is_ok());
        let backwards = Choices(!seed).one_in(2);
        let results = Threads::run(ranks, |fabric| {
            let rank = fabric.rank();
            let session = Session::with_limits(Box::new(fabric), LIMITS[limits]);
            let local: Vec<usize> =
                distribution.local_shape(rank).iter().map(|&length| length as usize).collect();
            let count = local.iter().product::<usize>();
            let memory = Buffer::from_slice(&vec![1.0; 2 * count]);
            // Every second element, with axes in C or F order.
            let turned: Vec<usize> = local.iter().rev().copied().collect();
            let wide = if backwards { View::c_order(DType::Float64, &turned).transposed() }
                else { View::c_order(DType::Float64, &local) };
            let view = View { strides: wide.strides.iter().map(|stride| stride * 2).collect(), ..wide };
            let owner = Array::from_piece(&session, distribution.clone(), memory.clone(), view);
            let owner = owner.unwrap();
            owner.assign(&Array::from_slice(&session, &shape, &numbers(63))).unwrap();
            let requested = owner.multiply(2.0).unwrap();
            let flipped = owner.slice(&[KeyItem::Slice(None, None, Some(-1))]).unwrap();
            owner.assign(&flipped).unwrap();
            let gaps: Vec<f64> = memory.to_vec::<f64>().into_iter().skip(1).step_by(2).collect();
            let sum: f64 = gaps.iter().sum();
            (requested.to_vec::<f64>().unwrap(), owner.to_vec::<f64>().unwrap(), sum == count as f64)
        });
        let doubled: Vec<f64> = numbers(63).iter().map(|number| number * 2.0).collect();
        let flipped: Vec<f64> = numbers(63).chunks(9).rev().flatten().copied().collect();
        for (requested, owner, gaps) in results {
            prop_assert_eq!(&requested, &doubled);
            prop_assert_eq!(&owner, &flipped);
            prop_assert!(gaps, "what lies between the elements is not touched");
        }
    }

    /// Lent pieces, written by the borrower and wrapped as an array again.
    #[test]
    fn lent_pieces(seed: u64, ranks in crate::reference::pairs::ranks(), limits in 0usize..2) {
        let shape = [7, 9];
        let distribution = Choices(seed).distribution(&shape, ranks);
        let results = Threads::run(ranks, |fabric| {
            let session = Session::with_limits(Box::new(fabric), LIMITS[limits]);
            let array = Array::from_slice(&session, &shape, &numbers(63));
            let array = array.redistribute(&distribution).unwrap();
            let (pending, copy) = (array.add(0.5).unwrap(), array.copy().unwrap());
            let before = array.to_vec::<f64>().unwrap();
            let piece = array.local_piece().unwrap();
            {
                let mut memory = piece.loan.buffer.write().unwrap();
                typed_mut::<f64>(&mut memory).iter_mut().for_each(|value| *value = -*value);
            }
            let own = array.distribution().unwrap();
            let memory = piece.loan.buffer.clone();
            let again = Array::from_piece(&session, own, memory, piece.view.clone()).unwrap();
            let sum = array.add(&again).unwrap();
            let all = [before, pending.to_vec().unwrap(), copy.to_vec().unwrap()];
            (all, array.to_vec::<f64>().unwrap(), sum.to_vec::<f64>().unwrap())
        });
        // Lending a piece updates the periodic padding.
        let is_periodic = distribution.axes().iter().any(|axis| axis.dim(0).is_ok_and(|dim| dim.periodic));
        let halves: Vec<f64> = numbers(63).iter().map(|number| number + 0.5).collect();
        let negated: Vec<f64> = numbers(63).iter().map(|number| -number).collect();
        for (before, array, sum) in results {
            prop_assert_eq!(before, [numbers(63), halves.clone(), numbers(63)]);
            let doubled: Vec<f64> = array.iter().map(|number| number * 2.0).collect();
            prop_assert_eq!(sum, doubled);
            prop_assert!(is_periodic || array == negated, "{:?}", array);
        }
    }
}
