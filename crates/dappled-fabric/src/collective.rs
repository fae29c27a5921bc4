//! What all ranks do together, made of posts: written once for every fabric.
//!
//! Each takes a number of rounds that grows with the logarithm of the number of ranks.

use dappled_base::memory;

use crate::error::FabricError;
use crate::fabric::Fabric;
use crate::tag::Tag;

/// The distances 1, 2, 4, … below the number of ranks.
fn doublings(size: u64) -> impl DoubleEndedIterator<Item = u64> {
    (0..u64::BITS - (size - 1).leading_zeros()).map(|round| 1 << round)
}

/// In every round each rank hears from one twice as far behind, and with it from all between.
pub(crate) fn barrier<F: Fabric + ?Sized>(fabric: &F, tag: Tag) -> Result<(), FabricError> {
    let (tag, rank, size) = (tag.within("barrier"), fabric.rank(), fabric.size());
    for distance in doublings(size) {
        let (after, before) = ((rank + distance) % size, (rank + size - distance) % size);
        fabric.exchange(tag, vec![(after, Vec::new())], vec![(before, 0)])?;
    }
    Ok(())
}

/// Down a binomial tree: who has the bytes gives them to one at half the distance.
pub(crate) fn broadcast<F: Fabric + ?Sized>(
    fabric: &F,
    tag: Tag,
    root: u64,
    bytes: Vec<u8>,
) -> Result<Vec<u8>, FabricError> {
    let (tag, size) = (tag.within("broadcast").with(root), fabric.size());
    let at = (fabric.rank() + size - root) % size;
    let peer = |at: u64| (at + root) % size;
    // The lowest set bit is the distance at which this rank is given the bytes.
    let given = if at == 0 { u64::MAX } else { at & at.wrapping_neg() };
    let bytes = match at {
        0 => bytes,
        _ => only(fabric.start(tag, vec![], vec![(peer(at - given), None)]).wait()?),
    };
    let below = doublings(size).rev().filter(|&way| way < given && at + way < size);
    let sends = below.map(|way| (peer(at + way), bytes.clone())).collect();
    fabric.exchange(tag, sends, vec![])?;
    Ok(bytes)
}

/// Bruck's algorithm: each rank holds what it and the ranks after it gave, twice as many with
/// every round.
pub(crate) fn gather_all<F: Fabric + ?Sized>(
    fabric: &F,
    tag: Tag,
    bytes: Vec<u8>,
) -> Result<Vec<Vec<u8>>, FabricError> {
    let (tag, rank, size) = (tag.within("gather_all"), fabric.rank(), fabric.size());
    let mut held = vec![bytes];
    for distance in doublings(size) {
        let (before, after) = ((rank + size - distance) % size, (rank + distance) % size);
        let wanted = held.len().min((size - distance) as usize);
        let sends = vec![(before, packed(&held[..wanted]).into())];
        let more = only(fabric.start(tag, sends, vec![(after, None)]).wait()?);
        held.extend(unpacked(&more));
    }
    held.rotate_right(rank as usize);
    Ok(held)
}

/// Everybody folds what everybody gave, in the order of the ranks.
pub(crate) fn combine<F: Fabric + ?Sized>(
    fabric: &F,
    tag: Tag,
    bytes: Vec<u8>,
    fold: &dyn Fn(&mut Vec<u8>, &[u8]),
) -> Result<Vec<u8>, FabricError> {
    let mut given = fabric.gather_all(tag.within("combine"), bytes)?.into_iter();
    let mut folded = given.next().unwrap_or_default();
    given.for_each(|next| fold(&mut folded, &next));
    Ok(folded)
}

fn only(mut received: Vec<Vec<u8>>) -> Vec<u8> {
    received.pop().expect("one message was asked for")
}

/// Several byte strings as one: each behind its length.
fn packed(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = memory::with_room(parts.iter().map(|part| part.len() + 8).sum());
    for part in parts {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    bytes
}

fn unpacked(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let (part, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
        parts.push(memory::copied(part));
        bytes = rest;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_empty_parts() {
        let parts = vec![vec![], vec![1, 2, 3], vec![]];
        assert_eq!(unpacked(&packed(&parts)), parts);
    }

    #[test]
    fn distances_stay_below_the_number_of_ranks() {
        let all = |size| doublings(size).collect::<Vec<_>>();
        assert_eq!((all(1), all(2), all(3)), (vec![], vec![1], vec![1, 2]));
        assert_eq!((all(4), all(5)), (vec![1, 2], vec![1, 2, 4]));
    }
}
