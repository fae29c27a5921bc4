//! What is sent: partial results, and not the arrays.

use dappled::graph::{Array, Folding, GraphError, Limits, Session};
use dappled_fabric::Threads;
use dappled_kernels::{DType, Extreme, Fold};
use dappled_protocol::slice::Item;

const SIDE: usize = 1024;

fn folding(fold: Fold, axes: &[usize]) -> Folding {
    let dtype = DType::Float64;
    Folding { fold, axes: axes.to_vec(), dtype, initial: fold.identity(dtype), reports: false }
}

type Act = fn(&Array) -> Result<(), GraphError>;

/// What is done with an array in pieces, and how many numbers each rank may send for it.
const TABLE: [(&str, Act, usize); 11] = [
    ("sum", |a| a.fold(&folding(Fold::Add, &[0, 1])).map(drop), SIDE * 300),
    ("product", |a| a.fold(&folding(Fold::Multiply, &[0])).map(drop), 3 * SIDE),
    ("sum of columns", |a| a.fold(&folding(Fold::Add, &[0])).map(drop), 3 * SIDE),
    ("sum of rows", |a| a.fold(&folding(Fold::Add, &[1])).map(drop), SIDE * 300),
    ("maximum", |a| a.fold(&folding(Fold::Maximum, &[0, 1])).map(drop), 100),
    ("maxima of rows", |a| a.fold(&folding(Fold::Maximum, &[1])).map(drop), 3 * SIDE),
    ("of a view", |a| inner(a)?.fold(&folding(Fold::Maximum, &[0, 1])).map(drop), 100),
    ("sum of a view", |a| inner(a)?.fold(&folding(Fold::Add, &[0])).map(drop), 3 * SIDE),
    ("argmax", |a| a.arg_fold(Extreme::Greatest, None).map(drop), 100),
    ("cumsum", |a| a.scan(Fold::Add, 0, DType::Float64, false).map(drop), SIDE),
    ("along rows", |a| a.scan(Fold::Add, 1, DType::Float64, false).map(drop), SIDE),
];

fn inner(array: &Array) -> Result<Array, GraphError> {
    array.part(&[Item::Slice(Some(1), Some(-1), None), Item::Slice(Some(3), None, None)])
}

#[test]
fn partial_results_are_sent() {
    for ranks in [2, 3, 4] {
        Threads::run(ranks, |fabric| {
            let limits = Limits { whole_below: 8 * SIDE * SIDE, at_once: 0 };
            let session = Session::with_limits(Box::new(fabric), limits);
            let shape = [SIDE, SIDE];
            let ones = Array::full(&session, &shape, 1.0);
            let array = ones.redistributed(&session.blocks(&shape)).unwrap();
            for (name, act, most) in TABLE {
                let before = session.fabric().stats().bytes;
                act(&array).unwrap();
                let bytes = (session.fabric().stats().bytes - before) as usize;
                assert!(bytes <= 8 * most, "{name} on {ranks}: {} numbers", bytes / 8);
            }
        });
    }
}
