//! Explanations of plans, as text.

use dappled::protocol::Distribution;
use dappled::protocol::slice::KeyItem;
use dappled::{Array, GraphError, Limits, ReduceRequest, Session};
use dappled_fabric::Threads;
use dappled_kernels::{ArgReduceOp, DType, ReduceOp};

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

/// The plans of an operation on a (8, 8) array in blocks of rows: of each rank that runs.
fn plans_on(ranks: u64, run: fn(&Array) -> Result<(), GraphError>) -> String {
    let texts = Threads::run(ranks, |fabric| {
        let limits = Limits { replicate_below: 32, eager_max: 0 };
        let session = Session::with_limits(Box::new(fabric), limits);
        let rows = Distribution::spec(&[8, 8]).dist("bn").nprocs(ranks).build().unwrap();
        let values: Vec<f64> = (0..64).map(f64::from).collect();
        let array = Array::from_slice(&session, &[8, 8], &values).redistribute(&rows).unwrap();
        session.explain(None, || run(&array)).unwrap()
    });
    format!("--- {ranks} ranks\n{}", texts.concat())
}

/// The plans of one rank among more ranks than run.
fn simulated_plans(run: fn(&Array) -> Result<(), GraphError>) -> String {
    let session = Session::new(Box::new(dappled_fabric::Solo::default()));
    let array = Array::from_slice(&session, &[1024, 1024], &vec![1.0; 1 << 20]);
    let plan = |ranks| {
        format!("--- {ranks} ranks\n{}", session.explain(Some(ranks), || run(&array)).unwrap())
    };
    [64, 1024].map(plan).concat()
}

/// Compares the plans with a file; `DAPPLED_WRITE_GOLDEN=1` writes the file.
fn check_plans(name: &str, run: fn(&Array) -> Result<(), GraphError>) {
    let found = [1, 2, 3].map(|ranks| plans_on(ranks, run)).concat() + &simulated_plans(run);
    let path = format!("{}/tests/suite/explain/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("DAPPLED_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(&path).unwrap(), "{path}");
}

fn reduction(fold: ReduceOp, axes: &[usize]) -> ReduceRequest {
    let initial = fold.identity(DType::Float64);
    let axes = axes.to_vec();
    ReduceRequest { fold, axes, dtype: DType::Float64, initial, reports_flags: false }
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
