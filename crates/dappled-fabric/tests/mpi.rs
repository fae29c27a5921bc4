//! MPI: the suite and what must not hang, on ranks that are processes.
//!
//! This test runs itself: each rank is this program again, under the `mpiexec` that
//! `DAPPLED_TEST_MPIEXEC` names, in the test [`one_rank`], which does what
//! `DAPPLED_TEST_RANK_DOES` says. `DAPPLED_TEST_MPI_LIBRARY` may name the library to load.

use std::env;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use dappled_fabric::suite::{divergence_suite, fabric_suite};
use dappled_fabric::{Fabric, Place, Settings, Tag, connect_with, mpi};

/// A job that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// More than MPI can count with an int.
const HUGE: usize = (1 << 31) + 12_345;

/// What a rank does in a job; by itself, nothing.
#[test]
fn one_rank() {
    let Ok(task) = env::var("DAPPLED_TEST_RANK_DOES") else { return };
    // Should the launcher not end its ranks, they end themselves.
    thread::spawn(|| {
        thread::sleep(LIMIT);
        std::process::exit(9)
    });
    let settings = Settings {
        // Small enough to cut the suite's longer messages into several pieces.
        piece: if task == "huge" { usize::MAX } else { 1 << 16 },
        stall: Duration::from_millis(200),
        ..Settings::default()
    };
    let fabric = connect_with(&settings).unwrap();
    // One write: the launcher mixes what its ranks write.
    let hello = format!("rank {} of {} on {}\n", fabric.rank(), fabric.size(), fabric.name());
    std::io::stderr().write_all(hello.as_bytes()).unwrap();
    perform(&task, &*fabric);
}

fn tag() -> Tag {
    Tag::new(1, "job.rs:1")
}

fn barrier(fabric: &dyn Fabric) {
    let tag = fabric.note(1, [0; 8], Place::new("job.rs:1"));
    fabric.barrier(tag).unwrap_or_else(|error| panic!("{error}"));
}

/// Each waits for the next one, in an operation of its own.
fn wait_in_a_circle(fabric: &dyn Fabric) {
    let (rank, size) = (fabric.rank(), fabric.size());
    let tag = fabric.note(rank, [0; 8], Place::new(&format!("job.rs:{rank}")));
    let waited = fabric.exchange(tag, vec![], vec![((rank + 1) % size, 1)]);
    waited.map(drop).unwrap_or_else(|error| panic!("{error}"));
}

fn perform(task: &str, fabric: &dyn Fabric) {
    match (task, fabric.rank()) {
        ("suite", _) => fabric_suite(fabric),
        ("diverge", _) => panic!("{}", divergence_suite(fabric)),
        ("leave early", 1) => (),
        ("leave early", _) => barrier(fabric),
        ("send too much", 0) => {
            let tag = fabric.note(1, [0; 8], Place::new("job.rs:1"));
            drop(fabric.post(tag, vec![(1, vec![0; 50_000])], vec![]));
        }
        ("do more", 0) => {
            fabric.note(1, [0; 8], Place::new("job.rs:1"));
        }
        ("send too much" | "do more", _) => (),
        ("wait in a circle", _) => wait_in_a_circle(fabric),
        ("fail", 1) => drop(fabric.leave(4)),
        ("fail", _) => thread::sleep(Duration::from_secs(20)),
        ("panic", 1) => panic!("out of luck"),
        ("panic", _) => barrier(fabric),
        ("huge", 0) => drop(fabric.exchange(tag(), vec![(1, vec![3; HUGE])], vec![]).unwrap()),
        ("huge", _) => {
            let received = fabric.exchange(tag(), vec![], vec![(0, HUGE)]).unwrap();
            assert!(received[0].len() == HUGE && received[0].iter().all(|&byte| byte == 3));
        }
        ("stall", 1) => {
            thread::sleep(Duration::from_secs(1));
            barrier(fabric);
        }
        ("stall", _) => barrier(fabric),
        ("ask", rank) => {
            // A long notice: as many operations as are kept, with long places.
            for _ in 0..40 {
                fabric.note(1, [0; 8], Place::new(&"a long place ".repeat(20)));
            }
            thread::sleep(Duration::from_millis(if rank == 1 { 1500 } else { 0 }));
            barrier(fabric);
        }
        ("abort", 1) => fabric.abort(7),
        ("abort", _) => barrier(fabric),
        _ => panic!("no task {task}"),
    }
}

