//! Ranks that do not do the same are told so, at the first message between them.

use dappled::config::Config;
use dappled::graph::{Array, GraphError, Limits, Session};
use dappled_fabric::{Fabric, Threads};
use dappled_kernels::Variant;

/// Gathers an array over two ranks after each has asked for its own.
fn gathered(ask: fn(&Session, u64) -> Result<Array, GraphError>) -> Vec<Result<(), String>> {
    Threads::run(2, |fabric| {
        let session = Session::with_limits(Box::new(fabric), Limits { whole_below: 0, at_once: 0 });
        let rank = session.fabric().rank();
        let array = ask(&session, rank).map_err(|error| error.to_string())?;
        array.to_vec::<f64>().map(drop).map_err(|error| error.to_string())
    })
}

/// Parts of one sum, each of them in pieces.
fn line(session: &Session, count: usize) -> Array {
    let array = Array::full(session, &[count], 1.0);
    array.fill(2.0).unwrap();
    array
}

#[test]
fn what_ranks_must_agree_on() {
    type Ask = fn(&Session, u64) -> Result<Array, GraphError>;
    let table: [(&str, Ask); 4] = [
        ("the factor", |session, rank| line(session, 8).multiply(rank as f64)),
        ("the operation", |session, rank| match rank {
            0 => line(session, 8).add(1.0),
            _ => line(session, 8).subtract(1.0),
        }),
        ("the shape", |session, rank| line(session, 8 + rank as usize).add(1.0)),
        ("the number of operations", |session, rank| {
            let array = line(session, 8);
            for _ in 0..rank {
                array.gathered()?;
            }
            Ok(array)
        }),
    ];
    for (what, ask) in table {
        assert!(gathered(ask).iter().any(Result::is_err), "{what} may not differ");
    }
    assert!(gathered(|session, _| line(session, 8).multiply(3.0)).iter().all(Result::is_ok));
}

#[test]
fn whole_arrays_alone_are_each_ranks_own_business() {
    let own = |session: &Session, rank: u64| {
        let array = Array::from_slice(session, &[2], &[rank as f64, 1.0]);
        for _ in 0..rank {
            array.gathered()?;
        }
        line(session, 8).add(1.0)
    };
    assert!(gathered(own).iter().all(Result::is_ok));
}

#[test]
fn the_lowest_limits_and_the_oldest_cpu_win() {
    let asked =
        [(1 << 16, 0, Variant::Avx512), (1 << 10, 7, Variant::Plain), (0, 4096, Variant::Avx2)];
    let found = Threads::run(3, |fabric| {
        let (whole_below, at_once, variant) = asked[fabric.rank() as usize];
        let limits = Limits { whole_below, at_once };
        let config = Config { limits, variant: Some(variant), ..Config::default() };
        let session = Session::agreed(Box::new(fabric), &config).unwrap();
        (session.limits().whole_below, session.limits().at_once, Variant::chosen())
    });
    assert_eq!(found, [(0, 0, Variant::Plain); 3]);
    Variant::best().choose();
}
