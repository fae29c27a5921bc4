//! Conformance checks: every implementation of `Fabric` passes them.
//!
//! Each check runs on all ranks and panics if a guarantee of the trait is broken.

use crate::error::FabricError;
use crate::fabric::Fabric;
use crate::tag::{OperationLabel, Tag};

/// Runs every point-to-point and collective operation and checks the results.
///
/// ```
/// dappled_fabric::conformance::check_fabric(&dappled_fabric::Solo::default());
/// ```
pub fn check_fabric(fabric: &dyn Fabric) {
    let steps: [(&str, ConformanceCheck); 9] = [
        ("ring", ring),
        ("all to all", all_to_all),
        ("order", order),
        ("overlap", overlap),
        ("broadcast", broadcast),
        ("allgather", allgather),
        ("allreduce", allreduce),
        ("large", large),
        ("barrier", |fabric, tag| fabric.barrier(tag)),
    ];
    for (hash, (place, step)) in steps.into_iter().enumerate() {
        let done = step(fabric, Tag::new(hash as u64, place));
        done.unwrap_or_else(|error| panic!("{place} on rank {}: {error}", fabric.rank()));
    }
}

/// Checks that a divergence is detected: rank 0 runs another operation than the others. Needs two
/// ranks or more; the fabric is unusable afterwards.
pub fn check_divergence(fabric: &dyn Fabric) -> FabricError {
    let (rank, size) = (fabric.rank(), fabric.size());
    let (after, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let branch = if rank == 0 { "then" } else { "else" };
    let tag = fabric.log_operation(u64::from(rank == 0), [0; 8], OperationLabel::new(branch));
    let shift = |tag| fabric.exchange(tag, vec![(after, vec![7])], vec![(before, 1)]);
    // Neighbours that agree may complete the first exchange; they get the error in a later one.
    let error = (0..=size).find_map(|_| shift(tag).err()).expect("the ranks diverged");
    let FabricError::OperationsDiffer { ranks, .. } = error else { panic!("{error}") };
    assert_eq!(ranks, [0, 1]);
    error
}

type ConformanceCheck = fn(&dyn Fabric, Tag) -> Result<(), FabricError>;

/// Returns `length` bytes that are specific to this pair of ranks.
fn test_bytes(from: u64, to: u64, length: usize) -> Vec<u8> {
    (0..length).map(|at| (from * 31 + to * 7 + at as u64 % 251) as u8).collect()
}

fn ring(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let (rank, size) = (fabric.rank(), fabric.size());
    let (after, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let sends = vec![(after, test_bytes(rank, after, 100))];
    let received = fabric.exchange(tag, sends, vec![(before, 100)])?;
    assert_eq!(received, [test_bytes(before, rank, 100)]);
    Ok(())
}

/// Messages of different lengths, some empty, including a message to the rank itself.
fn all_to_all(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let (rank, size) = (fabric.rank(), fabric.size());
    let length = |from: u64, to: u64| ((from * 3 + to) % 5 * 4_000) as usize;
    let sends = (0..size).map(|to| (to, test_bytes(rank, to, length(rank, to)))).collect();
    let receives = (0..size).map(|from| (from, length(from, rank))).collect();
    let received = fabric.exchange(tag, sends, receives)?;
    let expected = (0..size).map(|from| test_bytes(from, rank, length(from, rank)));
    assert!(received.into_iter().eq(expected));
    Ok(())
}

/// Short and long messages alternate: a short one must not overtake a long one.
fn order(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let (rank, size) = (fabric.rank(), fabric.size());
    let lengths = [0, 100_000, 1, 20_000, 8, 0, 300_000, 3];
    let peers = || (0..size).flat_map(|peer| lengths.map(|length| (peer, length)));
    let sends = peers().map(|(to, length)| (to, test_bytes(rank, to, length))).collect();
    let received = fabric.exchange(tag, sends, peers().collect())?;
    assert!(received.into_iter().eq(peers().map(|(from, length)| test_bytes(from, rank, length))));
    Ok(())
}

/// Several exchanges in progress at once, completed out of order, one of them dropped.
fn overlap(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let (rank, size) = (fabric.rank(), fabric.size());
    let (after, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let lengths = [50_000, 10, 70_000];
    let [first, second, mut third] = lengths.map(|length| {
        fabric.start_sized_exchange(
            tag,
            vec![(after, test_bytes(rank, after, length))],
            vec![(before, length)],
        )
    });
    while !third.poll()? {
        std::thread::yield_now();
    }
    assert_eq!(third.wait()?, [test_bytes(before, rank, 70_000)]);
    drop(second);
    assert_eq!(first.wait()?, [test_bytes(before, rank, 50_000)]);
    Ok(())
}

fn broadcast(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    for (root, length) in (0..fabric.size()).flat_map(|root| [(root, 9), (root, 50_000)]) {
        let contribution = match fabric.rank() == root {
            true => test_bytes(root, root, length),
            false => vec![],
        };
        assert_eq!(fabric.broadcast(tag, root, contribution)?, test_bytes(root, root, length));
    }
    Ok(())
}

fn allgather(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let contribution = |rank: u64| test_bytes(rank, rank, (rank * 5_000) as usize);
    let gathered = fabric.allgather(tag, contribution(fabric.rank()))?;
    assert!(gathered.into_iter().eq((0..fabric.size()).map(contribution)));
    Ok(())
}

/// A reduction that is neither commutative nor associative.
fn allreduce(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let reduce = |reduced: &mut Vec<u8>, next: &[u8]| {
        reduced.insert(0, b'(');
        reduced.extend(next);
        reduced.push(b')');
    };
    let contribution = |rank: u64| rank.to_string().into_bytes();
    let expected = (1..fabric.size()).fold(contribution(0), |mut reduced, rank| {
        reduce(&mut reduced, &contribution(rank));
        reduced
    });
    assert_eq!(fabric.allreduce(tag, contribution(fabric.rank()), &reduce)?, expected);
    Ok(())
}

/// Sends 3 MB in each direction between all pairs.
fn large(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    const LENGTH: usize = 3_000_000;
    let (rank, size) = (fabric.rank(), fabric.size());
    let sends = (0..size).map(|to| (to, test_bytes(rank, to, LENGTH))).collect();
    let received = fabric.exchange(tag, sends, (0..size).map(|from| (from, LENGTH)).collect())?;
    assert!(received.into_iter().eq((0..size).map(|from| test_bytes(from, rank, LENGTH))));
    Ok(())
}
