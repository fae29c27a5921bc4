//! One thread's registers: runs a program over one tile, one operation at a time.

#[allow(unsafe_code)]
mod ahead;
mod near;
#[allow(unsafe_code)]
mod over;
#[allow(unsafe_code)]
mod pair;
#[allow(unsafe_code)]
mod rows;
#[allow(unsafe_code)]
mod stages;
#[allow(unsafe_code)]
mod straight;
mod window;

use std::ops::Range;
use std::slice;

use dappled_base::interrupt;
use smallvec::smallvec;

pub(crate) use self::ahead::Ahead;
use self::ahead::Writer;
use self::near::Near;
pub use self::over::lies_over;
pub(crate) use self::rows::Rows;
use self::straight::Straight;
pub(crate) use self::window::Window;
use crate::bind::{Bound, Few};
use crate::execute::{Instruction, Interpreter, Source};
use crate::kernels::status;
use crate::lane::pitch;
use crate::plan::Plan;
use crate::slot::{self, Slot};
use crate::space::{Extent, Space};
use crate::tiles::{TILE, Tile};
use crate::{Flags, Folded, Raised};

/// Values that are asked for at once, at most: they stay in the first cache.
const LONG: usize = 4 * TILE;

/// Tiles between two looks whether the work should end: about a millisecond.
const TILES: usize = 1 << 10;

/// What one thread needs to run an interpreted program.
pub(crate) struct Machine<'a> {
    code: &'a Interpreter,
    bound: &'a Bound<'a>,
    space: &'a Space,
    /// Loops of several steps, where there are some.
    plan: Option<&'a Plan>,
    /// The one loop that does it all, where it reads and writes rows as they lie.
    straight: Option<Straight<'a>>,
    slots: Vec<Slot>,
    /// Where an input lies contiguous in its own memory, for the tile at hand.
    in_place: Few<Option<*const u8>>,
    /// The first row and column of the block that an input's register holds.
    blocks: Vec<Option<(usize, usize)>>,
    /// The elements, by their first and their number, that an input's register holds.
    gathered: Few<Option<(*const u8, usize)>>,
    /// How many elements of a slot hold its constant or its single element already.
    filled: Few<usize>,
    /// Which outputs of the tile at hand a step has written directly.
    stored: Few<bool>,
    /// What the steps have signalled so far.
    raised: Raised,
    /// Ask the CPU's flags after every step, as it has raised one before: until then, once a tile
    /// is enough.
    attentive: bool,
    /// Did nothing raise a flag since the last tile that did?
    calm: bool,
    /// What was raised between tiles: by whoever folds their values.
    between: Flags,
    /// Chosen values.
    near: Near,
    /// Who writes what is read, before it is.
    writer: Option<Box<Writer<'a>>>,
    /// Tiles that were computed so far.
    tiles: usize,
}

#[allow(unsafe_code)]
impl<'a> Machine<'a> {
    pub fn new(code: &'a Interpreter, bound: &'a Bound<'a>) -> Self {
        let (space, plan) = (bound.space(), bound.plan(code));
        let slots = slot::take(plan.map_or(code.slots, |plan| plan.slots));
        let in_place: Few<_> = smallvec![None; code.program.inputs.len()];
        let blocks = if space.deep > 1 { vec![None; in_place.len()] } else { Vec::new() };
        let gathered = smallvec![None; in_place.len()];
        let filled = smallvec![0; code.program.first_result()];
        let writer = bound.ahead.map(Writer::new);
        if bound.may_end {
            interrupt::poll();
        }
        status::clear();
        Self {
            code,
            bound,
            space,
            plan,
            straight: plan.and_then(|plan| Straight::new(code, bound, plan)),
            slots,
            in_place,
            blocks,
            gathered,
            filled,
            stored: smallvec![false; code.outputs.len()],
            raised: Raised::default(),
            attentive: false,
            calm: true,
            between: Flags::NONE,
            near: Near::default(),
            writer,
            tiles: 0,
        }
    }

    /// Lets a machine of its own make values for some work, and says what was signalled; of what
    /// the work itself raised, only what is in `own`.
    pub fn with<T>(
        code: &'a Interpreter,
        bound: &'a Bound<'a>,
        own: Flags,
        work: impl FnOnce(&mut Self) -> T,
    ) -> (T, Folded) {
        let mut machine = Self::new(code, bound);
        let result = work(&mut machine);
        machine.settle();
        let folding = machine.between & own;
        (result, Folded { steps: machine.take_raised(), folding })
    }

