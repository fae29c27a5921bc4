//! Collective operations, implemented with point-to-point exchanges.
//!
//! Every collective takes a number of rounds that is logarithmic in the number of ranks.

use dappled_base::memory;

use crate::error::FabricError;
use crate::fabric::Fabric;
use crate::tag::Tag;

/// Returns the distances 1, 2, 4, … below the number of ranks.
fn power_of_two_distances(size: u64) -> impl DoubleEndedIterator<Item = u64> {
    (0..u64::BITS - (size - 1).leading_zeros()).map(|round| 1 << round)
}

/// Dissemination barrier: in round k each rank receives from the rank 2^k before it.
pub(crate) fn barrier<F: Fabric + ?Sized>(fabric: &F, tag: Tag) -> Result<(), FabricError> {
    let (tag, rank, size) = (tag.for_collective("barrier"), fabric.rank(), fabric.size());
    for distance in power_of_two_distances(size) {
        let (after, before) = ((rank + distance) % size, (rank + size - distance) % size);
        fabric.exchange(tag, vec![(after, Vec::new())], vec![(before, 0)])?;
    }
    Ok(())
}

/// Broadcast along a binomial tree.
pub(crate) fn broadcast<F: Fabric + ?Sized>(
    fabric: &F,
    tag: Tag,
    root: u64,
    bytes: Vec<u8>,
) -> Result<Vec<u8>, FabricError> {
    let (tag, size) = (tag.for_collective("broadcast").with_word(root), fabric.size());
    let relative_rank = (fabric.rank() + size - root) % size;
    let peer = |relative_rank: u64| (relative_rank + root) % size;
    // The lowest set bit is the distance to the rank that sends to this one.
    let parent_distance =
        if relative_rank == 0 { u64::MAX } else { relative_rank & relative_rank.wrapping_neg() };
    let bytes = match relative_rank {
        0 => bytes,
        _ => single_message(
            fabric
                .start_exchange(tag, vec![], vec![(peer(relative_rank - parent_distance), None)])
                .wait()?,
        ),
    };
    let child_distances = power_of_two_distances(size)
        .rev()
        .filter(|&distance| distance < parent_distance && relative_rank + distance < size);
    let sends =
        child_distances.map(|distance| (peer(relative_rank + distance), bytes.clone())).collect();
    fabric.exchange(tag, sends, vec![])?;
    Ok(bytes)
}

/// Allgather by Bruck's algorithm: the number of blocks each rank holds doubles per round.
pub(crate) fn allgather<F: Fabric + ?Sized>(
    fabric: &F,
    tag: Tag,
    bytes: Vec<u8>,
) -> Result<Vec<Vec<u8>>, FabricError> {
    let (tag, rank, size) = (tag.for_collective("allgather"), fabric.rank(), fabric.size());
    let mut blocks = vec![bytes];
    for distance in power_of_two_distances(size) {
        let (before, after) = ((rank + size - distance) % size, (rank + distance) % size);
        let count = blocks.len().min((size - distance) as usize);
        let sends = vec![(before, pack(&blocks[..count]).into())];
        let received =
            single_message(fabric.start_exchange(tag, sends, vec![(after, None)]).wait()?);
        blocks.extend(unpack(&received));
    }
    blocks.rotate_right(rank as usize);
    Ok(blocks)
}

/// Allreduce: an allgather, then a local reduction in rank order.
pub(crate) fn allreduce<F: Fabric + ?Sized>(
    fabric: &F,
    tag: Tag,
    bytes: Vec<u8>,
    reduce: &dyn Fn(&mut Vec<u8>, &[u8]),
) -> Result<Vec<u8>, FabricError> {
    let mut contributions = fabric.allgather(tag.for_collective("allreduce"), bytes)?.into_iter();
    let mut reduced = contributions.next().unwrap_or_default();
    contributions.for_each(|next| reduce(&mut reduced, &next));
    Ok(reduced)
}

fn single_message(mut received: Vec<Vec<u8>>) -> Vec<u8> {
    received.pop().expect("the exchange has one receive")
}

/// Concatenates byte strings, each preceded by its length.
fn pack(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = memory::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
    for part in parts {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    bytes
}

fn unpack(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let (part, rest) = rest.split_at(u64::from_le_bytes(*length) as usize);
        parts.push(memory::copy_of(part));
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
        assert_eq!(unpack(&pack(&parts)), parts);
    }

    #[test]
    fn distances_stay_below_the_number_of_ranks() {
        let all = |size| power_of_two_distances(size).collect::<Vec<_>>();
        assert_eq!((all(1), all(2), all(3)), (vec![], vec![1], vec![1, 2]));
        assert_eq!((all(4), all(5)), (vec![1, 2], vec![1, 2, 4]));
    }
}
