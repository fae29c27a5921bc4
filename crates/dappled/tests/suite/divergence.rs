//! Ranks that diverge raise an error at the next message.

use dappled::{Array, GraphError, Limits, Session};
use dappled_fabric::Threads;

/// Gathers an array over two ranks, which each rank requests with its own function.
fn gather_on_two_ranks(
    request: fn(&Session, u64) -> Result<Array, GraphError>,
) -> Vec<Result<(), String>> {
    Threads::run(2, |fabric| {
        let session =
            Session::with_limits(Box::new(fabric), Limits { replicate_below: 0, eager_max: 0 });
        let rank = session.fabric().rank();
        let array = request(&session, rank).map_err(|error| error.to_string())?;
        array.to_vec::<f64>().map(drop).map_err(|error| error.to_string())
    })
}

/// A distributed array of twos.
fn distributed_line(session: &Session, count: usize) -> Array {
    let array = Array::full(session, &[count], 1.0);
    array.fill(2.0).unwrap();
    array
}

#[test]
fn differing_operations_raise() {
    type Request = fn(&Session, u64) -> Result<Array, GraphError>;
    let table: [(&str, Request); 4] = [
        ("the factor", |session, rank| distributed_line(session, 8).multiply(rank as f64)),
        ("the operation", |session, rank| match rank {
            0 => distributed_line(session, 8).add(1.0),
            _ => distributed_line(session, 8).subtract(1.0),
        }),
        ("the shape", |session, rank| distributed_line(session, 8 + rank as usize).add(1.0)),
        ("the number of operations", |session, rank| {
            let array = distributed_line(session, 8);
            for _ in 0..rank {
                array.gather()?;
            }
            Ok(array)
        }),
    ];
    for (what, request) in table {
        assert!(gather_on_two_ranks(request).iter().any(Result::is_err), "{what} may not differ");
    }
    assert!(
        gather_on_two_ranks(|session, _| distributed_line(session, 8).multiply(3.0))
            .iter()
            .all(Result::is_ok)
    );
}

#[test]
fn operations_on_replicated_arrays_may_differ() {
    let own = |session: &Session, rank: u64| {
        let array = Array::from_slice(session, &[2], &[rank as f64, 1.0]);
        for _ in 0..rank {
            array.gather()?;
        }
        distributed_line(session, 8).add(1.0)
    };
    assert!(gather_on_two_ranks(own).iter().all(Result::is_ok));
}
