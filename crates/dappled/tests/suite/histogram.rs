//! Counts of integers and of values in bins, compared with counts of one process.

use dappled::protocol::Distribution;
use dappled::{Array, Limits, Session};
use dappled_fabric::Threads;

use crate::fft::distributions;
use crate::reference::choices::Choices;

const RANKS: [u64; 5] = [1, 2, 3, 7, 64];

/// Calls `act` on every rank, for each distribution of a shape.
fn on_ranks(shape: &[usize], ranks: u64, act: impl Fn(&Session, Option<&Distribution>) + Sync) {
    let limits = Limits { replicate_below: 0, ..Limits::default() };
    Threads::run(ranks, |fabric| {
        let session = Session::with_limits(Box::new(fabric), limits);
        act(&session, None);
        distributions(shape, ranks).iter().for_each(|each| act(&session, Some(each)));
    });
}

fn place(array: Array, distribution: Option<&Distribution>) -> Array {
    distribution.map_or_else(|| array.clone(), |target| array.redistribute(target).unwrap())
}

#[test]
fn integers_are_counted() {
    let mut choices = Choices(1);
    for ranks in RANKS {
        for (count, highest, min_length) in [(300, 40, 0), (1000, 500, 700), (0, 1, 3), (0, 1, 0)] {
            let values: Vec<i32> = (0..count).map(|_| choices.below(highest) as i32).collect();
            let length = values.iter().max().map_or(0, |&most| most as usize + 1).max(min_length);
            let mut expected = vec![0_i64; length];
            values.iter().for_each(|&value| expected[value as usize] += 1);
            on_ranks(&[count], ranks, |session, distribution| {
                let array = place(Array::from_slice(session, &[count], &values), distribution);
                let counts = array.bincount(None, min_length).unwrap();
                assert_eq!(counts.to_vec::<i64>().unwrap(), expected);
            });
        }
    }
}

#[test]
fn weights_are_added() {
    let mut choices = Choices(2);
    for ranks in RANKS {
        let values: Vec<u8> = (0..500).map(|_| choices.below(50) as u8).collect();
        // Whole numbers, so that every order of addition has the same sum.
        let weights: Vec<f32> = (0..500).map(|_| choices.below(1000) as f32).collect();
        let mut expected = vec![0.0; 1 + usize::from(*values.iter().max().unwrap())];
        values
            .iter()
            .zip(&weights)
            .for_each(|(&at, &weight)| expected[at as usize] += weight as f64);
        on_ranks(&[500], ranks, |session, distribution| {
            let array = place(Array::from_slice(session, &[500], &values), distribution);
            let weights = Array::from_slice(session, &[500], &weights);
            let sums = array.bincount(Some(&weights), 0).unwrap();
            assert_eq!(sums.to_vec::<f64>().unwrap(), expected);
            let weights = place(weights, distribution);
            let sums = array.bincount(Some(&weights), 0).unwrap();
            assert_eq!(sums.to_vec::<f64>().unwrap(), expected);
        });
    }
}

#[test]
fn a_negative_integer_is_an_error_on_every_rank() {
    for ranks in RANKS {
        let mut values = [3_i64; 100];
        values[97] = -1;
        on_ranks(&[100], ranks, |session, distribution| {
            let array = place(Array::from_slice(session, &[100], &values), distribution);
            let error = array.bincount(None, 0).err().unwrap();
            assert_eq!(error.to_string(), "'list' argument must have no negative elements");
        });
    }
}

#[test]
fn values_are_counted_in_bins() {
    let mut choices = Choices(3);
    let edges: Vec<f64> = (0..=20).map(|at| at as f64 / 4.0).collect();
    for ranks in RANKS {
        let values: Vec<f64> = (0..600)
            .map(|_| match choices.below(40) {
                0 => f64::NAN,
                at => (at as f64 - 8.0) / 5.0,
            })
            .collect();
        let inside = |value: f64, at: usize| {
            let is_last = at + 2 == edges.len() && value == edges[at + 1];
            (edges[at] <= value && value < edges[at + 1]) || is_last
        };
        let expected: Vec<i64> = (0..20)
            .map(|at| values.iter().filter(|&&value| inside(value, at)).count() as i64)
            .collect();
        let numbers: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
        let count = numbers.len();
        on_ranks(&[20, 30], ranks, |session, distribution| {
            let array = place(Array::from_slice(session, &[20, 30], &values), distribution);
            let counts = array.histogram_uniform(&edges).unwrap();
            assert_eq!(counts.to_vec::<i64>().unwrap(), expected);
            assert_eq!(array.value_range().unwrap(), None);
        });
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        on_ranks(&[count], ranks, |session, distribution| {
            let array = place(Array::from_slice(session, &[count], &numbers), distribution);
            assert_eq!(array.value_range().unwrap(), Some((least, most)));
        });
        on_ranks(&[0], ranks, |session, distribution| {
            let array = place(Array::from_slice::<f64>(session, &[0], &[]), distribution);
            assert_eq!(array.value_range().unwrap(), None);
        });
    }
}
