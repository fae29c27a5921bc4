//! Unique integers of a small range, without a sort.
//!
//! Each rank marks the integers that it has. The marks of a range of integers are combined on one
//! rank by an all-to-all.

use dappled_base::{interrupt, memory};
use dappled_kernels::element::bytes_of;
use dappled_kernels::{DType, DTypeKind};
use dappled_sort::bincount::{bincount, min_max};

use super::order::concatenate;
use super::{Line, all_to_all, allgather};
use crate::array::Array;
use crate::error::Result;
use crate::ops::fft::block_ranges;
use crate::ops::local_elements::LocalElements;

/// Returns the unique integers of a distributed line; `None` if their range is large. Collective.
///
/// The marks of a rank take at most as much memory as its elements.
pub(super) fn unique_of_small_range(line: &Line<'_>) -> Result<Option<Array>> {
    let (array, peers) = (line.array, &line.peers);
    let dtype = array.dtype();
    let is_integral = matches!(dtype.kind(), DTypeKind::Signed | DTypeKind::Unsigned);
    if peers.is_alone || array.shape().len() != 1 || !is_integral || dtype == DType::UInt64 {
        return Ok(None);
    }
    let values = LocalElements::unordered(&array.with_dtype(DType::Int64)?)?;
    let range = |values: &[i64]| interrupt::run_in_pool(values.len(), || min_max(values));
    let range = values.with(|values: &[i64]| Ok(range(values)))?;
    let range: Vec<i64> = range.into_iter().flat_map(|(low, high)| [low, high]).collect();
    let ranges = concatenate(&allgather(peers, &range)?);
    let (Some(&low), Some(&high)) = (ranges.iter().min(), ranges.iter().max()) else {
        return Ok(None);
    };
    let extent = high.wrapping_sub(low) as u64;
    if extent >= (line.len() / peers.size()) as u64 {
        return Ok(None);
    }
    let length = extent as usize + 1;
    let counts =
        |values: &[i64]| Ok(interrupt::run_in_pool(values.len(), || bincount(values, low, length)));
    let marks = memory::collect(values.with(counts)?.into_iter().map(|count| u8::from(count > 0)));
    let blocks = block_ranges(peers.session, length);
    let parts = blocks.iter().map(|block| memory::copy_of(&marks[block.clone()])).collect();
    let own = blocks[peers.rank()].clone();
    let mut is_present: Vec<u8> = memory::zeros(own.len());
    for marks in all_to_all(peers, parts)? {
        is_present.iter_mut().zip(marks).for_each(|(present, mark)| *present |= mark);
    }
    let first = low.wrapping_add(own.start as i64);
    let present = (first..).zip(&is_present).filter(|(_, present)| **present > 0);
    let unique: Vec<i64> = memory::collect(present.map(|(integer, _)| integer).collect::<Vec<_>>());
    let totals = concatenate(&allgather(peers, &[unique.len() as u64])?);
    let mut bounds = vec![0];
    totals.iter().for_each(|total| bounds.push(bounds[bounds.len() - 1] + total));
    let bytes = memory::copy_of(bytes_of(&unique));
    line.array_in_blocks(bytes, DType::Int64, &[], &bounds)?.with_dtype(dtype).map(Some)
}
