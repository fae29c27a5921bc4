//! Tests of the MPI fabric, with ranks that are processes.
//!
//! The test program starts itself: each rank runs the test [`one_rank`] of this program under the
//! `mpiexec` that `DAPPLED_TEST_MPIEXEC` names, and performs the task in `DAPPLED_TEST_RANK_DOES`.
//! `DAPPLED_TEST_MPI_LIBRARY` may name the library to load.

use std::env;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use dappled_fabric::conformance::{check_divergence, check_fabric};
use dappled_fabric::{Fabric, FabricConfig, OperationLabel, Tag, connect_with, mpi};

/// Time after which a job counts as hanging.
const LIMIT: Duration = Duration::from_secs(60);

/// A length that does not fit into an int.
const HUGE: usize = (1 << 31) + 12_345;

/// Performs the task of one rank; passes without a task.
#[test]
fn one_rank() {
    let Ok(task) = env::var("DAPPLED_TEST_RANK_DOES") else { return };
    // Exits even if the launcher does not terminate its ranks.
    thread::spawn(|| {
        thread::sleep(LIMIT);
        std::process::exit(9)
    });
    let settings = FabricConfig {
        // Small enough to split the longer messages of the checks.
        max_message_bytes: if task == "huge" { usize::MAX } else { 1 << 16 },
        stall_timeout: Duration::from_millis(200),
        ..FabricConfig::default()
    };
    let fabric = connect_with(&settings).unwrap();
    // A single write, because the launcher interleaves the output of its ranks.
    let hello = format!("rank {} of {} on {}\n", fabric.rank(), fabric.size(), fabric.name());
    std::io::stderr().write_all(hello.as_bytes()).unwrap();
    perform(&task, &*fabric);
}

fn tag() -> Tag {
    Tag::new(1, "job.rs:1")
}

fn barrier(fabric: &dyn Fabric) {
    let tag = fabric.log_operation(1, [0; 8], OperationLabel::new("job.rs:1"));
    fabric.barrier(tag).unwrap_or_else(|error| panic!("{error}"));
}

/// Each rank waits for the next one, in a different operation.
fn wait_in_a_cycle(fabric: &dyn Fabric) {
    let (rank, size) = (fabric.rank(), fabric.size());
    let tag = fabric.log_operation(rank, [0; 8], OperationLabel::new(&format!("job.rs:{rank}")));
    let waited = fabric.exchange(tag, vec![], vec![((rank + 1) % size, 1)]);
    waited.map(drop).unwrap_or_else(|error| panic!("{error}"));
}

fn perform(task: &str, fabric: &dyn Fabric) {
    match (task, fabric.rank()) {
        ("suite", _) => check_fabric(fabric),
        ("diverge", _) => panic!("{}", check_divergence(fabric)),
        ("leave early", 1) => (),
        ("leave early", _) => barrier(fabric),
        ("send too much", 0) => {
            let tag = fabric.log_operation(1, [0; 8], OperationLabel::new("job.rs:1"));
            drop(fabric.start_sized_exchange(tag, vec![(1, vec![0; 50_000])], vec![]));
        }
        ("do more", 0) => {
            fabric.log_operation(1, [0; 8], OperationLabel::new("job.rs:1"));
        }
        ("send too much" | "do more", _) => (),
        ("wait in a cycle", _) => wait_in_a_cycle(fabric),
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
            // A long control message: a full log with long labels.
            for _ in 0..40 {
                fabric.log_operation(1, [0; 8], OperationLabel::new(&"a long label ".repeat(20)));
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
fn mpi_conforms() {
    for ranks in 1..=4 {
        let Some(output) = job("suite", ranks) else { return };
        assert!(output.status.success(), "{}", output_text(&output));
        assert_eq!(output_text(&output).matches(&format!(" of {ranks} on ")).count(), ranks);
    }
}

#[test]
fn failures_end_the_job_with_a_reason() {
    let cases = [
        ("diverge", "ranks diverged at operation 1:\n  rank 0: then\n  rank 1: else"),
        ("leave early", "ranks diverged: rank 1 left, but rank 0 is in operation 1: job.rs:1"),
        ("send too much", "ranks diverged: rank 1 left, but rank 0 is in operation 1: job.rs:1"),
        ("do more", "ranks diverged: rank 1 left, but rank 0 is in operation 1: job.rs:1"),
        ("wait in a cycle", "ranks diverged at operation 1:\n  rank 0: job.rs:0\n  rank 1: job"),
        ("panic", "out of luck"),
        ("fail", "rank 1 left with exit status 4"),
        ("abort", ""),
    ];
    for (task, reason) in cases {
        let Some(output) = job(task, 3) else { return };
        let text = output_text(&output);
        assert!(!output.status.success(), "{task}: {text}");
        assert!(text.contains(reason), "{task}: {text}");
    }
}

#[test]
#[ignore = "takes 5 GB of memory"]
fn messages_may_exceed_two_gibibytes() {
    let Some(output) = job("huge", 2) else { return };
    assert!(output.status.success(), "{}", output_text(&output));
}

#[test]
fn a_stalled_wait_is_reported_and_continues() {
    let Some(output) = job("stall", 2) else { return };
    let reason = "rank 0 has waited 0 s for rank 1 in operation 1: job.rs:1";
    assert!(
        output.status.success() && output_text(&output).contains(reason),
        "{}",
        output_text(&output)
    );
}

/// A wait of more than a second sends a query; over sockets it needs both sides to poll.
#[test]
fn queries_are_received_before_finalisation() {
    let Some(output) = job("ask", 3) else { return };
    assert!(output.status.success(), "{}", output_text(&output));
}

#[test]
fn without_a_launcher_no_mpi_is_loaded() {
    if env::var("DAPPLED_TEST_RANK_DOES").is_err() {
        assert_eq!(mpi::detect_launch(), Ok(None));
    }
}

/// Runs a task on `ranks` ranks; None if no mpiexec is configured.
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
    Some(wait_with_limit(child, task))
}

/// Waits for the job; kills it and fails the test after the time limit.
fn wait_with_limit(child: Child, task: &str) -> Output {
    let (started, group) = (Instant::now(), format!("-{}", child.id()));
    let finished = thread::spawn(|| child.wait_with_output().unwrap());
    while !finished.is_finished() {
        if started.elapsed() > LIMIT {
            // mpiexec terminates its ranks on SIGTERM; SIGKILL follows.
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

fn output_text(output: &Output) -> String {
    let parts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{}\n{}\n{}", output.status, parts[0], parts[1])
}
