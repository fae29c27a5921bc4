//! Explanations of plans, as text.

use dappled::protocol::slice::KeyItem;
use dappled::{Array, Limits, Session};
use dappled_fabric::Threads;

fn slice(start: i64, stop: Option<i64>) -> KeyItem {
    KeyItem::Slice(Some(start), stop, None)
}

/// The mean of the four neighbours of the inner elements of an array of shape (8, 8).
fn mean(session: &Session) -> Array {
    let u = Array::full(session, &[8, 8], 0.0);
    u.slice(&[KeyItem::Index(0)]).unwrap().fill(1.0).unwrap();
    let (inner, before, after) = (slice(1, Some(-1)), slice(0, Some(-2)), slice(2, None));
    let part = |rows, columns| u.slice(&[rows, columns]).unwrap();
    let sum = part(before, inner).add(&part(after, inner)).unwrap();
    let sum = sum.add(&part(inner, before)).unwrap().add(&part(inner, after)).unwrap();
    sum.divide(4.0).unwrap()
}

#[test]
fn laplace_on_four_ranks() {
    let found = Threads::run(4, |fabric| {
        let limits = Limits { replicate_below: 0, eager_max: 0 };
        mean(&Session::with_limits(Box::new(fabric), limits)).explain().unwrap()
    });
    assert_eq!(found[0], include_str!("explain/laplace_rank_0.txt"));
    assert_eq!(found[3], include_str!("explain/laplace_rank_3.txt"));
}

#[test]
fn laplace_on_one_rank() {
    let found = Threads::run(1, |fabric| {
        let limits = Limits { replicate_below: 0, eager_max: 0 };
        mean(&Session::with_limits(Box::new(fabric), limits)).explain().unwrap()
    });
    assert_eq!(found[0], include_str!("explain/laplace_alone.txt"));
}

#[test]
fn simulated_ranks() {
    let session = Session::new(Box::new(dappled_fabric::Solo::default()));
    let small = Array::full(&session, &[8, 8], 1.0);
    let found = [small.explain_on(2048).unwrap(), stencil().explain_on(2048).unwrap()].concat();
    assert_eq!(found, include_str!("explain/many_ranks.txt"));
}

/// A stencil over a stored array, on one rank.
fn stencil() -> Array {
    let session = Session::new(Box::new(dappled_fabric::Solo::default()));
    let u = Array::from_slice(&session, &[512, 512], &vec![1.0; 512 * 512]);
    let (inner, before, after) = (slice(1, Some(-1)), slice(0, Some(-2)), slice(2, None));
    let part = |rows, columns| u.slice(&[rows, columns]).unwrap();
    let sum = part(before, inner).add(&part(after, inner)).unwrap();
    sum.add(&part(inner, before)).unwrap().add(&part(inner, after)).unwrap()
}

#[test]
fn planning_visits_neighbours_only() {
    let expression = stencil();
    let visits = [64, 256, 4096, 65_536].map(|ranks| {
        let before = dappled::protocol::exchange::visited_runs();
        expression.explain_on(ranks).unwrap();
        dappled::protocol::exchange::visited_runs() - before
    });
    assert!(visits.iter().all(|visits| (1..=100).contains(visits)), "{visits:?}");
}
