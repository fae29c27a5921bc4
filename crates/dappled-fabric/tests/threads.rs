//! Solo and Threads: the suite, and every way of not going well.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dappled_fabric::suite::{divergence_suite, fabric_suite};
use dappled_fabric::{Fabric, FabricError, Place, Settings, Solo, Tag, Threads};

fn tag() -> Tag {
    Tag::new(1, "test.rs:1")
}

#[test]
fn solo_passes_the_suite() {
    fabric_suite(&Solo::default());
}

#[test]
fn threads_pass_the_suite() {
    for ranks in [1, 2, 3, 4, 7] {
        Threads::run(ranks, |fabric| fabric_suite(&fabric));
    }
}

#[test]
fn threads_that_diverge_are_told_so() {
    for ranks in [2, 3, 4, 7] {
        let errors = Threads::run(ranks, |fabric| divergence_suite(&fabric));
        let right = "ranks diverged at operation 1:\n  rank 0: then\n  rank 1: else";
        assert!(errors.iter().all(|error| error.to_string() == right), "{errors:?}");
    }
}

#[test]
fn a_collective_never_matches_another() {
    let errors = Threads::run(2, |fabric| match fabric.rank() {
        0 => fabric.barrier(tag()).err(),
        _ => fabric.gather_all(tag(), vec![]).err(),
    });
    assert!(errors.iter().any(|error| matches!(error, Some(FabricError::Diverged { .. }))));
}

#[test]
fn another_length_is_an_error() {
    let results = Threads::run(2, |fabric| match fabric.rank() {
        0 => fabric.exchange(tag(), vec![(1, vec![0; 9])], vec![]),
        _ => fabric.exchange(tag(), vec![], vec![(0, 8)]),
    });
    let error = results[1].clone().unwrap_err();
    let lengths = (8, 9);
    let FabricError::Length { rank: 1, peer: 0, awaited_bytes, found_bytes, .. } = error else {
        panic!("{error}")
    };
    assert_eq!((awaited_bytes, found_bytes), lengths);
}

#[test]
fn the_first_error_is_the_last() {
    let errors = Threads::run(2, |fabric| match fabric.rank() {
        0 => [None, None],
        _ => [fabric.barrier(tag()).err(), fabric.barrier(tag()).err()],
    });
    assert!(errors[1][0].is_some() && errors[1][0] == errors[1][1]);
}

#[test]
fn who_waits_for_a_rank_that_left_is_told_so() {
    let results = Threads::run(3, |fabric| match fabric.rank() {
        1 => fabric.exchange(tag(), vec![(2, vec![5])], vec![]),
        // What was sent before leaving arrives; what was not is an error.
        2 => fabric.exchange(tag(), vec![], vec![(1, 1)]).and_then(|received| {
            assert_eq!(received, [[5]]);
            fabric.exchange(tag(), vec![], vec![(1, 1)])
        }),
        _ => fabric.exchange(tag(), vec![], vec![(1, 1)]),
    });
    assert!(matches!(results[0], Err(FabricError::Left { rank: 1, waiting: 0, .. })));
    let text = results[2].as_ref().unwrap_err().to_string();
    let right = "ranks diverged: rank 1 left, but rank 2 is in operation 0: test.rs:1";
    assert_eq!(text, right);
}

/// Each waits for one that waits for another: no message says so, but asking does.
#[test]
fn ranks_that_wait_in_a_circle_find_out() {
    let errors = Threads::run(3, |fabric| {
        let (rank, size) = (fabric.rank(), fabric.size());
        let tag = fabric.note(rank, [0; 8], Place::new(&format!("place {rank}")));
        fabric.exchange(tag, vec![], vec![((rank + 1) % size, 1)]).unwrap_err().to_string()
    });
    let right = "ranks diverged at operation 1:\n  rank 0: place 0\n  rank 1: place 1";
    assert_eq!(errors, [right; 3]);
}

#[test]
fn a_rank_counts_what_it_sends_to_others() {
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
fn the_first_panic_is_passed_on_with_its_rank() {
    Threads::run(4, |fabric| match fabric.rank() {
        2 => panic!("out of luck"),
        _ => fabric.barrier(tag()).unwrap(),
    });
}

#[test]
fn a_stall_says_once_what_is_awaited_and_from_whom() {
    let said = Arc::new(Mutex::new(Vec::new()));
    let listener = said.clone();
    let settings = Settings {
        stall: Duration::from_millis(50),
        report: Arc::new(move |text| listener.lock().unwrap().push(text.to_string())),
        ..Settings::default()
    };
    let ranks = Threads::with_settings(2, &settings);
    Threads::run_all(ranks, |fabric| match fabric.rank() {
        0 => fabric.exchange(tag(), vec![], vec![(1, 3)]).map(drop),
        _ => {
            std::thread::sleep(Duration::from_millis(300));
            fabric.exchange(tag(), vec![(0, vec![1, 2, 3])], vec![]).map(drop)
        }
    });
    let right = "dappled: rank 0 has waited 0 s for rank 1 in operation 0: test.rs:1";
    assert_eq!(*said.lock().unwrap(), [right]);
}