#[test]
fn mpi_passes_the_suite() {
    for ranks in 1..=4 {
        let Some(output) = job("suite", ranks) else { return };
        assert!(output.status.success(), "{}", shown(&output));
        assert_eq!(shown(&output).matches(&format!(" of {ranks} on ")).count(), ranks);
    }
}

#[test]
fn what_goes_wrong_ends_the_job_and_is_said() {
    let cases = [
        ("diverge", "ranks diverged at operation 1:\n  rank 0: then\n  rank 1: else"),
        ("leave early", "ranks diverged: rank 1 left, but rank 0 is in operation 1: job.rs:1"),
        ("send too much", "ranks diverged: rank 1 left, but rank 0 is in operation 1: job.rs:1"),
        ("do more", "ranks diverged: rank 1 left, but rank 0 is in operation 1: job.rs:1"),
        ("wait in a circle", "ranks diverged at operation 1:\n  rank 0: job.rs:0\n  rank 1: job"),
        ("panic", "out of luck"),
        ("fail", "rank 1 left with exit status 4"),
        ("abort", ""),
    ];
    for (task, reason) in cases {
        let Some(output) = job(task, 3) else { return };
        let shown = shown(&output);
        assert!(!output.status.success(), "{task}: {shown}");
        assert!(shown.contains(reason), "{task}: {shown}");
    }
}

#[test]
#[ignore = "takes 5 GB of memory"]
fn a_message_may_be_longer_than_two_gibibytes() {
    let Some(output) = job("huge", 2) else { return };
    assert!(output.status.success(), "{}", shown(&output));
}

#[test]
fn a_stalled_wait_says_so_and_goes_on() {
    let Some(output) = job("stall", 2) else { return };
    let reason = "rank 0 has waited 0 s for rank 1 in operation 1: job.rs:1";
    assert!(output.status.success() && shown(&output).contains(reason), "{}", shown(&output));
}

/// Who waits for more than a second asks; over sockets that takes both sides, until the end.
#[test]
fn what_was_asked_is_heard_before_the_end() {
    let Some(output) = job("ask", 3) else { return };
    assert!(output.status.success(), "{}", shown(&output));
}

#[test]
fn a_process_that_was_not_launched_loads_no_mpi() {
    if env::var("DAPPLED_TEST_RANK_DOES").is_err() {
        assert_eq!(mpi::launched(), Ok(None));
    }
}

/// Runs a task on `ranks` ranks, within the limit; None where there is no MPI to test.
fn job(task: &str, ranks: usize) -> Option<Output> {
    let Ok(mpiexec) = env::var("DAPPLED_TEST_MPIEXEC") else {
        println!("not tested over MPI: DAPPLED_TEST_MPIEXEC does not name an mpiexec");
        return None;
    };
    let mut command = Command::new(mpiexec);
    command.args(["-n", &ranks.to_string()]).arg(env::current_exe().unwrap());
    command.args(["one_rank", "--exact", "--nocapture", "--test-threads=1"]);
    command.env("DAPPLED_TEST_RANK_DOES", task);
    if task == "ask" {
        command.envs([("MPIR_CVAR_NUM_CLIQUES", "2"), ("UCX_TLS", "tcp,self")]);
    }
    if let Ok(library) = env::var("DAPPLED_TEST_MPI_LIBRARY") {
        command.env("DAPPLED_MPI_LIBRARY", library);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.process_group(0).spawn().expect("DAPPLED_TEST_MPIEXEC can be run");
    Some(within_limit(child, task))
}

/// What the job said; after the limit, the job is killed and the test fails.
fn within_limit(child: Child, task: &str) -> Output {
    let (started, group) = (Instant::now(), format!("-{}", child.id()));
    let finished = thread::spawn(|| child.wait_with_output().unwrap());
    while !finished.is_finished() {
        if started.elapsed() > LIMIT {
            // mpiexec ends its ranks when it is asked to; then nobody is asked any more.
            for signal in ["-TERM", "-KILL"] {
                Command::new("kill").args([signal, "--", &group]).status().unwrap();
                thread::sleep(Duration::from_secs(1));
            }
            panic!("{task}: still running after {LIMIT:?}");
        }
        thread::sleep(Duration::from_millis(10));
    }
    finished.join().unwrap()
}

fn shown(output: &Output) -> String {
    let parts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{}\n{}\n{}", output.status, parts[0], parts[1])
}
