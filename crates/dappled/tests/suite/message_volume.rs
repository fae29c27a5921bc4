//! Reductions send partial results, not arrays.

use dappled::{Array, GraphError, Limits, ReduceRequest, Session};
use dappled_fabric::Threads;
use dappled_kernels::{ArgReduceOp, DType, ReduceOp};
use dappled_protocol::slice::KeyItem;

const SIDE: usize = 1024;

fn folding(fold: ReduceOp, axes: &[usize]) -> ReduceRequest {
    ReduceRequest::new(fold, axes.to_vec(), DType::Float64)
}

type Act = fn(&Array) -> Result<(), GraphError>;

/// Operations on a distributed array, and the number of elements that each rank may send.
const TABLE: [(&str, Act, usize); 11] = [
    ("sum", |a| a.reduce(&folding(ReduceOp::Add, &[0, 1])).map(drop), SIDE * 300),
    ("product", |a| a.reduce(&folding(ReduceOp::Multiply, &[0])).map(drop), 3 * SIDE),
    ("sum of columns", |a| a.reduce(&folding(ReduceOp::Add, &[0])).map(drop), 3 * SIDE),
    ("sum of rows", |a| a.reduce(&folding(ReduceOp::Add, &[1])).map(drop), SIDE * 300),
    ("maximum", |a| a.reduce(&folding(ReduceOp::Maximum, &[0, 1])).map(drop), 100),
    ("maxima of rows", |a| a.reduce(&folding(ReduceOp::Maximum, &[1])).map(drop), 3 * SIDE),
    ("of a view", |a| inner(a)?.reduce(&folding(ReduceOp::Maximum, &[0, 1])).map(drop), 100),
    ("sum of a view", |a| inner(a)?.reduce(&folding(ReduceOp::Add, &[0])).map(drop), 3 * SIDE),
    ("argmax", |a| a.arg_reduce(ArgReduceOp::ArgMax, None).map(drop), 100),
    ("cumsum", |a| a.scan(ReduceOp::Add, 0, DType::Float64, false).map(drop), SIDE),
    ("along rows", |a| a.scan(ReduceOp::Add, 1, DType::Float64, false).map(drop), SIDE),
];

fn inner(array: &Array) -> Result<Array, GraphError> {
    array.slice(&[KeyItem::Slice(Some(1), Some(-1), None), KeyItem::Slice(Some(3), None, None)])
}

#[test]
fn reductions_send_partial_results() {
    for ranks in [2, 3, 4] {
        Threads::run(ranks, |fabric| {
            let limits = Limits { replicate_below: 8 * SIDE * SIDE, eager_max: 0 };
            let session = Session::with_limits(Box::new(fabric), limits);
            let shape = [SIDE, SIDE];
            let ones = Array::full(&session, &shape, 1.0);
            let array = ones.redistribute(&session.block_distribution(&shape)).unwrap();
            for (name, act, most) in TABLE {
                let before = session.fabric().stats().bytes;
                act(&array).unwrap();
                let bytes = (session.fabric().stats().bytes - before) as usize;
                assert!(bytes <= 8 * most, "{name} on {ranks}: {} numbers", bytes / 8);
            }
        });
    }
}
