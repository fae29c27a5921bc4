//! A run whose output lies in the memory that its inputs are read from, a little aside:
//! `u[1:-1] = f(u[:-2], u[2:])`, in one pass and without a copy.
//!
//! Tiles are computed in the order of memory, and each is written when all that read what was there
//! are computed. What one thread's tiles read of another's is computed first of all, before anything
//! is written, and written last.

use std::collections::VecDeque;

use super::Machine;
use crate::bind::{Bound, Operand, space_of};
use crate::execute::Interpreter;
use crate::share::share;
use crate::slot::Slot;
use crate::space::{Extent, Space};
use crate::tiles::{TILE, Tile, Tiles};
use crate::{Error, Raised, may_overlap};

/// How far inputs are from the output, in bytes: before it and behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    back: usize,
    forth: usize,
}

/// A part must be so many times as long as it reaches.
const WORTH: usize = 4;

impl Interpreter {
    /// Computes an output that may share memory with inputs. None, with nothing done, where that
    /// can't be in one pass: they lie in different ways, or too far from each other.
    pub fn run_over(
        &self,
        inputs: &[Operand<'_>],
        output: &Operand<'_>,
    ) -> Result<Option<Raised>, Error> {
        // SAFETY: nothing is written below but by `Machine::write`, which says why nobody reads the
        // elements that it writes any more; where that can't be told, this ends before the run.
        let mut bound = unsafe { Bound::over(&self.program, inputs, output)? };
        let found = reach(bound.space(), inputs, output).filter(|_| !output.is_empty());
        let Some(reach) = found else { return Ok(None) };
        let len = bound.plan(self).map_or(TILE, |plan| plan.tile);
        let parts = self.parts_of(bound.space().len());
        let (bound, tiles) = bound.tiles(len);
        let places = Places { space: tiles.space(), output: inputs.len(), reach };
        if !places.is_worth(&tiles, parts) {
            return Ok(None);
        }
        let each = tiles.left().div_ceil(parts);
        let (parts, raised) = places.parts(self, bound, tiles.in_parts(each));
        Ok(Some(raised.join(places.run(self, bound, parts))))
    }
}

/// Does an output lie so that [`Interpreter::run_over`] can be in one pass, if it is worth while?
pub fn lies_over(inputs: &[Operand<'_>], output: &Operand<'_>) -> bool {
    space_of(inputs, output).is_some_and(|space| reach(&space, inputs, output).is_some())
}

/// None where an input may touch what is written, and does not lie as it does.
fn reach(space: &Space, inputs: &[Operand<'_>], output: &Operand<'_>) -> Option<Reach> {
    let target = &space.tracks[inputs.len()];
    let mut inner = target.itemsize as isize - 1;
    for (&stride, &size) in target.strides.iter().zip(&space.shape).rev() {
        if stride <= inner && size > 1 {
            return None;
        }
        inner += stride * (size as isize - 1);
    }
    let mut reach = Reach::default();
    for (input, track) in inputs.iter().zip(&space.tracks) {
        if !input.buffer().is_same(output.buffer()) || !may_overlap(input.view(), output.view()) {
            continue;
        }
        if track.strides != target.strides || track.itemsize != target.itemsize {
            return None;
        }
        // An element more: what is read need not begin where an element is written.
        let (ahead, item) = (track.offset - target.offset, track.itemsize);
        reach.back = reach.back.max((-ahead).max(0) as usize + item);
        reach.forth = reach.forth.max(ahead.max(0) as usize + item);
    }
    (space.deep == 1).then_some(reach)
}

/// What is known of where tiles are written.
struct Places<'a> {
    space: &'a Space,
    output: usize,
    reach: Reach,
}

/// One thread's tiles.
struct Part<'a> {
    inside: Tiles<'a>,
    /// Those that read what others write, computed before.
    edges: Vec<Held>,
}

/// A tile and its values, to be written later.
struct Held {
    tile: Tile,
    values: Slot,
}

impl<'a> Places<'a> {
    /// Is a part long enough for what it reads outside of it?
    fn is_worth(&self, tiles: &Tiles<'_>, parts: usize) -> bool {
        let (first, last) = self.ends(tiles, 0, tiles.left());
        let length = (last - first) as usize / parts;
        parts == 1 || length >= WORTH * (self.reach.back + self.reach.forth)
    }

