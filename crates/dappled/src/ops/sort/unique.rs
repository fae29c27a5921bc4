//! Unique elements of a distributed line.
//!
//! Each rank sorts its block and keeps one element of each value. Splitters of these elements, moved
//! to the start of a value, give the ranks that own each value; they combine the elements that an
//! all-to-all brings.

use dappled_base::memory;
use dappled_kernels::DType;
use dappled_kernels::element::bytes_of;

use super::order::{ItemOrder, concatenate};
use super::sample_sort::{split, split_items};
use super::splitters::splitter_positions;
use super::unique_count::unique_of_small_range;
use super::{Line, all_to_all, allgather};
use crate::array::Array;
use crate::error::Result;

/// The optional results of [`Array::unique`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UniqueOptions {
    /// Whether to return where each unique element occurs first.
    pub index: bool,
    /// Whether to return which unique element each element is.
    pub inverse: bool,
    /// Whether to return how often each unique element occurs.
    pub counts: bool,
    /// Whether every NaN is distinct.
    pub distinct_nans: bool,
}

/// Unique elements in ascending order, as returned by [`Array::unique`].
pub struct Unique {
    /// The unique elements; of equal ones the first.
    pub values: Array,
    /// The index of the first occurrence of each.
    pub index: Option<Array>,
    /// The index among `values` of each element.
    pub inverse: Option<Array>,
    /// The number of occurrences of each.
    pub counts: Option<Array>,
}

impl Array {
    /// Returns the unique elements of a line. Collective.
    ///
    /// ```
    /// use dappled::{Array, Session, UniqueOptions};
    /// let session = Session::new(dappled_fabric::connect()?);
    /// let values = Array::from_slice(&session, &[4], &[7, 5, 7, 7]);
    /// let unique = values.unique(UniqueOptions { counts: true, ..Default::default() })?;
    /// assert_eq!(unique.values.to_vec::<i32>()?, [5, 7]);
    /// assert_eq!(unique.counts.unwrap().to_vec::<i64>()?, [1, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unique(&self, options: UniqueOptions) -> Result<Unique> {
        let line = Line::of_elements(self);
        if !(options.index || options.inverse || options.counts)
            && let Some(values) = unique_of_small_range(&line)?
        {
            return Ok(Unique { values, index: None, inverse: None, counts: None });
        }
        unique(&line, options)
    }

    /// Returns the unique items of a line of items; see [`Array::sort_items`]. Collective.
    pub fn unique_items(&self, order: &dyn ItemOrder, options: UniqueOptions) -> Result<Unique> {
        unique(&Line::of_items(self, order), options)
    }
}

fn unique(line: &Line<'_>, options: UniqueOptions) -> Result<Unique> {
    let peers = &line.peers;
    let starts = line.starts();
    let own = line.with_items(|items| Groups::new(line.order, items, options))?;
    let positions = group_splitters(line, &own.values, options)?;
    let first = starts[peers.rank()] as i64;
    let firsts: Vec<i64> = memory::collect(own.firsts.iter().map(|index| index + first));
    let runs = all_to_all(peers, split_items(line.order, &own.values, &positions))?;
    let lengths: Vec<usize> = runs.iter().map(|run| run.len() / line.order.itemsize()).collect();
    let exchange = |is_needed: bool, column: &[i64]| -> Result<Vec<i64>> {
        match is_needed {
            true => Ok(concatenate(&all_to_all(peers, split(column, &positions))?)),
            false => Ok(Vec::new()),
        }
    };
    let firsts = exchange(options.index, &firsts)?;
    let counts = exchange(options.counts, &own.counts)?;
    let merged = MergedGroups::new(line.order, runs, options)?;
    let totals = concatenate(&allgather(peers, &[merged.starts.len() as u64])?);
    let mut bounds = vec![0];
    totals.iter().for_each(|total| bounds.push(bounds[bounds.len() - 1] + total));
    let column = |values: Vec<i64>| {
        let bytes = memory::copy_of(bytes_of(&values));
        line.array_in_blocks(bytes, DType::Int64, &[], &bounds)
    };
    let index = merged.firsts(&firsts);
    let counts = merged.sums(&counts);
    let inverse = match options.inverse {
        true => {
            let ids = merged.group_of_each(bounds[peers.rank()] as i64);
            let replies = all_to_all(peers, split(&ids, &cumulative(&lengths)))?;
            let ids = concatenate(&replies);
            let inverse: Vec<i64> =
                memory::collect(own.inverse.iter().map(|&group| ids[group as usize]));
            let bytes = memory::copy_of(bytes_of(&inverse));
            Some(line.array_in_blocks(bytes, DType::Int64, &[], &starts)?)
        }
        false => None,
    };
    let mut values = merged.values(line.order);
    line.order.decode(&mut values);
    let row = &line.array.shape()[1..];
    Ok(Unique {
        values: line.array_in_blocks(values, line.array.dtype(), row, &bounds)?,
        index: options.index.then(|| column(index)).transpose()?,
        inverse,
        counts: options.counts.then(|| column(counts)).transpose()?,
    })
}