    /// Work in the midst of this one that may be other machines', on this thread or another.
    pub fn aside<T>(&mut self, work: impl FnOnce() -> (T, Folded)) -> T {
        self.settle();
        let (result, folded) = work();
        status::clear();
        self.raised = self.take_raised().join(folded.steps);
        self.between |= folded.folding;
        result
    }

    /// Counts a tile; after some of them the work may be interrupted.
    #[inline]
    fn count_tile(&mut self) {
        self.tiles = self.tiles.wrapping_add(1);
        if self.tiles.is_multiple_of(TILES) && self.bound.may_end {
            interrupt::poll();
        }
    }

    /// Computes a tile and stores the outputs.
    pub fn run(&mut self, tile: Tile) {
        self.count_tile();
        let len = tile.extent().len();
        match self.usable_plan(len) {
            Some(plan) => self.run_stages(plan, tile),
            None if len > self.code.most() => {
                tile.parts(self.space, TILE).for_each(|part| self.run_steps(part))
            }
            None => self.run_steps(tile),
        }
    }

    fn run_steps(&mut self, mut tile: Tile) {
        self.load(tile.extent(), None);
        let (code, len) = (self.code, tile.extent().len());
        for (at, step) in code.steps.iter().enumerate() {
            let direct = step.direct.filter(|&output| !self.bound.shared[output]);
            let target = direct.and_then(|output| self.destination(output, &mut tile));
            self.step(step, at, len, target);
        }
        self.attribute(len);
        self.store(&code.outputs, &mut tile);
        self.relax();
    }

    /// Computes these indices, or chosen ones, and gives the bytes of the first output.
    pub fn value(&mut self, indices: Range<usize>) -> &[u8] {
        self.count_tile();
        if let Some(chosen) = self.bound.chosen() {
            return self.chosen(chosen, indices);
        }
        if self.value_of_pairs(&indices) {
            return self.values_of_pairs(&indices);
        }
        self.write_ahead(&indices);
        let extent = self.space.extent(indices);
        self.value_at(&extent)
    }

    /// How many values are best asked for at once.
    pub fn most_values(&self) -> usize {
        // One loop that does all needs one register.
        if self.straight.is_some() { LONG } else { self.code.most() }
    }

    fn value_at(&mut self, extent: &Extent) -> &[u8] {
        let len = extent.len();
        if let Some(plan) = self.usable_plan(len) {
            return self.value_of_stages(plan, extent);
        }
        self.load(extent, None);
        if !self.code.steps.is_empty() {
            self.settle();
            self.all_steps(len);
            self.attribute(len);
            self.relax();
        }
        self.source(self.code.outputs[0], len)
    }

    /// Computes these indices into memory for the first output; what was there is of no meaning.
    fn value_into(&mut self, extent: &Extent, out: &mut Slot) {
        let (len, first) = (extent.len(), self.code.program.first_result());
        let outputs = self.usable_plan(len).map_or(&self.code.outputs, |plan| &plan.outputs);
        let Source { slot, itemsize } = outputs[0];
        let values = self.value_at(extent);
        if slot < first {
            out.bytes_mut(len * itemsize).copy_from_slice(values);
        } else {
            // A result's register holds nothing that is read again.
            std::mem::swap(&mut self.slots[slot], out);
        }
    }

    fn all_steps(&mut self, len: usize) {
        let code = self.code;
        code.steps.iter().enumerate().for_each(|(at, step)| self.step(step, at, len, None));
    }

    /// What the steps have signalled, in all tiles since the machine was made or asked last.
    pub fn take_raised(&mut self) -> Raised {
        std::mem::take(&mut self.raised)
    }

    /// Takes what was raised since the last tile: it is no step's.
    fn settle(&mut self) {
        self.between |= status::take();
    }

    /// If the CPU has raised a flag for the first time, computes the tile again to find the step.
    /// Before anything is stored: an output may be an input.
    fn attribute(&mut self, len: usize) {
        if !self.attentive && status::is_raised() {
            self.attentive = true;
            status::clear();
            self.all_steps(len);
        }
    }

    /// Loops can be used again when a tile has raised nothing.
    fn relax(&mut self) {
        self.attentive &= self.plan.is_none() || !self.calm;
        self.calm = true;
    }

