//! In-place execution where inputs are shifted views of the output: `u[1:-1] = f(u[:-2], u[2:])`.
//!
//! One pass, without a copy. Tiles are computed in memory order, and each is written when every
//! tile that reads its old elements is computed. Tiles that read elements of another thread's chunk
//! are computed before any write and written last.

use std::collections::VecDeque;

use super::Interpreter;
use super::machine::Machine;
use super::registers::RegisterBuffer;
use crate::config::{MIN_CHUNK_TO_SHIFT_RATIO, TILE_ELEMENTS};
use crate::error::Error;
use crate::iter::bound_operands::{BoundOperands, BufferView, iteration_space};
use crate::iter::iteration_space::{IndexExtent, IterationSpace};
use crate::iter::tiles::{ExclusiveTile, TileIter};
use crate::memory::overlap::may_overlap;
use crate::threads::parallel_map::parallel_map;
use crate::types::fp_flags::StepFlags;

/// The distance in bytes from the output to inputs before it and after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShiftBounds {
    before: usize,
    after: usize,
}

impl Interpreter {
    /// Computes an output that may share memory with inputs, in one pass.
    ///
    /// Returns `None`, with nothing done, if that is impossible: the operands have different
    /// strides, or are too far apart.
    pub fn run_in_place(
        &self,
        inputs: &[BufferView<'_>],
        output: &BufferView<'_>,
    ) -> Result<Option<StepFlags>, Error> {
        // SAFETY: only `Machine::write_delayed` writes below, and its comment states why the
        // elements are not read again; if that cannot be established, this returns before the run.
        let mut bound = unsafe { BoundOperands::overlapping(&self.program, inputs, output)? };
        let shift = shift_bounds(bound.space(), inputs, output).filter(|_| !output.is_empty());
        let Some(shift) = shift else { return Ok(None) };
        let len = bound.schedule(self).map_or(TILE_ELEMENTS, |schedule| schedule.tile_elements);
        let parts = self.chunks_for(bound.space().len());
        let (bound, tiles) = bound.tiles(len);
        let run = InPlaceRun { space: tiles.space(), output: inputs.len(), shift };
        if !run.is_worthwhile(&tiles, parts) {
            return Ok(None);
        }
        let each = tiles.remaining().div_ceil(parts);
        let (parts, raised) = run.split_chunks(self, bound, tiles.chunks(each));
        Ok(Some(raised.join(run.run_chunks(self, bound, parts))))
    }
}

/// True if [`Interpreter::run_over`] can compute this output in one pass, apart from profitability.
pub fn can_run_in_place(inputs: &[BufferView<'_>], output: &BufferView<'_>) -> bool {
    iteration_space(inputs, output)
        .is_some_and(|space| shift_bounds(&space, inputs, output).is_some())
}

/// The shift bounds; `None` if an input overlaps the output with another layout.
fn shift_bounds(
    space: &IterationSpace,
    inputs: &[BufferView<'_>],
    output: &BufferView<'_>,
) -> Option<ShiftBounds> {
    let target = &space.layouts[inputs.len()];
    let mut inner = target.itemsize as isize - 1;
    for (&stride, &size) in target.strides.iter().zip(&space.shape).rev() {
        if stride <= inner && size > 1 {
            return None;
        }
        inner += stride * (size as isize - 1);
    }
    let mut shift = ShiftBounds::default();
    for (input, layout) in inputs.iter().zip(&space.layouts) {
        if !input.buffer().is_same(output.buffer()) || !may_overlap(input.view(), output.view()) {
            continue;
        }
        if layout.strides != target.strides || layout.itemsize != target.itemsize {
            return None;
        }
        // One element more, since an input need not start at an element boundary of the output.
        let (distance, item) = (layout.offset - target.offset, layout.itemsize);
        shift.before = shift.before.max((-distance).max(0) as usize + item);
        shift.after = shift.after.max(distance.max(0) as usize + item);
    }
    (space.rows_per_block == 1).then_some(shift)
}

/// The addresses that tiles of the output are written to.
struct InPlaceRun<'a> {
    space: &'a IterationSpace,
    output: usize,
    shift: ShiftBounds,
}

/// The tiles of one thread.
struct InPlaceChunk<'a> {
    inside: TileIter<'a>,
    /// Tiles that read elements of other chunks, computed before any write.
    edges: Vec<DelayedTile>,
}

/// A computed tile that is not yet written.
struct DelayedTile {
    tile: ExclusiveTile,
    values: RegisterBuffer,
}

impl<'a> InPlaceRun<'a> {
    /// True if chunks are long compared with what they read outside.
    fn is_worthwhile(&self, tiles: &TileIter<'_>, parts: usize) -> bool {
        let (first, last) = self.written_bounds(tiles, 0, tiles.remaining());
        let length = (last - first) as usize / parts;
        parts == 1 || length >= MIN_CHUNK_TO_SHIFT_RATIO * (self.shift.before + self.shift.after)
    }

