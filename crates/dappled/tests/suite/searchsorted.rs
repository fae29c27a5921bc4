//! Searches in sorted rows of every distribution, compared with counts of smaller elements.

use dappled::{Array, Limits, Session};
use dappled_fabric::Threads;
use dappled_kernels::DType;

use crate::fft::distributions;
use crate::reference::choices::Choices;

const RANKS: [u64; 5] = [1, 2, 3, 7, 64];

/// NumPy's order: NaN is last.
fn is_less(one: f64, other: f64) -> bool {
    one < other || (other.is_nan() && !one.is_nan())
}

fn check(sorted: &[f64], values: &[f64], shape: &[usize], dtype: DType, ranks: u64) {
    let limits = Limits { replicate_below: 0, ..Limits::default() };
    Threads::run(ranks, |fabric| {
        let session = Session::with_limits(Box::new(fabric), limits);
        let array = |shape: &[usize], values: &[f64]| {
            Array::from_slice(&session, shape, values).cast(dtype).unwrap()
        };
        let (row, asked) = (array(&[sorted.len()], sorted), array(shape, values));
        let mut rows = vec![row.clone()];
        let mut all_asked = vec![asked.clone()];
        for distribution in distributions(&[sorted.len()], ranks) {
            rows.push(row.redistribute(&distribution).unwrap());
        }
        let placed = if shape.is_empty() { Vec::new() } else { distributions(shape, ranks) };
        for distribution in placed {
            all_asked.push(asked.redistribute(&distribution).unwrap());
        }
        for right in [false, true] {
            let expected: Vec<i64> = values
                .iter()
                .map(|&value| {
                    let precedes = |&&element: &&f64| match right {
                        true => !is_less(value, element),
                        false => is_less(element, value),
                    };
                    sorted.iter().filter(precedes).count() as i64
                })
                .collect();
            let check = |row: &Array, asked: &Array| {
                let found = row.searchsorted(asked, right).unwrap();
                assert_eq!(found.shape(), shape);
                assert_eq!(found.to_vec::<i64>().unwrap(), expected, "{dtype:?} {right} {ranks}");
            };
            rows.iter().for_each(|row| check(row, &asked));
            all_asked.iter().for_each(|asked| check(&rows[0], asked));
            rows.iter().zip(&all_asked).for_each(|(row, asked)| check(row, asked));
        }
    });
}

#[test]
fn values_of_every_dtype() {
    let mut choices = Choices(9);
    for ranks in RANKS {
        let mut sorted: Vec<f64> = (0..90).map(|_| choices.below(40) as f64).collect();
        sorted.sort_by(f64::total_cmp);
        let values: Vec<f64> = (0..70).map(|_| choices.below(44) as f64).collect();
        let kinds = [
            DType::Float64,
            DType::Float32,
            DType::Float16,
            DType::Int64,
            DType::UInt32,
            DType::Int8,
            DType::Complex128,
        ];
        for dtype in kinds.into_iter().take(if ranks > 7 { 1 } else { 7 }) {
            check(&sorted, &values, &[70], dtype, ranks);
            check(&sorted, &values, &[7, 10], dtype, ranks);
        }
    }
}

#[test]
fn nans_ties_and_empty_rows() {
    for ranks in RANKS {
        let nan = f64::NAN;
        check(
            &[-0.0, 0.0, 1.0, 1.0, 1.0, nan, nan],
            &[0.0, -0.0, 1.0, nan, 2.0],
            &[5],
            DType::Float64,
            ranks,
        );
        check(&[], &[1.0, 2.0], &[2], DType::Float64, ranks);
        check(&[1.0], &[], &[0], DType::Float64, ranks);
        check(&[2.0; 50], &[2.0; 9], &[9], DType::Int32, ranks);
        check(&[1.0, 2.0], &[2.0], &[], DType::Float64, ranks);
    }
}