/// Returns where this rank's unique items are split among ranks, between groups. Collective.
fn group_splitters(line: &Line<'_>, values: &[u8], options: UniqueOptions) -> Result<Vec<usize>> {
    let (order, peers) = (line.order, &line.peers);
    let length = values.len() / order.itemsize();
    let total: u64 = concatenate(&allgather(peers, &[length as u64])?).iter().sum();
    if peers.is_alone {
        return Ok(vec![0, length]);
    }
    let ranks = peers.size() as u64;
    let targets: Vec<u64> = (0..=ranks)
        .map(|at| (u128::from(total) * u128::from(at) / u128::from(ranks)) as u64)
        .collect();
    let positions = splitter_positions(peers, order, values, &targets)?;
    // The smallest item behind a splitter is the smallest of those that the ranks have behind it.
    let next_items = positions[..peers.size()].iter().map(|&at| match at < length {
        true => order.take(values, &[at as i64]),
        false => Vec::new(),
    });
    let next_items = concatenate(&all_to_all(peers, next_items.collect())?);
    let smallest = order.sort(&next_items, next_items.len() / order.itemsize())?;
    let splitter = &smallest[..order.itemsize().min(smallest.len())];
    let splitters = allgather(peers, splitter)?;
    let before = order.groups_before(values, &concatenate(&splitters), !options.distinct_nans)?;
    // Only the last splitters may have no item behind them.
    let mut bounds = vec![0];
    bounds.extend(before.iter().skip(1));
    bounds.resize(peers.size(), length);
    bounds.push(length);
    Ok(bounds)
}

/// The groups of equal items of this rank's block.
struct Groups {
    /// One item of each group, in order.
    values: Vec<u8>,
    /// The position of the first item of each group.
    firsts: Vec<i64>,
    /// The number of items of each group.
    counts: Vec<i64>,
    /// The group of each item.
    inverse: Vec<i64>,
}

impl Groups {
    fn new(order: &dyn ItemOrder, items: &[u8], options: UniqueOptions) -> Result<Self> {
        let length = items.len() / order.itemsize();
        let needs_indices = options.index || options.inverse;
        let (indices, sorted) = match needs_indices {
            true => {
                let indices = order.argsort(items, length)?;
                let sorted = order.take(items, &indices);
                (indices, sorted)
            }
            false => (Vec::new(), order.sort(items, length)?),
        };
        let starts = order.group_starts(&sorted, !options.distinct_nans)?;
        let positions = true_positions(&starts);
        let mut inverse = memory::zeros(if options.inverse { length } else { 0 });
        if options.inverse {
            let mut group = -1;
            for (&index, is_start) in indices.iter().zip(starts) {
                group += i64::from(is_start);
                inverse[index as usize] = group;
            }
        }
        let firsts = match needs_indices {
            true => memory::collect(positions.iter().map(|&at| indices[at as usize])),
            false => Vec::new(),
        };
        let values = order.take(&sorted, &positions);
        Ok(Self { values, firsts, counts: group_lengths(&positions, length), inverse })
    }
}

/// The groups of equal items that the ranks sent.
struct MergedGroups {
    /// The items, in the order of ranks.
    items: Vec<u8>,
    /// The positions of the items in sorted order.
    sorted: Vec<i64>,
    /// Where each group starts in sorted order.
    starts: Vec<i64>,
}

impl MergedGroups {
    fn new(order: &dyn ItemOrder, runs: Vec<Vec<u8>>, options: UniqueOptions) -> Result<Self> {
        let mut next = 0;
        let mut numbered = |run: &Vec<u8>| {
            let start = next;
            next += (run.len() / order.itemsize()) as i64;
            memory::collect(start..next)
        };
        let numbers = runs.iter().map(&mut numbered).collect();
        let items = concatenate(&runs);
        let sorted = order.merge_indices(runs, numbers)?;
        let is_start = order.group_starts(&order.take(&items, &sorted), !options.distinct_nans)?;
        Ok(Self { items, sorted, starts: true_positions(&is_start) })
    }

    fn values(&self, order: &dyn ItemOrder) -> Vec<u8> {
        order.take(&self.items, &self.firsts(&memory::collect(0..self.sorted.len() as i64)))
    }

    /// The entry of the first item of each group.
    fn firsts(&self, column: &[i64]) -> Vec<i64> {
        let first = |&start: &i64| column[self.sorted[start as usize] as usize];
        if column.is_empty() { Vec::new() } else { memory::collect(self.starts.iter().map(first)) }
    }

    /// The sum of the entries of each group.
    fn sums(&self, column: &[i64]) -> Vec<i64> {
        if column.is_empty() {
            return Vec::new();
        }
        let lengths = group_lengths(&self.starts, self.sorted.len());
        let sum = |(&start, length): (&i64, i64)| {
            let group = &self.sorted[start as usize..(start + length) as usize];
            group.iter().map(|&at| column[at as usize]).sum()
        };
        memory::collect(self.starts.iter().zip(lengths).map(sum))
    }

    /// The group of each item, in the order of ranks; groups are counted from `first`.
    fn group_of_each(&self, first: i64) -> Vec<i64> {
        let mut groups = memory::zeros(self.sorted.len());
        let lengths = group_lengths(&self.starts, self.sorted.len());
        for ((group, &start), length) in (first..).zip(&self.starts).zip(lengths) {
            for &at in &self.sorted[start as usize..(start + length) as usize] {
                groups[at as usize] = group;
            }
        }
        groups
    }
}

fn true_positions(mask: &[bool]) -> Vec<i64> {
    memory::collect((0..).zip(mask).filter(|(_, is_true)| **is_true).map(|(at, _)| at))
}

/// The lengths of groups that start at these positions of `length` items.
fn group_lengths(starts: &[i64], length: usize) -> Vec<i64> {
    let ends = starts.iter().skip(1).copied().chain([length as i64]);
    memory::collect(starts.iter().zip(ends).map(|(start, end)| end - start))
}

/// The positions at which parts of these lengths start, and the end of the last.
fn cumulative(lengths: &[usize]) -> Vec<usize> {
    let mut positions = vec![0];
    lengths.iter().for_each(|length| positions.push(positions[positions.len() - 1] + length));
    positions
}
