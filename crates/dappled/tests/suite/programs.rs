//! Random programs of all array operations, on several numbers of ranks and in random
//! distributions, compared with the reference.

use crate::reference::pairs::{SHAPES, TestState, command, limits, ranks};
use dappled::Session;
use dappled_fabric::Threads;
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs_match_the_reference(commands in vec(command(), 1..30), ranks in ranks(), limits in limits()) {
        let found = Threads::run(ranks, |fabric| {
            let mut state = TestState::new(Session::with_limits(Box::new(fabric), limits), &SHAPES);
            for &command in &commands {
                state.run(command).map_err(|error| format!("{command:?}: {error}"))?;
            }
            state.check()
        });
        for (rank, result) in found.into_iter().enumerate() {
            prop_assert!(result.is_ok(), "rank {rank}: {}", result.unwrap_err());
        }
    }
}
