//! Some accumulators with all their values, cut among threads.

use std::ops::Range;

use dappled_base::memory;

use super::order::{Level, Order};
use super::parts::{PART, Parts, Summary};
use crate::kernels::Cuts;
use crate::machine::Machine;
use crate::share::share;
use crate::slot::Slot;
use crate::{Fold, Folded};

/// Values of one accumulator's neighbours that are worth a strip of their own: what lies between
/// two strips' rows is read by another thread.
const STRIP: usize = 512;

/// Blocks for each thread: more than one, so that a thread that was late does not delay all. Not of
/// strips, which are read the more slowly the narrower they are.
const BLOCKS: usize = 2;

/// Runs that are summed up before their accumulator takes them.
const SEGMENTS: usize = 1024;

/// Part of an order: a range of each level, and of the columns of its rows.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub ranges: Vec<Range<usize>>,
    pub columns: Range<usize>,
    /// Do accumulators take their first value as it is?
    pub fresh: bool,
}

/// Where a run or a row is.
pub(crate) struct Unit {
    /// Which one in the order.
    pub place: usize,
    /// Which accumulator it has, or which row of them, counted in the block.
    pub acc: usize,
    /// Is it the first of its accumulator?
    pub first: bool,
}

impl Block {
    pub fn whole(order: &Order, fresh: bool) -> Self {
        let ranges = order.levels.iter().map(|level| 0..level.size).collect();
        Self { ranges, columns: 0..order.len, fresh }
    }

    /// How many runs or rows.
    pub fn units(&self) -> usize {
        self.ranges.iter().map(Range::len).product()
    }

    fn elements(&self) -> usize {
        self.units() * self.columns.len()
    }

    /// The run or row number `at`.
    pub fn unit(&self, levels: &[Level], at: usize) -> Unit {
        let mut unit = Unit { place: 0, acc: 0, first: true };
        let (mut left, mut places, mut accs) = (at, 1, 1);
        for (range, level) in self.ranges.iter().zip(levels).rev() {
            let index = left % range.len();
            left /= range.len();
            unit.place += (range.start + index) * places;
            places *= level.size;
            if level.kept {
                unit.acc += index * accs;
                accs *= range.len();
            } else {
                unit.first &= index == 0;
            }
        }
        unit
    }

    /// How many units lie one after the other, from every multiple of that many on.
    pub fn in_sequence(&self, levels: &[Level]) -> usize {
        let mut count = 1;
        for (range, level) in self.ranges.iter().zip(levels).rev() {
            count *= range.len();
            if range.len() < level.size {
                break;
            }
        }
        count
    }

    /// Two halves of one level.
    fn halve(&self, level: usize) -> (Block, Block) {
        let Range { start, end } = self.ranges[level];
        let middle = start + (end - start) / 2;
        let (mut left, mut right) = (self.clone(), self.clone());
        left.ranges[level] = start..middle;
        right.ranges[level] = middle..end;
        (left, right)
    }
}

/// A reduction that is being done.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub parts: Parts<'a>,
    pub order: &'a Order,
    pub fold: Fold,
}

/// How a block can be done on several threads.
enum Cut {
    /// A level whose indices have their own accumulators.
    Kept(usize),
    /// The columns of rows.
    Columns,
    /// One accumulator takes runs, which are summed up at the same time.
    Segments,
    /// A level that shares accumulators: those of both halves are folded.
    Shared(usize),
}

