//! Tests of the solo and thread fabrics: conformance, and every kind of failure.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dappled_fabric::conformance::{check_divergence, check_fabric};
use dappled_fabric::{Fabric, FabricConfig, FabricError, OperationLabel, Solo, Tag, Threads};

fn tag() -> Tag {
    Tag::new(1, "test.rs:1")
}

#[test]
fn solo_conforms() {
    check_fabric(&Solo::default());
}

#[test]
fn threads_conform() {
    for ranks in [1, 2, 3, 4, 7] {
        Threads::run(ranks, |fabric| check_fabric(&fabric));
    }
}

#[test]
fn divergence_is_detected() {
    for ranks in [2, 3, 4, 7] {
        let errors = Threads::run(ranks, |fabric| check_divergence(&fabric));
        let expected = "ranks diverged at operation 1:\n  rank 0: then\n  rank 1: else";
        assert!(errors.iter().all(|error| error.to_string() == expected), "{errors:?}");
    }
}

#[test]
fn different_collectives_never_match() {
    let errors = Threads::run(2, |fabric| match fabric.rank() {
        0 => fabric.barrier(tag()).err(),
        _ => fabric.allgather(tag(), vec![]).err(),
    });
    assert!(errors.iter().any(|error| matches!(error, Some(FabricError::Diverged { .. }))));
}

#[test]
fn a_length_mismatch_is_an_error() {
    let results = Threads::run(2, |fabric| match fabric.rank() {
        0 => fabric.exchange(tag(), vec![(1, vec![0; 9])], vec![]),
        _ => fabric.exchange(tag(), vec![], vec![(0, 8)]),
    });
    let error = results[1].clone().unwrap_err();
    let lengths = (8, 9);
    let FabricError::LengthMismatch { rank: 1, peer: 0, expected_bytes, received_bytes, .. } =
        error
    else {
        panic!("{error}")
    };
    assert_eq!((expected_bytes, received_bytes), lengths);
}

#[test]
fn the_first_error_is_final() {
    let errors = Threads::run(2, |fabric| match fabric.rank() {
        0 => [None, None],
        _ => [fabric.barrier(tag()).err(), fabric.barrier(tag()).err()],
    });
    assert!(errors[1][0].is_some() && errors[1][0] == errors[1][1]);
}

#[test]
fn waiting_for_a_rank_that_left_is_an_error() {
    let results = Threads::run(3, |fabric| match fabric.rank() {
        1 => fabric.exchange(tag(), vec![(2, vec![5])], vec![]),
        // A message sent before leaving arrives; a message never sent is an error.
        2 => fabric.exchange(tag(), vec![], vec![(1, 1)]).and_then(|received| {
            assert_eq!(received, [[5]]);
            fabric.exchange(tag(), vec![], vec![(1, 1)])
        }),
        _ => fabric.exchange(tag(), vec![], vec![(1, 1)]),
    });
    assert!(matches!(results[0], Err(FabricError::Left { rank: 1, waiting: 0, .. })));
    let text = results[2].as_ref().unwrap_err().to_string();
    let expected = "ranks diverged: rank 1 left, but rank 2 is in operation 0: test.rs:1";
    assert_eq!(text, expected);
}

/// A cycle of waiting ranks: no message reveals it, but the queries do.
#[test]
fn a_cycle_of_waiting_ranks_is_detected() {
    let errors = Threads::run(3, |fabric| {
        let (rank, size) = (fabric.rank(), fabric.size());
        let tag = fabric.log_operation(rank, [0; 8], OperationLabel::new(&format!("place {rank}")));
        fabric.exchange(tag, vec![], vec![((rank + 1) % size, 1)]).unwrap_err().to_string()
    });
    let expected = "ranks diverged at operation 1:\n  rank 0: place 0\n  rank 1: place 1";
    assert_eq!(errors, [expected; 3]);
}

#[test]
fn stats_count_messages_to_other_ranks() {
    let stats = Threads::run(3, |fabric| {
        let rank = fabric.rank();
        let sends = (0..3).map(|to| (to, vec![0; 10])).collect();
        let receives = (0..3).map(|from| (from, 10)).collect();
        fabric.exchange(tag(), sends, receives).unwrap();
        (rank, fabric.stats())
    });
    assert!(stats.iter().all(|(_, stats)| (stats.messages, stats.bytes) == (2, 20)));
}

#[test]
#[should_panic(expected = "rank 2: out of luck")]
fn the_first_panic_is_propagated_with_its_rank() {
    Threads::run(4, |fabric| match fabric.rank() {
        2 => panic!("out of luck"),
        _ => fabric.barrier(tag()).unwrap(),
    });
}

#[test]
fn a_stall_is_reported_once() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let listener = reports.clone();
    let settings = FabricConfig {
        stall_timeout: Duration::from_millis(50),
        report: Arc::new(move |text| listener.lock().unwrap().push(text.to_string())),
        ..FabricConfig::default()
    };
    let ranks = Threads::with_config(2, &settings);
    Threads::run_on(ranks, |fabric| match fabric.rank() {
        0 => fabric.exchange(tag(), vec![], vec![(1, 3)]).map(drop),
        _ => {
            std::thread::sleep(Duration::from_millis(300));
            fabric.exchange(tag(), vec![(0, vec![1, 2, 3])], vec![]).map(drop)
        }
    });
    let expected = "dappled: rank 0 has waited 0 s for rank 1 in operation 0: test.rs:1";
    assert_eq!(*reports.lock().unwrap(), [expected]);
}
