//! Measures message latency: `mpiexec -n 2 latency`, or without MPI on two threads.

use std::time::Instant;

use dappled_fabric::{Fabric, FabricError, Tag, Threads, connect};

fn main() -> Result<(), FabricError> {
    let fabric = connect()?;
    if fabric.size() > 1 {
        return measure(&*fabric);
    }
    Threads::run(2, |fabric| measure(&fabric)).into_iter().collect()
}

fn measure(fabric: &dyn Fabric) -> Result<(), FabricError> {
    let (rank, size, tag) = (fabric.rank(), fabric.size(), Tag::new(1, "latency"));
    let say = |what: &str, microseconds: f64| {
        if rank == 0 {
            println!("{what:>24} {microseconds:10.2} us on {}", fabric.name());
        }
    };
    say("barrier", timed(5_000, || fabric.barrier(tag))?);
    say("gather_all of 8 bytes", timed(5_000, || fabric.allgather(tag, vec![0; 8]).map(drop))?);
    for bytes in [8, 8_000, 32_000, 80_000, 1_000_000, 16_000_000] {
        let (after, before) = ((rank + 1) % size, (rank + size - 1) % size);
        let both = || {
            let sends = vec![(after, vec![1; bytes]), (before, vec![2; bytes])];
            fabric.exchange(tag, sends, vec![(before, bytes), (after, bytes)]).map(drop)
        };
        let rounds = (200_000_000 / bytes).clamp(10, 5_000);
        say(&format!("halo of {bytes}"), timed(rounds, both)?);
    }
    Ok(())
}

fn timed(
    rounds: usize,
    mut one: impl FnMut() -> Result<(), FabricError>,
) -> Result<f64, FabricError> {
    (0..10).try_for_each(|_| one())?;
    let started = Instant::now();
    (0..rounds).try_for_each(|_| one())?;
    Ok(started.elapsed().as_secs_f64() * 1e6 / rounds as f64)
}
