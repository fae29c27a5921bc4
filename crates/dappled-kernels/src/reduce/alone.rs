//! A block on one thread: values are computed tile by tile and folded at once.

use std::ops::Range;

use super::block::{Block, Work};
use crate::Folded;
use crate::machine::Machine;
use crate::tiles::TILE;

impl Work<'_> {
    pub fn alone(self, block: &Block, accs: &mut [u8]) -> Folded {
        let whole_rows = block.columns.len() == self.order.len;
        let work = |machine: &mut Machine<'_>| match (self.order.by_rows, self.order.len <= TILE) {
            (_, true) if whole_rows => self.short(machine, block, accs),
            (true, _) => self.long_rows(machine, block, accs),
            (false, _) => self.long_runs(machine, block, accs),
        };
        self.parts.with_machine(work).1
    }

    /// Runs of which a tile is a part.
    fn long_runs(self, machine: &mut Machine<'_>, block: &Block, accs: &mut [u8]) {
        let len = self.order.len;
        for at in 0..block.units() {
            let unit = block.unit(&self.order.levels, at);
            let acc = &mut accs[self.bytes(unit.acc..unit.acc + 1)];
            let start = unit.place * len;
            for piece in (0..len).step_by(self.order.piece) {
                let end = start + len.min(piece.saturating_add(self.order.piece));
                let mut run = start + piece..end;
                if block.fresh && unit.first && piece == 0 {
                    acc.copy_from_slice(machine.value(run.start..run.start + 1));
                    run.start += 1;
                }
                self.parts.run(machine, acc, run);
            }
        }
    }

    /// Runs or rows of which a tile holds one or more.
    fn short(self, machine: &mut Machine<'_>, block: &Block, accs: &mut [u8]) {
        let (len, units) = (self.order.len, block.units());
        let in_sequence = block.in_sequence(&self.order.levels);
        let last = block.ranges.last().map_or(1, Range::len);
        let mut at = 0;
        while at < units {
            let count = (TILE / len).min(in_sequence - at % in_sequence);
            let place = block.unit(&self.order.levels, at).place;
            let mut values = machine.value(place * len..(place + count) * len);
            let end = at + count;
            while at < end {
                let stretch = (last - at % last).min(end - at);
                let (now, later) = values.split_at(self.bytes(0..stretch * len).end);
                self.stretch(block, at, stretch, now, accs);
                values = later;
                at += stretch;
            }
        }
    }

    /// Some units along the last level.
    fn stretch(self, block: &Block, at: usize, count: usize, values: &[u8], accs: &mut [u8]) {
        let unit = block.unit(&self.order.levels, at);
        let fresh = block.fresh && unit.first;
        if self.order.levels.last().is_none_or(|level| level.kept) && !self.order.by_rows {
            let accs = &mut accs[self.bytes(unit.acc..unit.acc + count)];
            return self.parts.folder.runs(accs, values, fresh);
        }
        let len = self.bytes(0..self.order.len).end;
        if self.order.by_rows {
            let accs = &mut accs[unit.acc * len..(unit.acc + 1) * len];
            return self.parts.folder.all_rows(accs, values, fresh);
        }
        let acc = &mut accs[self.bytes(unit.acc..unit.acc + 1)];
        for (at, values) in values.chunks_exact(len).enumerate() {
            self.parts.folder.runs(acc, values, fresh && at == 0);
        }
    }

    pub fn row(self, accs: &mut [u8], values: &[u8], fresh: bool) {
        match fresh {
            true => accs.copy_from_slice(values),
            false => self.parts.folder.rows(accs, values),
        }
    }

    pub fn bytes(self, items: Range<usize>) -> Range<usize> {
        let item = self.parts.folder.itemsize;
        items.start * item..items.end * item
    }
}
