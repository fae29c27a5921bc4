//! What ranks would do, as text.

use dappled::graph::{Array, Limits, Session};
use dappled::protocol::slice::Item;
use dappled_fabric::Threads;

fn cut(start: i64, stop: Option<i64>) -> Item {
    Item::Slice(Some(start), stop, None)
}

/// The mean of the four neighbours of inner elements of an array of shape (8, 8).
fn mean(session: &Session) -> Array {
    let u = Array::full(session, &[8, 8], 0.0);
    u.part(&[Item::Index(0)]).unwrap().fill(1.0).unwrap();
    let (inner, before, after) = (cut(1, Some(-1)), cut(0, Some(-2)), cut(2, None));
    let part = |rows, columns| u.part(&[rows, columns]).unwrap();
    let sum = part(before, inner).add(&part(after, inner)).unwrap();
    let sum = sum.add(&part(inner, before)).unwrap().add(&part(inner, after)).unwrap();
    sum.divide(4.0).unwrap()
}

#[test]
fn the_laplace_expression_on_four_ranks() {
    let found = Threads::run(4, |fabric| {
        let limits = Limits { whole_below: 0, at_once: 0 };
        mean(&Session::with_limits(Box::new(fabric), limits)).explain().unwrap()
    });
    assert_eq!(found[0], include_str!("explain/laplace_rank_0.txt"));
    assert_eq!(found[3], include_str!("explain/laplace_rank_3.txt"));
}

#[test]
fn the_same_on_one_rank() {
    let found = Threads::run(1, |fabric| {
        let limits = Limits { whole_below: 0, at_once: 0 };
        mean(&Session::with_limits(Box::new(fabric), limits)).explain().unwrap()
    });
    assert_eq!(found[0], include_str!("explain/laplace_alone.txt"));
}

#[test]
fn one_of_many_ranks_that_do_not_run() {
    let session = Session::new(Box::new(dappled_fabric::Solo::default()));
    let small = Array::full(&session, &[8, 8], 1.0);
    let found = [small.explain_on(2048).unwrap(), stencil().explain_on(2048).unwrap()].concat();
    assert_eq!(found, include_str!("explain/many_ranks.txt"));
}

/// Stored arrays of a session of one rank, read by an expression of their inner elements.
fn stencil() -> Array {
    let session = Session::new(Box::new(dappled_fabric::Solo::default()));
    let u = Array::from_slice(&session, &[512, 512], &vec![1.0; 512 * 512]);
    let (inner, before, after) = (cut(1, Some(-1)), cut(0, Some(-2)), cut(2, None));
    let part = |rows, columns| u.part(&[rows, columns]).unwrap();
    let sum = part(before, inner).add(&part(after, inner)).unwrap();
    sum.add(&part(inner, before)).unwrap().add(&part(inner, after)).unwrap()
}

#[test]
fn planning_looks_at_no_more_than_the_neighbours() {
    let expression = stencil();
    let visits = [64, 256, 4096, 65_536].map(|ranks| {
        let before = dappled::protocol::exchange::visited();
        expression.explain_on(ranks).unwrap();
        dappled::protocol::exchange::visited() - before
    });
    assert!(visits.iter().all(|visits| (1..=100).contains(visits)), "{visits:?}");
}
