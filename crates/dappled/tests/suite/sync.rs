//! `Session::sync` evaluates pending arrays, although ranks hold different ones.

use dappled::{Array, Limits, Session};
use dappled_fabric::Threads;

const RANKS: [u64; 5] = [1, 2, 3, 4, 7];

/// All arrays are distributed, and no operation is eager.
const LAZY: Limits = Limits { replicate_below: 0, eager_max: 0 };

/// Ranks hold different arrays, as if garbage were collected at different times.
///
/// Arrays that all ranks hold are evaluated, others stay pending, and no rank hangs.
#[test]
fn sync_evaluates_arrays_alive_on_all_ranks() {
    for ranks in RANKS {
        let found = Threads::run(ranks, |fabric| {
            let rank = dappled_fabric::Fabric::rank(&fabric);
            let session = Session::with_limits(Box::new(fabric), LAZY);
            let a = Array::from_slice(&session, &[30], &[2.0; 30]);
            let spread = a.redistribute(&session.block_distribution(&[30])).unwrap();
            let mut held: Vec<(u64, Array)> =
                (0..100).map(|number| (number, spread.multiply(number as f64).unwrap())).collect();
            held.retain(|(number, _)| number % 5 != rank || number.is_multiple_of(3));
            session.sync().unwrap();
            let state = |array: &Array| array.explain().unwrap().contains("stored");
            let stored: Vec<u64> =
                held.iter().filter(|(_, array)| state(array)).map(|(number, _)| *number).collect();
            let values: Vec<f64> = held
                .iter()
                .filter(|(number, _)| number.is_multiple_of(3))
                .map(|(_, array)| array.to_vec::<f64>().unwrap()[7])
                .collect();
            session.sync().unwrap();
            (stored, values)
        });
        let everywhere = |number: &u64| number.is_multiple_of(3) || number % 5 >= ranks;
        let expected: Vec<u64> = (0..100).filter(everywhere).collect();
        let values: Vec<f64> = (0..100).step_by(3).map(|number| 2.0 * number as f64).collect();
        for found in found {
            assert_eq!(found, (expected.clone(), values.clone()), "on {ranks}");
        }
    }
}