    /// The byte offsets of the first and the last element that some tiles write.
    fn written_bounds(&self, tiles: &TileIter<'_>, from: usize, to: usize) -> (isize, isize) {
        (
            self.written_byte(tiles.extent(from).indices.start),
            self.written_byte(tiles.extent(to - 1).indices.end - 1),
        )
    }

    /// The byte offset of the last element of an extent in the output.
    fn last_written_byte(&self, extent: &IndexExtent) -> isize {
        let (layout, first) = (&self.space.layouts[self.output], extent.first);
        if first.len < extent.len() {
            return self.written_byte(extent.indices.end - 1);
        }
        let column = (first.column + first.len - 1) as isize;
        self.space.row_offset(layout, first.row) + column * layout.row_stride()
    }

    /// The byte offset of an element in the output.
    fn written_byte(&self, index: usize) -> isize {
        let layout = &self.space.layouts[self.output];
        let run = self.space.extent(index..index + 1).first;
        self.space.row_offset(layout, run.row) + run.column as isize * layout.row_stride()
    }

    /// Computes the edge tiles of all chunks.
    fn split_chunks(
        &self,
        code: &Interpreter,
        bound: &BoundOperands<'_>,
        mut parts: Vec<TileIter<'a>>,
    ) -> (Vec<InPlaceChunk<'a>>, StepFlags) {
        if parts.len() == 1 {
            let all = parts.drain(..).map(|inside| InPlaceChunk { inside, edges: Vec::new() });
            return (all.collect(), StepFlags::default());
        }
        let mut machine = Machine::new(code, bound);
        let parts = parts.into_iter().map(|tiles| self.split_chunk(&mut machine, tiles)).collect();
        (parts, machine.take_step_flags())
    }

    /// Computes the tiles of a chunk that read beyond its ends.
    fn split_chunk(&self, machine: &mut Machine<'_>, tiles: TileIter<'a>) -> InPlaceChunk<'a> {
        let (first, last) = self.written_bounds(&tiles, 0, tiles.remaining());
        let count = tiles.remaining();
        let before = (0..count).take_while(|&at| {
            self.written_byte(tiles.extent(at).indices.start) < first + self.shift.before as isize
        });
        let before = before.count();
        let behind = (before..count).rev().take_while(|&at| {
            self.written_byte(tiles.extent(at).indices.end - 1) + self.shift.after as isize > last
        });
        let behind = behind.count();
        let (front, rest) = tiles.split(before);
        let (inside, end) = rest.split(count - before - behind);
        let edges = front
            .chain(end)
            .map(|tile| machine.compute_delayed(tile, RegisterBuffer::default()))
            .collect();
        InPlaceChunk { inside, edges }
    }

    /// Runs all chunks in parallel.
    fn run_chunks(
        &self,
        code: &Interpreter,
        bound: &BoundOperands<'_>,
        parts: Vec<InPlaceChunk<'a>>,
    ) -> StepFlags {
        let run = |part| {
            let mut machine = Machine::new(code, bound);
            self.run_chunk(&mut machine, part);
            machine.take_step_flags()
        };
        parallel_map(parts, run).into_iter().fold(StepFlags::default(), StepFlags::join)
    }

    fn run_chunk(&self, machine: &mut Machine<'_>, part: InPlaceChunk<'a>) {
        let mut waiting: VecDeque<(isize, DelayedTile)> = VecDeque::new();
        let mut spare: Vec<RegisterBuffer> = Vec::new();
        for tile in part.inside {
            let last = self.last_written_byte(tile.extent());
            waiting
                .push_back((last, machine.compute_delayed(tile, spare.pop().unwrap_or_default())));
            let is_read =
                |(end, _): &(isize, DelayedTile)| end + self.shift.before as isize <= last;
            while waiting.front().is_some_and(is_read) {
                spare
                    .extend(waiting.pop_front().map(|(_, delayed)| machine.write_delayed(delayed)));
            }
        }
        waiting.into_iter().for_each(|(_, delayed)| drop(machine.write_delayed(delayed)));
        part.edges.into_iter().for_each(|delayed| drop(machine.write_delayed(delayed)));
    }
}

impl Machine<'_> {
    /// Computes a tile and keeps its values.
    fn compute_delayed(&mut self, tile: ExclusiveTile, mut values: RegisterBuffer) -> DelayedTile {
        self.compute_into(tile.extent(), &mut values);
        DelayedTile { tile, values }
    }

    /// Writes a delayed tile and returns its register for reuse.
    fn write_delayed(&mut self, delayed: DelayedTile) -> RegisterBuffer {
        let operand = self.bound.output(0);
        let extent = delayed.tile.extent();
        let from = delayed.values.bytes(extent.len() * operand.layout.itemsize).as_ptr();
        // SAFETY: only the owner of the tile writes these indices, and they are not read again:
        // tiles of the same chunk that read them are already computed, as the tiles up to `before`
        // bytes behind are, and later ones read nothing that far back; tiles of other chunks that
        // read them were computed before any write.
        unsafe { operand.scatter(extent, from) };
        delayed.values
    }
}
