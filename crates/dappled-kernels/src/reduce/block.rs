//! Blocks of accumulators with all their values, split among threads.

use std::ops::Range;

use dappled_base::memory;

use super::numpy_order::{OrderLevel, ReduceOrder};
use super::tree_parts::{RunPartial, TreeReducer};
use crate::config::{
    MAX_PENDING_PARTIALS, MIN_REDUCE_TASK_ELEMENTS, MIN_STRIP_ELEMENTS, REDUCE_BLOCKS_PER_THREAD,
};
use crate::execute::machine::Machine;
use crate::execute::registers::RegisterBuffer;
use crate::loops::reduce::Splitting;
use crate::program::reduce_op::ReduceOp;
use crate::threads::parallel_map::parallel_map;
use crate::types::fp_flags::ReduceFlags;

/// Part of a reduction: a range of each level, and of the columns of its rows.
#[derive(Clone, Debug)]
pub(crate) struct ReduceBlock {
    pub ranges: Vec<Range<usize>>,
    pub columns: Range<usize>,
    /// True if accumulators are initialised with their first value.
    pub takes_first_value: bool,
}

/// One run or row of a block.
pub(crate) struct ReduceUnit {
    /// The position in the order of the reduction.
    pub index: usize,
    /// The accumulator, or the row of accumulators, counted within the block.
    pub acc: usize,
    /// True for the first run or row of its accumulator.
    pub first: bool,
}

impl ReduceBlock {
    pub fn whole(order: &ReduceOrder, takes_first_value: bool) -> Self {
        let ranges = order.levels.iter().map(|level| 0..level.size).collect();
        Self { ranges, columns: 0..order.len, takes_first_value }
    }

    /// The number of runs or rows.
    pub fn units(&self) -> usize {
        self.ranges.iter().map(Range::len).product()
    }

    fn elements(&self) -> usize {
        self.units() * self.columns.len()
    }

    /// The run or row at position `at`.
    pub fn unit(&self, levels: &[OrderLevel], at: usize) -> ReduceUnit {
        let mut unit = ReduceUnit { index: 0, acc: 0, first: true };
        let (mut left, mut position_stride, mut accs) = (at, 1, 1);
        for (range, level) in self.ranges.iter().zip(levels).rev() {
            let index = left % range.len();
            left /= range.len();
            unit.index += (range.start + index) * position_stride;
            position_stride *= level.size;
            if level.kept {
                unit.acc += index * accs;
                accs *= range.len();
            } else {
                unit.first &= index == 0;
            }
        }
        unit
    }

    /// The number of consecutive units that are contiguous, starting at each multiple of that
    /// number.
    pub fn in_sequence(&self, levels: &[OrderLevel]) -> usize {
        let mut count = 1;
        for (range, level) in self.ranges.iter().zip(levels).rev() {
            count *= range.len();
            if range.len() < level.size {
                break;
            }
        }
        count
    }

    /// Splits a level in two halves.
    fn split_level(&self, level: usize) -> (ReduceBlock, ReduceBlock) {
        let Range { start, end } = self.ranges[level];
        let middle = start + (end - start) / 2;
        let (mut left, mut right) = (self.clone(), self.clone());
        left.ranges[level] = start..middle;
        right.ranges[level] = middle..end;
        (left, right)
    }
}

/// A reduction in progress.
#[derive(Clone, Copy)]
pub(crate) struct BlockReducer<'a> {
    pub tree: TreeReducer<'a>,
    pub order: &'a ReduceOrder,
    pub fold: ReduceOp,
}

/// How a block is split among threads.
enum BlockCut {
    /// Along a level whose indices have their own accumulators.
    Kept(usize),
    /// Along the columns of the rows.
    Columns,
    /// Into the runs of one accumulator, which are reduced to partial results in parallel.
    Segments,
    /// Along a level that shares accumulators; those of both halves are combined.
    Shared(usize),
}

