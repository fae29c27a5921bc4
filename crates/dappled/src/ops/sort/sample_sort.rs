//! Sample sort of a distributed line.
//!
//! Each rank sorts its block. Exact splitters give the part of each block that belongs to each rank,
//! an all-to-all exchanges the parts, and each rank merges those it received.

use dappled_base::memory;
use dappled_kernels::DType;
use dappled_kernels::element::bytes_of;

use super::order::ItemOrder;
use super::splitters::splitter_positions;
use super::{Line, all_to_all};
use crate::array::Array;
use crate::error::Result;

/// Sorts a line. Collective.
pub(super) fn sort(line: &Line<'_>) -> Result<Array> {
    let (order, peers) = (line.order, &line.peers);
    let sorted = line.with_items(|items| order.sort(items, items.len() / order.itemsize()))?;
    if peers.is_alone {
        return line.array_of_items(sorted);
    }
    let positions = splitter_positions(peers, order, &sorted, &line.starts())?;
    let parts = split_items(order, &sorted, &positions);
    drop(sorted);
    line.array_of_items(order.merge(all_to_all(peers, parts)?)?)
}

/// Returns the indices that sort a line. Collective.
pub(super) fn argsort(line: &Line<'_>) -> Result<Array> {
    let (order, peers) = (line.order, &line.peers);
    let starts = line.starts();
    let (mut indices, sorted) = line.with_items(|items| {
        let indices = order.argsort(items, items.len() / order.itemsize())?;
        let sorted = if peers.is_alone { Vec::new() } else { order.take(items, &indices) };
        Ok((indices, sorted))
    })?;
    if !peers.is_alone {
        let first = starts[peers.rank()] as i64;
        indices.iter_mut().for_each(|index| *index += first);
        let positions = splitter_positions(peers, order, &sorted, &starts)?;
        let runs = all_to_all(peers, split_items(order, &sorted, &positions))?;
        let indices_of_runs = all_to_all(peers, split(&indices, &positions))?;
        indices = order.merge_indices(runs, indices_of_runs)?;
    }
    line.array_in_blocks(memory::copy_of(bytes_of(&indices)), DType::Int64, &[], &starts)
}

/// Copies items between consecutive positions.
pub(super) fn split_items(
    order: &dyn ItemOrder,
    items: &[u8],
    positions: &[usize],
) -> Vec<Vec<u8>> {
    let bytes: Vec<usize> = positions.iter().map(|at| at * order.itemsize()).collect();
    split(items, &bytes)
}

/// Copies elements between consecutive positions.
pub(super) fn split<T: Copy>(elements: &[T], positions: &[usize]) -> Vec<Vec<T>> {
    positions.windows(2).map(|pair| memory::copy_of(&elements[pair[0]..pair[1]])).collect()
}
