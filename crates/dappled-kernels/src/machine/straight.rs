//! A tile that one compiled loop does, all operands of which lie straight: they are looked at once,
//! and then each tile is a few additions and a call.

use dappled_base::interrupt;
use smallvec::SmallVec;

use super::{Machine, TILES};
use crate::bind::Bound;
use crate::execute::Interpreter;
use crate::kernels::status;
use crate::lane::Lane;
use crate::plan::{LoopStage, Plan, Read, Stage, Write};
use crate::space::{Extent, Run};
use crate::tiles::{SHORT_ROW, Tile, Tiles};

/// Where a loop's operands are in every tile.
pub(super) struct Straight<'a> {
    stage: &'a LoopStage,
    reads: SmallVec<[Line<'a>; 8]>,
    /// The outputs, where all are written in place.
    writes: Option<SmallVec<[Line<'a>; 2]>>,
    /// Is its only result the value?
    is_value: bool,
}

/// Elements one after the other along each row, or one element for each row, or for all.
pub(super) enum Line<'a> {
    Row(Lane<'a>),
    One(*mut u8),
}

impl Line<'_> {
    #[inline]
    pub fn start(&self, run: Run) -> *mut u8 {
        match self {
            Self::Row(lane) => lane.start(run),
            Self::One(start) => *start,
        }
    }

    /// How far it is from row to row.
    fn step(&self) -> Option<isize> {
        match self {
            Self::Row(lane) => match lane.track.strides[..] {
                [step, _] => Some(step),
                _ => None,
            },
            Self::One(_) => Some(0),
        }
    }
}

pub(super) type Operands = SmallVec<[*mut u8; 16]>;

/// Where what a loop reads lies; None where some of it does not lie straight.
pub(super) fn reads<'a>(
    stage: &LoopStage,
    code: &'a Interpreter,
    bound: &'a Bound<'_>,
) -> Option<SmallVec<[Line<'a>; 8]>> {
    let inputs = code.program.inputs.len();
    let read = |read: &Read| match read.from.slot.checked_sub(inputs) {
        Some(constant) => {
            let constant = code.program.constants.get(constant)?;
            read.repeated.then(|| Line::One(constant.bytes().as_ptr().cast_mut()))
        }
        None => {
            let lane = bound.input(read.from.slot);
            (read.repeated || lane.is_straight()).then_some(Line::Row(lane))
        }
    };
    stage.reads.iter().map(read).collect()
}

impl<'a> Straight<'a> {
    pub fn new(code: &'a Interpreter, bound: &'a Bound<'_>, plan: &'a Plan) -> Option<Self> {
        let [Stage::Loop(stage)] = &plan.stages[..] else { return None };
        let space = bound.space();
        if space.deep > 1 || space.row() < SHORT_ROW || stage.writes.is_empty() {
            return None;
        }
        let reads = reads(stage, code, bound)?;
        let write = |write: &Write| {
            let output = write.direct.filter(|&at| bound.has_outputs() && !bound.shared[at])?;
            let lane = bound.output(output);
            lane.is_straight().then_some(Line::Row(lane))
        };
        // An output that is an input, or is there twice, is not the loop's to write.
        let makes_all = stage.writes.len() == plan.outputs.len();
        let writes = makes_all.then(|| stage.writes.iter().map(write).collect()).flatten();
        let first = plan.outputs.first().map(|output| output.slot);
        let is_value = stage.writes.len() == 1 && first == Some(stage.writes[0].to.slot);
        Some(Self { stage, reads, writes, is_value })
    }

    fn operands(&self, run: Run) -> Operands {
        self.reads.iter().map(|line| line.start(run)).collect()
    }

    /// Where all operands are in the first of some rows, and how far it is from row to row; None where
    /// rows do not lie on one line.
    fn rows(&self, first: Run) -> Option<(Operands, SmallVec<[isize; 16]>)> {
        let writes = self.writes.as_ref()?;
        let lines = || self.reads.iter().chain(writes);
        let steps = lines().map(Line::step).collect::<Option<_>>()?;
        Some((lines().map(|line| line.start(first)).collect(), steps))
    }

    /// Can it do these indices?
    fn fits(&self, extent: &Extent) -> bool {
        extent.first.len == extent.len() && extent.len() >= self.stage.code.least()
    }
}

impl Machine<'_> {
    /// Computes all tiles into the outputs.
    pub fn run_all(&mut self, tiles: Tiles<'_>) {
        let left = self.run_rows(tiles);
        left.for_each(|tile| self.run(tile));
    }

    /// Computes as many of the tiles as are rows on which nothing is signalled, and gives the others.
    fn run_rows<'t>(&mut self, tiles: Tiles<'t>) -> Tiles<'t> {
        let (Some(rows), Some(straight)) = (tiles.rows(), &self.straight) else { return tiles };
        let (stage, len) = (straight.stage, self.space.row());
        let first = Run { row: rows.start, column: 0, len };
        let Some((mut operands, steps)) = straight.rows(first) else { return tiles };
        let Some(plan) = self.usable_plan(len).filter(|_| len >= stage.code.least()) else {
            return tiles;
        };
        for row in rows.clone() {
            if row.is_multiple_of(TILES) && self.bound.may_end {
                interrupt::poll();
            }
            // SAFETY: pointers to as many elements as the row has, in each operand, or to one element
            // where it is repeated: inside claimed buffers, or constants. Only the holder of the
            // tiles writes the outputs, which are no inputs.
            unsafe { stage.code.call(&operands, len) };
            if status::is_raised() {
                self.attribute_stages(plan, &self.space.extent(row * len..(row + 1) * len));
                return tiles.split(row + 1 - rows.start).1;
            }
            for (operand, &step) in operands.iter_mut().zip(&steps) {
                *operand = operand.wrapping_offset(step);
            }
        }
        tiles.split(rows.len()).1
    }

    /// Computes a tile into its outputs; false, with nothing done, where that is not so simple.
    pub(super) fn run_straight(&mut self, tile: &mut Tile) -> bool {
        let extent = tile.extent();
        let Some(straight) = &self.straight else { return false };
        let Some(writes) = straight.writes.as_ref().filter(|_| straight.fits(extent)) else {
            return false;
        };
        let mut operands = straight.operands(extent.first);
        operands.extend(writes.iter().map(|line| line.start(extent.first)));
        // SAFETY: pointers to as many elements as the tile has, in one row of each operand, or to
        // one element where it is repeated: inside claimed buffers, or constants. Only the holder
        // of the tile writes the outputs, which are no inputs.
        unsafe { straight.stage.code.call(&operands, extent.len()) };
        true
    }

    /// Computes these indices into the register of the only result; false as above.
    pub(super) fn value_straight(&mut self, extent: &Extent) -> bool {
        let fits = |straight: &&Straight<'_>| straight.is_value && straight.fits(extent);
        let Some(straight) = self.straight.as_ref().filter(fits) else { return false };
        let write = &straight.stage.writes[0];
        let mut operands = straight.operands(extent.first);
        let bytes = extent.len() * write.to.itemsize;
        operands.push(self.slots[write.to.slot].bytes_mut(bytes).as_mut_ptr());
        // SAFETY: as above, the output being a register of this stage alone.
        unsafe { straight.stage.code.call(&operands, extent.len()) };
        true
    }
}