impl BlockReducer<'_> {
    /// Reduces a block into its accumulators, in parallel if it is large.
    pub fn reduce_parallel(self, block: ReduceBlock, accs: &mut [u8]) -> ReduceFlags {
        let mut parts = Vec::new();
        self.split_blocks(block, accs, &mut parts);
        join_flags(parallel_map(parts, |(block, accs)| self.reduce_block(block, accs)))
    }

    /// Splits a block into blocks that have their own accumulators.
    fn split_blocks<'m>(
        self,
        block: ReduceBlock,
        accs: &'m mut [u8],
        parts: &mut Vec<(ReduceBlock, &'m mut [u8])>,
    ) {
        let (left, right, middle) = match self.choose_cut(&block) {
            Some(BlockCut::Kept(level)) => {
                let (left, right) = block.split_level(level);
                let middle = accs.len() / block.ranges[level].len() * left.ranges[level].len();
                (left, right, middle)
            }
            Some(BlockCut::Columns) => {
                let Range { start, end } = block.columns;
                let middle = start + (end - start) / 2 / 64 * 64;
                let left = ReduceBlock { columns: start..middle, ..block.clone() };
                let right = ReduceBlock { columns: middle..end, ..block };
                (left, right, (middle - start) * self.tree.kernels.itemsize)
            }
            _ => return parts.push((block, accs)),
        };
        let (first, second) = accs.split_at_mut(middle);
        self.split_blocks(left, first, parts);
        self.split_blocks(right, second, parts);
    }

    fn reduce_block(self, block: ReduceBlock, accs: &mut [u8]) -> ReduceFlags {
        match self.choose_cut(&block) {
            Some(BlockCut::Segments) => self.reduce_segments(&block, accs),
            Some(BlockCut::Shared(level)) => {
                let (left, right) = block.split_level(level);
                let mut memory = RegisterBuffer::default();
                let others = memory.bytes_mut(accs.len());
                let halves = vec![
                    (left, &mut *accs),
                    (ReduceBlock { takes_first_value: true, ..right }, &mut *others),
                ];
                let flags = join_flags(parallel_map(halves, |(block, accs)| {
                    self.reduce_parallel(block, accs)
                }));
                // Exact operations only, so no flag is raised.
                self.tree.kernels.reduce_row(accs, others);
                flags
            }
            _ => self.reduce_serial(&block, accs),
        }
    }

    fn choose_cut(&self, block: &ReduceBlock) -> Option<BlockCut> {
        if block.elements() <= MIN_REDUCE_TASK_ELEMENTS {
            return None;
        }
        // Strips are read with a stride, so there are no more than keep all threads busy.
        let (threads, whole) =
            (rayon::current_num_threads(), ReduceBlock::whole(self.order, false));
        let wide = block.elements() > whole.elements() / (REDUCE_BLOCKS_PER_THREAD * threads);
        let strips =
            if self.order.is_rotated { REDUCE_BLOCKS_PER_THREAD * threads } else { threads };
        let wide_strip = block.elements() > whole.elements() / strips;
        let levels = self.order.levels.iter().zip(&block.ranges).enumerate();
        let mut long = levels.filter(|(_, (_, range))| range.len() > 1);
        let first = long.clone().next().map(|(at, (level, _))| (at, level.kept));
        let kept = long.find(|(_, (level, _))| level.kept).map(|(at, _)| at);
        let apart = |at: usize| self.contiguous_values(block, at) / 2 >= MIN_STRIP_ELEMENTS;
        let columns = self.order.by_rows && block.columns.len() / 2 >= MIN_STRIP_ELEMENTS;
        match (first, kept, self.tree.kernels.splitting) {
            (Some((at, true)), ..) => Some(BlockCut::Kept(at)),
            (_, Some(at), _) if apart(at) && wide => Some(BlockCut::Kept(at)),
            (_, None, _) if columns && wide_strip => Some(BlockCut::Columns),
            (Some((at, false)), _, Splitting::Anywhere) if wide => Some(BlockCut::Shared(at)),
            (Some((at, false)), _, Splitting::Lanes) if wide && self.order.by_rows => {
                Some(BlockCut::Shared(at))
            }
            (_, _, Splitting::Nowhere) => None,
            (_, None, _) if !self.order.by_rows => Some(BlockCut::Segments),
            _ => None,
        }
    }

    /// The number of contiguous values in a level's range.
    fn contiguous_values(&self, block: &ReduceBlock, level: usize) -> usize {
        block.ranges[level..].iter().map(Range::len).product::<usize>() * block.columns.len()
    }

    /// Reduces many runs, or pieces of runs, into one accumulator.
    fn reduce_segments(self, block: &ReduceBlock, acc: &mut [u8]) -> ReduceFlags {
        let pieces = self.order.len.div_ceil(self.order.piece);
        let count = block.units() * pieces;
        let begin = self.segment(block, 0).start;
        let mut flags = ReduceFlags::default();
        if block.takes_first_value {
            let first = |machine: &mut Machine<'_>| {
                acc.copy_from_slice(machine.compute(begin..begin + 1));
            };
            flags = self.tree.with_machine(first).1;
        }
        let mut partials = vec![RunPartial::default(); count.min(MAX_PENDING_PARTIALS)];
        for start in (0..count).step_by(MAX_PENDING_PARTIALS) {
            let partials = &mut partials[..MAX_PENDING_PARTIALS.min(count - start)];
            flags = flags.join(self.summarize_segments(block, start, partials));
            let add = || partials.iter().for_each(|partial| self.tree.add_partial(acc, partial));
            flags.reduction |= self.tree.kernels.with_cpu_flags(add);
        }
        flags
    }

    /// The indices of a piece of a run.
    fn segment(self, block: &ReduceBlock, index: usize) -> Range<usize> {
        let ReduceOrder { len, piece, .. } = *self.order;
        let pieces = len.div_ceil(piece);
        let unit = block.unit(&self.order.levels, index / pieces);
        let start = index % pieces * piece;
        let end = len.min(start.saturating_add(piece));
        unit.index * len + start..unit.index * len + end
    }

    fn summarize_segments(
        self,
        block: &ReduceBlock,
        first: usize,
        partials: &mut [RunPartial],
    ) -> ReduceFlags {
        let each = (MIN_REDUCE_TASK_ELEMENTS / self.order.len.min(self.order.piece)).max(1);
        let parts = partials.chunks_mut(each).enumerate();
        let part = |(at, partials): (usize, &mut [RunPartial])| {
            self.summarize_chunk(block, first + at * each, partials)
        };
        join_flags(parallel_map(memory::collect(parts), part))
    }

    fn summarize_chunk(
        self,
        block: &ReduceBlock,
        first: usize,
        partials: &mut [RunPartial],
    ) -> ReduceFlags {
        let each = |machine: &mut Machine<'_>| {
            for (at, partial) in partials.iter_mut().enumerate() {
                let mut run = self.segment(block, first + at);
                run.start += usize::from(block.takes_first_value && first + at == 0);
                *partial = self.tree.run_partial(machine, run);
            }
        };
        self.tree.with_machine(each).1
    }
}

/// The union of the flags of all parts.
pub(crate) fn join_flags(parts: Vec<ReduceFlags>) -> ReduceFlags {
    parts.into_iter().fold(ReduceFlags::default(), ReduceFlags::join)
}
