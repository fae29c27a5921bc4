//! Whole programs of everything that arrays can do, on any number of ranks and in any distribution,
//! against a little NumPy that does everything at once in one memory.

mod numpy;

use dappled::graph::Session;
use dappled_fabric::Threads;
use numpy::twins::{SHAPES, World, command, limits, ranks};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs_mean_what_they_mean_in_one_memory(commands in vec(command(), 1..30), ranks in ranks(), limits in limits()) {
        let found = Threads::run(ranks, |fabric| {
            let mut world = World::new(Session::with_limits(Box::new(fabric), limits), &SHAPES);
            for &command in &commands {
                world.run(command).map_err(|error| format!("{command:?}: {error}"))?;
            }
            world.check()
        });
        for (rank, result) in found.into_iter().enumerate() {
            prop_assert!(result.is_ok(), "rank {rank}: {}", result.unwrap_err());
        }
    }
}
