//! Convolutions of rows of every distribution, compared with the definition.

use dappled::{Array, ConvolveMode, Limits, Session};
use dappled_fabric::Threads;
use dappled_kernels::DType;

use crate::fft::distributions;
use crate::reference::choices::Choices;

fn check(long: usize, short: usize, dtype: DType, mode: ConvolveMode, ranks: u64) {
    let mut choices = Choices(4);
    let mut row = |count| (0..count).map(|_| choices.below(9) as f64).collect::<Vec<f64>>();
    let (first, second) = (row(long), row(short));
    let mut full = vec![0.0; long + short - 1];
    for (at, value) in first.iter().enumerate() {
        for (shift, factor) in second.iter().enumerate() {
            full[at + shift] += value * factor;
        }
    }
    let (most, least) = (long.max(short), long.min(short));
    let expected = match mode {
        ConvolveMode::Full => &full[..],
        ConvolveMode::Same => &full[(least - 1) / 2..][..most],
        ConvolveMode::Valid => &full[least - 1..most],
    };
    let limits = Limits { replicate_below: 0, ..Limits::default() };
    Threads::run(ranks, |fabric| {
        let session = Session::with_limits(Box::new(fabric), limits);
        let array = |values: &[f64]| {
            Array::from_slice(&session, &[values.len()], values).cast(dtype).unwrap()
        };
        let (first, second) = (array(&first), array(&second));
        let mut rows = vec![first.clone()];
        for distribution in distributions(&[long], ranks) {
            rows.push(first.redistribute(&distribution).unwrap());
        }
        for row in rows {
            let found = row.convolve(&second, mode).unwrap();
            assert_eq!(found.dtype(), dtype);
            let found = found.cast(DType::Float64).unwrap().to_vec::<f64>().unwrap();
            assert_eq!(found, expected, "{long} {short} {dtype:?} {mode:?} on {ranks} ranks");
        }
    });
}

#[test]
fn rows_of_every_length() {
    for ranks in [1, 2, 3, 7, 64] {
        for (long, short) in [(40, 1), (40, 5), (40, 39), (9, 9), (3, 40), (1, 1)] {
            for mode in [ConvolveMode::Full, ConvolveMode::Same, ConvolveMode::Valid] {
                check(long, short, DType::Float64, mode, ranks);
            }
        }
        for dtype in [DType::Int16, DType::Float32, DType::Complex64] {
            check(100, 7, dtype, ConvolveMode::Same, ranks);
        }
    }
}

#[test]
fn an_empty_row_is_an_error() {
    Threads::run(2, |fabric| {
        let session = Session::new(Box::new(fabric));
        let empty = Array::from_slice::<f64>(&session, &[0], &[]);
        let row = Array::from_slice(&session, &[2], &[1.0, 2.0]);
        assert!(row.convolve(&empty, ConvolveMode::Full).is_err());
    });
}