    /// Brings inputs and constants to where kernels can read them: all, or those that are wanted.
    fn load(&mut self, extent: &Extent, wanted: Option<&[bool]>) {
        let len = extent.len();
        let is_wanted = |at: usize| wanted.is_none_or(|wanted| wanted[at]);
        for at in (0..self.in_place.len()).filter(|&at| is_wanted(at)) {
            let lane = self.bound.input(at);
            if extent.block.len() > 1 && lane.track.is_turned() {
                self.in_place[at] = Some(self.load_block(at, extent));
                continue;
            }
            self.in_place[at] = lane.in_place(extent).map(<*mut u8>::cast_const);
            if self.in_place[at].is_none() && self.filled[at] < len {
                self.filled[at] = if lane.track.is_single() { len } else { 0 };
                self.gather(at, extent);
            }
        }
        for (at, constant) in self.code.program.constants.iter().enumerate() {
            let at = self.in_place.len() + at;
            if self.filled[at] < len && is_wanted(at) {
                self.filled[at] = len;
                constant.fill(self.slots[at].bytes_mut(len * constant.dtype().itemsize()));
            }
        }
    }

    /// Brings an input's elements to its register, unless they are those that are there already.
    fn gather(&mut self, at: usize, extent: &Extent) {
        let lane = self.bound.input(at);
        let len = extent.len();
        let in_one_row = extent.first.len == len;
        let found = in_one_row.then(|| (lane.start(extent.first).cast_const(), len));
        if found.is_none() || self.gathered[at] != found {
            self.gathered[at] = found;
            lane.gather(extent, self.slots[at].bytes_mut(len * lane.track.itemsize));
        }
    }

    /// Brings an input's part of a whole block to its register, unless it is there already, and
    /// says where the extent's row begins.
    fn load_block(&mut self, at: usize, extent: &Extent) -> *const u8 {
        let lane = self.bound.input(at);
        let (len, place) = (extent.len(), (extent.block.start, extent.first.column));
        let pitch = pitch(len, lane.track.itemsize);
        let register = self.slots[at].bytes_mut(extent.block.len() * pitch);
        if self.blocks[at] != Some(place) {
            self.blocks[at] = Some(place);
            self.gathered[at] = None;
            lane.gather_block(extent, register);
        }
        register[(extent.first.row - extent.block.start) * pitch..].as_ptr()
    }

    /// Runs one operation into `target`, or into the step's own register.
    fn step(&mut self, step: &Instruction, at: usize, len: usize, target: Option<&mut [u8]>) {
        let mut own = std::mem::take(&mut self.slots[step.slot]);
        let out = match target {
            Some(target) => target,
            None => own.bytes_mut(len * step.itemsize),
        };
        let mut args: [&[u8]; 3] = [&[]; 3];
        for (arg, &source) in args.iter_mut().zip(&step.args) {
            *arg = self.source(source, len);
        }
        let [a, b, c] = args;
        // SAFETY: `kernel` returns only what this CPU can run.
        let mut flags = unsafe { (step.kernel)(a, b, c, out) };
        if self.attentive {
            let raised = status::take();
            self.calm &= raised.is_empty();
            flags |= raised & step.hardware;
        }
        self.slots[step.slot] = own;
        self.note(at, flags);
    }

    #[inline]
    fn note(&mut self, step: usize, flags: Flags) {
        if !flags.is_empty() {
            self.calm = false;
            self.raised.add(step, flags);
        }
    }

    fn source(&self, source: Source, len: usize) -> &[u8] {
        let bytes = len * source.itemsize;
        match self.in_place.get(source.slot).copied().flatten() {
            // SAFETY: found contiguous, aligned and inside the claimed buffer by `in_place`; an
            // output that shares this memory is written by `store` only, after the last read.
            Some(start) => unsafe { slice::from_raw_parts(start, bytes) },
            None => self.slots[source.slot].bytes(bytes),
        }
    }

    /// The memory of an output in this tile, where a kernel can write it: contiguous, aligned.
    fn destination<'t>(&mut self, output: usize, tile: &'t mut Tile) -> Option<&'t mut [u8]> {
        let lane = self.bound.output(output);
        let start = lane.in_place(tile.extent())?;
        let bytes = tile.extent().len() * lane.track.itemsize;
        self.stored[output] = true;
        // SAFETY: inside the claimed buffer; only the holder of the tile writes these indices,
        // outputs share no byte with each other, and one shared with an input does not come here.
        Some(unsafe { slice::from_raw_parts_mut(start, bytes) })
    }

    /// Copies the outputs that no step wrote directly from their registers.
    fn store(&mut self, outputs: &[Source], tile: &mut Tile) {
        for (output, &source) in outputs.iter().enumerate() {
            if !std::mem::take(&mut self.stored[output]) {
                let from = self.source(source, tile.extent().len()).as_ptr();
                let lane = self.bound.output(output);
                // SAFETY: only the holder of the tile is here. `from` is a register, or an
                // input's memory where a program stores an input as it is: then both are the
                // same view, or share no byte.
                unsafe { lane.scatter(tile.extent(), from) };
            }
        }
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        slot::give_back(std::mem::take(&mut self.slots));
    }
}