impl Work<'_> {
    /// Folds a block into its accumulators, on as many threads as it is worth.
    pub fn share(self, block: Block, accs: &mut [u8]) -> Folded {
        let mut parts = Vec::new();
        self.apart(block, accs, &mut parts);
        joined(share(parts, |(block, accs)| self.part(block, accs)))
    }

    /// Parts of a block that have their own accumulators.
    fn apart<'m>(self, block: Block, accs: &'m mut [u8], parts: &mut Vec<(Block, &'m mut [u8])>) {
        let (left, right, middle) = match self.cut(&block) {
            Some(Cut::Kept(level)) => {
                let (left, right) = block.halve(level);
                let middle = accs.len() / block.ranges[level].len() * left.ranges[level].len();
                (left, right, middle)
            }
            Some(Cut::Columns) => {
                let Range { start, end } = block.columns;
                let middle = start + (end - start) / 2 / 64 * 64;
                let left = Block { columns: start..middle, ..block.clone() };
                let right = Block { columns: middle..end, ..block };
                (left, right, (middle - start) * self.parts.folder.itemsize)
            }
            _ => return parts.push((block, accs)),
        };
        let (first, second) = accs.split_at_mut(middle);
        self.apart(left, first, parts);
        self.apart(right, second, parts);
    }

    fn part(self, block: Block, accs: &mut [u8]) -> Folded {
        match self.cut(&block) {
            Some(Cut::Segments) => self.segments(&block, accs),
            Some(Cut::Shared(level)) => {
                let (left, right) = block.halve(level);
                let mut memory = Slot::default();
                let others = memory.bytes_mut(accs.len());
                let halves =
                    vec![(left, &mut *accs), (Block { fresh: true, ..right }, &mut *others)];
                let folded = joined(share(halves, |(block, accs)| self.share(block, accs)));
                // Exact, so it signals nothing.
                self.parts.folder.rows(accs, others);
                folded
            }
            _ => self.alone(&block, accs),
        }
    }

    fn cut(&self, block: &Block) -> Option<Cut> {
        if block.elements() <= PART {
            return None;
        }
        // Strips are read in steps, so they are no more than keep all threads busy.
        let (threads, whole) = (rayon::current_num_threads(), Block::whole(self.order, false));
        let wide = block.elements() > whole.elements() / (BLOCKS * threads);
        let strips = if self.order.turned { BLOCKS * threads } else { threads };
        let wide_strip = block.elements() > whole.elements() / strips;
        let levels = self.order.levels.iter().zip(&block.ranges).enumerate();
        let mut long = levels.filter(|(_, (_, range))| range.len() > 1);
        let first = long.clone().next().map(|(at, (level, _))| (at, level.kept));
        let kept = long.find(|(_, (level, _))| level.kept).map(|(at, _)| at);
        let apart = |at: usize| self.width(block, at) / 2 >= STRIP;
        let columns = self.order.by_rows && block.columns.len() / 2 >= STRIP;
        match (first, kept, self.parts.folder.cuts) {
            (Some((at, true)), ..) => Some(Cut::Kept(at)),
            (_, Some(at), _) if apart(at) && wide => Some(Cut::Kept(at)),
            (_, None, _) if columns && wide_strip => Some(Cut::Columns),
            (Some((at, false)), _, Cuts::Anywhere) if wide => Some(Cut::Shared(at)),
            (Some((at, false)), _, Cuts::Lanes) if wide && self.order.by_rows => {
                Some(Cut::Shared(at))
            }
            (_, _, Cuts::Nowhere) => None,
            (_, None, _) if !self.order.by_rows => Some(Cut::Segments),
            _ => None,
        }
    }

    /// Values that lie one after the other in a level's range.
    fn width(&self, block: &Block, level: usize) -> usize {
        block.ranges[level..].iter().map(Range::len).product::<usize>() * block.columns.len()
    }

    /// One accumulator and many runs, or pieces of runs.
    fn segments(self, block: &Block, acc: &mut [u8]) -> Folded {
        let pieces = self.order.len.div_ceil(self.order.piece);
        let count = block.units() * pieces;
        let begin = self.segment(block, 0).start;
        let mut folded = Folded::default();
        if block.fresh {
            let first = |machine: &mut Machine<'_>| {
                acc.copy_from_slice(machine.value(begin..begin + 1));
            };
            folded = self.parts.with_machine(first).1;
        }
        let mut summaries = vec![Summary::default(); count.min(SEGMENTS)];
        for start in (0..count).step_by(SEGMENTS) {
            let summaries = &mut summaries[..SEGMENTS.min(count - start)];
            folded = folded.join(self.sum_up(block, start, summaries));
            let add = || summaries.iter().for_each(|summary| self.parts.add(acc, summary));
            folded.folding |= self.parts.folder.watch(add);
        }
        folded
    }

    /// The values of a run's piece, without the one that its accumulator began with.
    fn segment(self, block: &Block, number: usize) -> Range<usize> {
        let Order { len, piece, .. } = *self.order;
        let pieces = len.div_ceil(piece);
        let unit = block.unit(&self.order.levels, number / pieces);
        let start = number % pieces * piece;
        let end = len.min(start.saturating_add(piece));
        unit.place * len + start..unit.place * len + end
    }

    fn sum_up(self, block: &Block, first: usize, summaries: &mut [Summary]) -> Folded {
        let each = (PART / self.order.len.min(self.order.piece)).max(1);
        let parts = summaries.chunks_mut(each).enumerate();
        let part = |(at, summaries): (usize, &mut [Summary])| {
            self.summed_up(block, first + at * each, summaries)
        };
        joined(share(memory::collected(parts), part))
    }

    fn summed_up(self, block: &Block, first: usize, summaries: &mut [Summary]) -> Folded {
        let each = |machine: &mut Machine<'_>| {
            for (at, summary) in summaries.iter_mut().enumerate() {
                let mut run = self.segment(block, first + at);
                run.start += usize::from(block.fresh && first + at == 0);
                *summary = self.parts.summary(machine, run);
            }
        };
        self.parts.with_machine(each).1
    }
}

/// What all parts have signalled.
pub(crate) fn joined(parts: Vec<Folded>) -> Folded {
    parts.into_iter().fold(Folded::default(), Folded::join)
}
