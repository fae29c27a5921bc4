//! Explanations of plans, as text.

use dappled::protocol::Distribution;
use dappled::protocol::slice::KeyItem;
use dappled::view::IndexItem;
use dappled::{Array, FftKind, FftStep, GraphError, IndexKey, Limits, ReduceRequest, Session};
use dappled_fabric::Threads;
use dappled_fft::Direction;
use dappled_kernels::{ArgReduceOp, Bool, DType, ReduceOp};

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

/// An operation on an array of which the plans are explained.
type Act = fn(&Array) -> Result<(), GraphError>;

/// The plans of each rank for an operation on an array of 64 elements in blocks of rows.
fn plans_on(ranks: u64, shape: &[u64], act: Act) -> String {
    let texts = Threads::run(ranks, |fabric| {
        let limits = Limits { replicate_below: 32, eager_max: 0 };
        let session = Session::with_limits(Box::new(fabric), limits);
        let kinds = format!("b{}", "n".repeat(shape.len() - 1));
        let rows = Distribution::spec(shape).dist(&kinds).nprocs(ranks).build().unwrap();
        let values: Vec<f64> = (0..64).map(f64::from).collect();
        let lengths: Vec<usize> = shape.iter().map(|&length| length as usize).collect();
        let array = Array::from_slice(&session, &lengths, &values).redistribute(&rows).unwrap();
        session.explain(None, || act(&array)).unwrap()
    });
    format!("--- {ranks} ranks\n{}", texts.concat())
}

/// The plans of one rank among more ranks than run.
fn simulated_plans(shape: &[usize], act: Act) -> String {
    let session = Session::new(Box::new(dappled_fabric::Solo::default()));
    let array = Array::from_slice(&session, shape, &vec![1.0; 1 << 20]);
    let plan = |ranks| {
        format!("--- {ranks} ranks\n{}", session.explain(Some(ranks), || act(&array)).unwrap())
    };
    [64, 1024].map(plan).concat()
}

/// Compares the plans with a file; `DAPPLED_WRITE_GOLDEN=1` writes the file.
fn check_plans(name: &str, act: Act) {
    check_plans_of(name, (&[8, 8], &[1024, 1024]), act);
}

/// Compares the plans of an operation on one axis with a file.
fn check_plans_of_row(name: &str, act: Act) {
    check_plans_of(name, (&[64], &[1 << 20]), act);
}

fn check_plans_of(name: &str, (small, large): (&[u64], &[usize]), act: Act) {
    let small = [1, 2, 3].map(|ranks| plans_on(ranks, small, act)).concat();
    compare(name, &(small + &simulated_plans(large, act)));
}

/// Compares the plans of the ranks that run with a file.
fn check_running_plans(name: &str, act: Act) {
    compare(name, &[1, 2, 3].map(|ranks| plans_on(ranks, &[8, 8], act)).concat());
}

fn compare(name: &str, found: &str) {
    let path = format!("{}/tests/suite/explain/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("DAPPLED_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(&path).unwrap(), "{path}");
}

fn reduction(fold: ReduceOp, axes: &[usize]) -> ReduceRequest {
    ReduceRequest::new(fold, axes.to_vec(), DType::Float64)
}

#[test]
fn sums() {
    check_plans("sum_of_all", |a| a.reduce(&reduction(ReduceOp::Add, &[0, 1])).map(drop));
    check_plans("sum_of_columns", |a| a.reduce(&reduction(ReduceOp::Add, &[0])).map(drop));
    check_plans("sum_of_rows", |a| a.reduce(&reduction(ReduceOp::Add, &[1])).map(drop));
}

#[test]
fn maxima() {
    check_plans("maximum", |a| a.reduce(&reduction(ReduceOp::Maximum, &[0, 1])).map(drop));
    check_plans("maxima_of_columns", |a| a.reduce(&reduction(ReduceOp::Maximum, &[0])).map(drop));
}

#[test]
fn scans() {
    check_plans("cumsum_of_columns", |a| a.scan(ReduceOp::Add, 0, DType::Float64, false).map(drop));
    check_plans("cumsum_of_rows", |a| a.scan(ReduceOp::Add, 1, DType::Float64, false).map(drop));
}

#[test]
fn searches() {
    check_plans("argmax", |a| a.arg_reduce(ArgReduceOp::ArgMax, None).map(drop));
    check_plans("argmax_of_columns", |a| a.arg_reduce(ArgReduceOp::ArgMax, Some(0)).map(drop));
}

/// Every third element.
fn every_third(array: &Array) -> Result<Array, GraphError> {
    let selected: Vec<Bool> = (0..array.shape()[0]).map(|at| Bool((at % 3 == 0).into())).collect();
    array.select(&Array::from_slice(array.session(), array.shape(), &selected))
}

#[test]
fn masks() {
    check_plans_of_row("mask", |a| every_third(a).map(drop));
    check_plans_of_row("sum_of_selected", |a| {
        every_third(a)?.reduce(&reduction(ReduceOp::Add, &[0])).map(drop)
    });
    check_plans_of_row("maximum_of_selected", |a| {
        every_third(a)?.reduce(&reduction(ReduceOp::Maximum, &[0])).map(drop)
    });
}

#[test]
fn index_arrays() {
    fn key(a: &Array) -> IndexKey {
        let rows = Array::from_slice(a.session(), &[6], &[5i64, -1, 3, 3, 0, 7]);
        IndexKey::new(vec![IndexItem::Indices(rows)])
    }
    check_plans("take", |a| a.index(&key(a)).map(drop));
    check_plans("put", |a| {
        a.assign_index(&key(a), &Array::full(a.session(), &[6, a.shape()[1]], 1.0))
    });
}

#[test]
fn redistributions() {
    check_running_plans("redistribution", |a| {
        let shape = a.shape().iter().map(|&length| length as u64).collect::<Vec<_>>();
        let columns = Distribution::spec(&shape).dist("nb").nprocs(a.session().fabric().size());
        a.redistribute(&columns.build().unwrap())?.to_vec::<f64>().map(drop)
    });
    check_running_plans("reshape", |a| a.reshaped_copy(&[4, 16])?.to_vec::<f64>().map(drop));
}

#[test]
fn transforms() {
    check_running_plans("transform", |a| {
        let step = FftStep {
            axis: 0,
            length: 8,
            kind: FftKind::Complex,
            direction: Direction::Forward,
            scale: 1.0,
        };
        a.fft(&[step], None, false).map(drop)
    });
}
