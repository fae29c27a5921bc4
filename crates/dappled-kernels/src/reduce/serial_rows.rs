//! Reduces the long rows of a block on one thread, several at a time if possible.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::block::{BlockReducer, ReduceBlock};
use crate::config::{ROW_REDUCE_ELEMENTS, ROWS_PER_PASS, TILE_ELEMENTS};
use crate::execute::machine::Machine;
use crate::execute::multi_row::RowBatch;
use crate::execute::registers::RegisterBuffer;
use crate::jit::multi_row::MultiRowLoop;

impl BlockReducer<'_> {
    /// Reduces rows that are longer than a tile.
    pub fn long_rows(self, machine: &mut Machine<'_>, block: &ReduceBlock, accs: &mut [u8]) {
        let all = 0..block.columns.len();
        if !self.order.is_rotated {
            return self.reduce_columns(machine, block, accs, all);
        }
        // Inputs that are the same for all rows stay in their registers.
        for column in all.clone().step_by(TILE_ELEMENTS) {
            self.reduce_columns(machine, block, accs, column..all.end.min(column + TILE_ELEMENTS));
        }
    }

    /// Reduces the same columns of all rows.
    fn reduce_columns(
        self,
        machine: &mut Machine<'_>,
        block: &ReduceBlock,
        accs: &mut [u8],
        columns_range: Range<usize>,
    ) {
        let (width, pitch) = (block.columns.len(), self.order.len);
        let mut strategy = self.row_strategy(machine, block, columns_range.clone());
        let mut at = 0;
        while at < block.units() {
            let unit = block.unit(&self.order.levels, at);
            let start = unit.index * pitch + block.columns.start;
            let accs = &mut accs[self.bytes(unit.acc * width..(unit.acc + 1) * width)];
            let takes_first_value = block.takes_first_value && unit.first;
            let count =
                if takes_first_value { 1 } else { self.rows_left(block, at).min(strategy.rows) };
            for column in columns_range.clone().step_by(strategy.tile) {
                let columns = column..columns_range.end.min(column + strategy.tile);
                let first = start + columns.start..start + columns.end;
                let accs = &mut accs[self.bytes(columns)];
                self.reduce_rows(
                    machine,
                    &mut strategy,
                    &RowBatch { first, pitch, count },
                    accs,
                    takes_first_value,
                );
            }
            at += count;
        }
    }

    /// The number of consecutive rows from this one on that share accumulators.
    fn rows_left(self, block: &ReduceBlock, at: usize) -> usize {
        match (self.order.levels.last(), block.ranges.last()) {
            (Some(level), Some(range)) if !level.kept => range.len() - at % range.len(),
            _ => 1,
        }
    }

    /// Chooses how to reduce these columns of a block's rows.
    fn row_strategy(
        self,
        machine: &Machine<'_>,
        block: &ReduceBlock,
        columns_range: Range<usize>,
    ) -> RowStrategy {
        let alone = RowStrategy {
            rows: 1,
            tile: TILE_ELEMENTS,
            multi_row_loop: None,
            saved_accumulators: RegisterBuffer::default(),
        };
        if self.tree.code.steps.is_empty() {
            return RowStrategy { rows: ROWS_PER_PASS, tile: ROW_REDUCE_ELEMENTS, ..alone };
        }
        let start = block.unit(&self.order.levels, 0).index * self.order.len + block.columns.start;
        let first = start + columns_range.start
            ..start + columns_range.end.min(columns_range.start + ROW_REDUCE_ELEMENTS);
        let count = if self.order.is_rotated { 1 } else { self.rows_left(block, 0) };
        let rows = RowBatch { first, pitch: self.order.len, count };
        match machine.multi_row_loop(self.fold, &rows) {
            Some(multi_row_loop) => RowStrategy {
                rows: multi_row_loop.rows,
                tile: ROW_REDUCE_ELEMENTS,
                multi_row_loop: Some(multi_row_loop),
                ..alone
            },
            None => alone,
        }
    }

    /// Reduces rows into their accumulators; with `takes_first_value`, initialises them with one
    /// row.
    fn reduce_rows(
        self,
        machine: &mut Machine<'_>,
        strategy: &mut RowStrategy,
        rows: &RowBatch,
        accs: &mut [u8],
        takes_first_value: bool,
    ) {
        if !takes_first_value && self.reduce_row_batch(machine, strategy, rows, accs) {
            return;
        }
        let tile =
            if self.tree.code.steps.is_empty() { ROW_REDUCE_ELEMENTS } else { TILE_ELEMENTS };
        for row in rows.ranges() {
            for start in row.clone().step_by(tile) {
                let part = start..row.end.min(start + tile);
                let accs = &mut accs[self.bytes(start - row.start..part.end - row.start)];
                self.reduce_row(accs, machine.compute(part), takes_first_value);
            }
        }
    }

    fn reduce_row_batch(
        self,
        machine: &mut Machine<'_>,
        strategy: &mut RowStrategy,
        rows: &RowBatch,
        accs: &mut [u8],
    ) -> bool {
        if let Some(multi_row_loop) = &strategy.multi_row_loop {
            return machine.reduce_rows(
                multi_row_loop,
                rows,
                accs,
                &mut strategy.saved_accumulators,
            );
        }
        let values: Option<SmallVec<[&[u8]; ROWS_PER_PASS]>> = match rows.count {
            ROWS_PER_PASS => rows.ranges().map(|row| machine.contiguous_values(row)).collect(),
            _ => None,
        };
        let values = values.inspect(|values| self.tree.kernels.reduce_row_batch(accs, values));
        values.is_some()
    }
}

/// How rows are reduced.
struct RowStrategy {
    /// The maximal number of rows at a time.
    rows: usize,
    /// The number of elements of each row at a time.
    tile: usize,
    multi_row_loop: Option<Arc<MultiRowLoop>>,
    /// Scratch memory for the accumulators before a loop.
    saved_accumulators: RegisterBuffer,
}