    /// Where the first element of some tiles is written, and the last.
    fn ends(&self, tiles: &Tiles<'_>, from: usize, to: usize) -> (isize, isize) {
        (
            self.place(tiles.extent(from).indices.start),
            self.place(tiles.extent(to - 1).indices.end - 1),
        )
    }

    /// The byte at which the last element of an extent is written.
    fn end(&self, extent: &Extent) -> isize {
        let (track, first) = (&self.space.tracks[self.output], extent.first);
        if first.len < extent.len() {
            return self.place(extent.indices.end - 1);
        }
        let column = (first.column + first.len - 1) as isize;
        self.space.row_offset(track, first.row) + column * track.row_stride()
    }

    /// The byte at which an element is written.
    fn place(&self, index: usize) -> isize {
        let track = &self.space.tracks[self.output];
        let run = self.space.extent(index..index + 1).first;
        self.space.row_offset(track, run.row) + run.column as isize * track.row_stride()
    }

    /// The parts, with what reads beyond their ends computed.
    fn parts(
        &self,
        code: &Interpreter,
        bound: &Bound<'_>,
        mut parts: Vec<Tiles<'a>>,
    ) -> (Vec<Part<'a>>, Raised) {
        if parts.len() == 1 {
            let all = parts.drain(..).map(|inside| Part { inside, edges: Vec::new() });
            return (all.collect(), Raised::default());
        }
        let mut machine = Machine::new(code, bound);
        let parts = parts.into_iter().map(|tiles| self.part(&mut machine, tiles)).collect();
        (parts, machine.take_raised())
    }

    /// Computes the tiles of a part that read beyond its ends.
    fn part(&self, machine: &mut Machine<'_>, tiles: Tiles<'a>) -> Part<'a> {
        let (first, last) = self.ends(&tiles, 0, tiles.left());
        let count = tiles.left();
        let before = (0..count).take_while(|&at| {
            self.place(tiles.extent(at).indices.start) < first + self.reach.back as isize
        });
        let before = before.count();
        let behind = (before..count).rev().take_while(|&at| {
            self.place(tiles.extent(at).indices.end - 1) + self.reach.forth as isize > last
        });
        let behind = behind.count();
        let (front, rest) = tiles.split(before);
        let (inside, end) = rest.split(count - before - behind);
        let edges = front.chain(end).map(|tile| machine.held(tile, Slot::default())).collect();
        Part { inside, edges }
    }

    /// Runs all parts on whichever thread is free.
    fn run(&self, code: &Interpreter, bound: &Bound<'_>, parts: Vec<Part<'a>>) -> Raised {
        let run = |part| {
            let mut machine = Machine::new(code, bound);
            self.run_part(&mut machine, part);
            machine.take_raised()
        };
        share(parts, run).into_iter().fold(Raised::default(), Raised::join)
    }

    fn run_part(&self, machine: &mut Machine<'_>, part: Part<'a>) {
        let mut waiting: VecDeque<(isize, Held)> = VecDeque::new();
        let mut spare: Vec<Slot> = Vec::new();
        for tile in part.inside {
            let last = self.end(tile.extent());
            waiting.push_back((last, machine.held(tile, spare.pop().unwrap_or_default())));
            let is_read = |(end, _): &(isize, Held)| end + self.reach.back as isize <= last;
            while waiting.front().is_some_and(is_read) {
                spare.extend(waiting.pop_front().map(|(_, held)| machine.write(held)));
            }
        }
        waiting.into_iter().for_each(|(_, held)| drop(machine.write(held)));
        part.edges.into_iter().for_each(|held| drop(machine.write(held)));
    }
}

impl Machine<'_> {
    /// Computes a tile, and keeps its values.
    fn held(&mut self, tile: Tile, mut values: Slot) -> Held {
        self.value_into(tile.extent(), &mut values);
        Held { tile, values }
    }

    /// Writes a tile that was computed, and gives its memory back.
    fn write(&mut self, held: Held) -> Slot {
        let lane = self.bound.output(0);
        let extent = held.tile.extent();
        let from = held.values.bytes(extent.len() * lane.track.itemsize).as_ptr();
        // SAFETY: only the holder of the tile writes these indices. Nobody reads them any more:
        // tiles of the same part that do are computed by now, as those behind it at a distance of
        // up to `back` are and none after it reads what lies before; tiles of other parts that do
        // were computed before any was written.
        unsafe { lane.scatter(extent, from) };
        held.values
    }
}
