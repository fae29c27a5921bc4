//! What every fabric passes: called on each of its ranks, it panics where a promise is broken.

use crate::error::FabricError;
use crate::fabric::Fabric;
use crate::tag::{Place, Tag};

/// Everything that ranks may ask of a fabric and that must go well.
///
/// ```
/// dappled_fabric::suite::fabric_suite(&dappled_fabric::Solo::default());
/// ```
pub fn fabric_suite(fabric: &dyn Fabric) {
    let steps: [(&str, Step); 9] = [
        ("ring", ring),
        ("all to all", all_to_all),
        ("order", order),
        ("overlap", overlap),
        ("broadcast", broadcast),
        ("gather_all", gather_all),
        ("combine", combine),
        ("large", large),
        ("barrier", |fabric, tag| fabric.barrier(tag)),
    ];
    for (hash, (place, step)) in steps.into_iter().enumerate() {
        let done = step(fabric, Tag::new(hash as u64, place));
        done.unwrap_or_else(|error| panic!("{place} on rank {}: {error}", fabric.rank()));
    }
}

/// On more than one rank: rank 0 does something else than the others, which all ranks are told.
/// After it the fabric is of no use.
pub fn divergence_suite(fabric: &dyn Fabric) -> FabricError {
    let (rank, size) = (fabric.rank(), fabric.size());
    let (after, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let way = if rank == 0 { "then" } else { "else" };
    let tag = fabric.note(u64::from(rank == 0), [0; 8], Place::new(way));
    let post = |tag| fabric.exchange(tag, vec![(after, vec![7])], vec![(before, 1)]);
    // Neighbours that agree may be done with the first exchange; they meet the error later.
    let error = (0..=size).find_map(|_| post(tag).err()).expect("the ranks diverged");
    let FabricError::Parted { ranks, .. } = error else { panic!("{error}") };
    assert_eq!(ranks, [0, 1]);
    error
}

type Step = fn(&dyn Fabric, Tag) -> Result<(), FabricError>;

/// `length` bytes that only this pair sends.
fn bytes(from: u64, to: u64, length: usize) -> Vec<u8> {
    (0..length).map(|at| (from * 31 + to * 7 + at as u64 % 251) as u8).collect()
}

fn ring(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let (rank, size) = (fabric.rank(), fabric.size());
    let (after, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let sends = vec![(after, bytes(rank, after, 100))];
    let received = fabric.exchange(tag, sends, vec![(before, 100)])?;
    assert_eq!(received, [bytes(before, rank, 100)]);
    Ok(())
}

/// Uneven lengths, none at all among them, and the rank itself.
fn all_to_all(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let (rank, size) = (fabric.rank(), fabric.size());
    let length = |from: u64, to: u64| ((from * 3 + to) % 5 * 4_000) as usize;
    let sends = (0..size).map(|to| (to, bytes(rank, to, length(rank, to)))).collect();
    let receives = (0..size).map(|from| (from, length(from, rank))).collect();
    let received = fabric.exchange(tag, sends, receives)?;
    let right = (0..size).map(|from| bytes(from, rank, length(from, rank)));
    assert!(received.into_iter().eq(right));
    Ok(())
}

/// Short and long messages in turn: a short one must not overtake.
fn order(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let (rank, size) = (fabric.rank(), fabric.size());
    let lengths = [0, 100_000, 1, 20_000, 8, 0, 300_000, 3];
    let peers = || (0..size).flat_map(|peer| lengths.map(|length| (peer, length)));
    let sends = peers().map(|(to, length)| (to, bytes(rank, to, length))).collect();
    let received = fabric.exchange(tag, sends, peers().collect())?;
    assert!(received.into_iter().eq(peers().map(|(from, length)| bytes(from, rank, length))));
    Ok(())
}

/// Several posts on their way at once, waited for in another order, one of them never.
fn overlap(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let (rank, size) = (fabric.rank(), fabric.size());
    let (after, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let lengths = [50_000, 10, 70_000];
    let [first, second, mut third] = lengths.map(|length| {
        fabric.post(tag, vec![(after, bytes(rank, after, length))], vec![(before, length)])
    });
    while !third.poll()? {
        std::thread::yield_now();
    }
    assert_eq!(third.wait()?, [bytes(before, rank, 70_000)]);
    drop(second);
    assert_eq!(first.wait()?, [bytes(before, rank, 50_000)]);
    Ok(())
}

fn broadcast(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    for (root, length) in (0..fabric.size()).flat_map(|root| [(root, 9), (root, 50_000)]) {
        let given = match fabric.rank() == root {
            true => bytes(root, root, length),
            false => vec![],
        };
        assert_eq!(fabric.broadcast(tag, root, given)?, bytes(root, root, length));
    }
    Ok(())
}

fn gather_all(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let given = |rank: u64| bytes(rank, rank, (rank * 5_000) as usize);
    let gathered = fabric.gather_all(tag, given(fabric.rank()))?;
    assert!(gathered.into_iter().eq((0..fabric.size()).map(given)));
    Ok(())
}

/// A fold that minds the order.
fn combine(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    let fold = |folded: &mut Vec<u8>, next: &[u8]| {
        folded.insert(0, b'(');
        folded.extend(next);
        folded.push(b')');
    };
    let given = |rank: u64| rank.to_string().into_bytes();
    let right = (1..fabric.size()).fold(given(0), |mut folded, rank| {
        fold(&mut folded, &given(rank));
        folded
    });
    assert_eq!(fabric.combine(tag, given(fabric.rank()), &fold)?, right);
    Ok(())
}

/// 3 MB each way between all pairs.
fn large(fabric: &dyn Fabric, tag: Tag) -> Result<(), FabricError> {
    const LENGTH: usize = 3_000_000;
    let (rank, size) = (fabric.rank(), fabric.size());
    let sends = (0..size).map(|to| (to, bytes(rank, to, LENGTH))).collect();
    let received = fabric.exchange(tag, sends, (0..size).map(|from| (from, LENGTH)).collect())?;
    assert!(received.into_iter().eq((0..size).map(|from| bytes(from, rank, LENGTH))));
    Ok(())
}
