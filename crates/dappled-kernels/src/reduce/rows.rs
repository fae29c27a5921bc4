//! Long rows of a block on one thread, several at a time where that can be.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::block::{Block, Work};
use crate::kernels::TOGETHER;
use crate::machine::{Machine, Rows};
use crate::slot::Slot;
use crate::tiles::TILE;
use crate::together::Together;

/// Elements of a row that are folded at once where they go through no register.
const LONG: usize = 8 * TILE;

impl Work<'_> {
    /// Rows of which a tile is a part.
    pub fn long_rows(self, machine: &mut Machine<'_>, block: &Block, accs: &mut [u8]) {
        let all = 0..block.columns.len();
        if !self.order.turned {
            return self.parts_of_rows(machine, block, accs, all);
        }
        // What does not change from row to row stays in its registers.
        for column in all.clone().step_by(TILE) {
            self.parts_of_rows(machine, block, accs, column..all.end.min(column + TILE));
        }
    }

    /// The same columns of all rows.
    fn parts_of_rows(
        self,
        machine: &mut Machine<'_>,
        block: &Block,
        accs: &mut [u8],
        wanted: Range<usize>,
    ) {
        let (width, pitch) = (block.columns.len(), self.order.len);
        let mut way = self.way(machine, block, wanted.clone());
        let mut at = 0;
        while at < block.units() {
            let unit = block.unit(&self.order.levels, at);
            let start = unit.place * pitch + block.columns.start;
            let accs = &mut accs[self.bytes(unit.acc * width..(unit.acc + 1) * width)];
            let fresh = block.fresh && unit.first;
            let count = if fresh { 1 } else { self.rows_left(block, at).min(way.rows) };
            for column in wanted.clone().step_by(way.tile) {
                let columns = column..wanted.end.min(column + way.tile);
                let first = start + columns.start..start + columns.end;
                let accs = &mut accs[self.bytes(columns)];
                self.add(machine, &mut way, &Rows { first, pitch, count }, accs, fresh);
            }
            at += count;
        }
    }

    /// How many rows from this one on follow one another and have the same accumulators.
    fn rows_left(self, block: &Block, at: usize) -> usize {
        match (self.order.levels.last(), block.ranges.last()) {
            (Some(level), Some(range)) if !level.kept => range.len() - at % range.len(),
            _ => 1,
        }
    }

    /// How these columns of a block's rows are folded.
    fn way(self, machine: &Machine<'_>, block: &Block, wanted: Range<usize>) -> Way {
        let alone = Way { rows: 1, tile: TILE, together: None, before: Slot::default() };
        if self.parts.code.steps.is_empty() {
            return Way { rows: TOGETHER, tile: LONG, ..alone };
        }
        let start = block.unit(&self.order.levels, 0).place * self.order.len + block.columns.start;
        let first = start + wanted.start..start + wanted.end.min(wanted.start + LONG);
        let count = if self.order.turned { 1 } else { self.rows_left(block, 0) };
        let rows = Rows { first, pitch: self.order.len, count };
        match machine.together(self.fold, &rows) {
            Some(together) => {
                Way { rows: together.rows, tile: LONG, together: Some(together), ..alone }
            }
            None => alone,
        }
    }

    /// Folds rows into their accumulators; if `fresh`, it is one, which they begin with.
    fn add(
        self,
        machine: &mut Machine<'_>,
        way: &mut Way,
        rows: &Rows,
        accs: &mut [u8],
        fresh: bool,
    ) {
        if !fresh && self.add_at_once(machine, way, rows, accs) {
            return;
        }
        let tile = if self.parts.code.steps.is_empty() { LONG } else { TILE };
        for row in rows.each() {
            for start in row.clone().step_by(tile) {
                let part = start..row.end.min(start + tile);
                let accs = &mut accs[self.bytes(start - row.start..part.end - row.start)];
                self.row(accs, machine.value(part), fresh);
            }
        }
    }

    fn add_at_once(
        self,
        machine: &mut Machine<'_>,
        way: &mut Way,
        rows: &Rows,
        accs: &mut [u8],
    ) -> bool {
        if let Some(together) = &way.together {
            return machine.fold_together(together, rows, accs, &mut way.before);
        }
        let values: Option<SmallVec<[&[u8]; TOGETHER]>> = match rows.count {
            TOGETHER => rows.each().map(|row| machine.in_memory(row)).collect(),
            _ => None,
        };
        let found = values.inspect(|values| self.parts.folder.several_rows(accs, values));
        found.is_some()
    }
}

/// How rows are folded.
struct Way {
    /// How many at a time, at most.
    rows: usize,
    /// Elements of each.
    tile: usize,
    together: Option<Arc<Together>>,
    /// Memory for what accumulators were before a loop.
    before: Slot,
}
