//! Reduces a block on one thread: values are computed tile by tile and reduced immediately.

use std::ops::Range;

use super::block::{BlockReducer, ReduceBlock};
use crate::config::TILE_ELEMENTS;
use crate::execute::machine::Machine;
use crate::types::fp_flags::ReduceFlags;

impl BlockReducer<'_> {
    pub fn reduce_serial(self, block: &ReduceBlock, accs: &mut [u8]) -> ReduceFlags {
        let whole_rows = block.columns.len() == self.order.len;
        let work =
            |machine: &mut Machine<'_>| match (self.order.by_rows, self.order.len <= TILE_ELEMENTS)
            {
                (_, true) if whole_rows => self.short(machine, block, accs),
                (true, _) => self.long_rows(machine, block, accs),
                (false, _) => self.long_runs(machine, block, accs),
            };
        self.tree.with_machine(work).1
    }

    /// Reduces runs that are longer than a tile.
    fn long_runs(self, machine: &mut Machine<'_>, block: &ReduceBlock, accs: &mut [u8]) {
        let len = self.order.len;
        for at in 0..block.units() {
            let unit = block.unit(&self.order.levels, at);
            let acc = &mut accs[self.bytes(unit.acc..unit.acc + 1)];
            let start = unit.index * len;
            for piece in (0..len).step_by(self.order.piece) {
                let end = start + len.min(piece.saturating_add(self.order.piece));
                let mut run = start + piece..end;
                if block.takes_first_value && unit.first && piece == 0 {
                    acc.copy_from_slice(machine.compute(run.start..run.start + 1));
                    run.start += 1;
                }
                self.tree.reduce_run(machine, acc, run);
            }
        }
    }

    /// Reduces runs or rows of which a tile holds one or more.
    fn short(self, machine: &mut Machine<'_>, block: &ReduceBlock, accs: &mut [u8]) {
        let (len, units) = (self.order.len, block.units());
        let in_sequence = block.in_sequence(&self.order.levels);
        let last = block.ranges.last().map_or(1, Range::len);
        let mut at = 0;
        while at < units {
            let count = (TILE_ELEMENTS / len).min(in_sequence - at % in_sequence);
            let index = block.unit(&self.order.levels, at).index;
            let mut values = machine.compute(index * len..(index + count) * len);
            let end = at + count;
            while at < end {
                let stretch = (last - at % last).min(end - at);
                let (now, later) = values.split_at(self.bytes(0..stretch * len).end);
                self.reduce_units(block, at, stretch, now, accs);
                values = later;
                at += stretch;
            }
        }
    }

    /// Reduces consecutive units of the last level.
    fn reduce_units(
        self,
        block: &ReduceBlock,
        at: usize,
        count: usize,
        values: &[u8],
        accs: &mut [u8],
    ) {
        let unit = block.unit(&self.order.levels, at);
        let takes_first_value = block.takes_first_value && unit.first;
        if self.order.levels.last().is_none_or(|level| level.kept) && !self.order.by_rows {
            let accs = &mut accs[self.bytes(unit.acc..unit.acc + count)];
            return self.tree.kernels.reduce_runs(accs, values, takes_first_value);
        }
        let len = self.bytes(0..self.order.len).end;
        if self.order.by_rows {
            let accs = &mut accs[unit.acc * len..(unit.acc + 1) * len];
            return self.tree.kernels.reduce_all_rows(accs, values, takes_first_value);
        }
        let acc = &mut accs[self.bytes(unit.acc..unit.acc + 1)];
        for (at, values) in values.chunks_exact(len).enumerate() {
            self.tree.kernels.reduce_runs(acc, values, takes_first_value && at == 0);
        }
    }

    pub fn reduce_row(self, accs: &mut [u8], values: &[u8], takes_first_value: bool) {
        match takes_first_value {
            true => accs.copy_from_slice(values),
            false => self.tree.kernels.reduce_row(accs, values),
        }
    }

    pub fn bytes(self, items: Range<usize>) -> Range<usize> {
        let item = self.tree.kernels.itemsize;
        items.start * item..items.end * item
    }
}
