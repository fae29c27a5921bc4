//! One thread's registers: runs a program over one tile, one operation at a time.

use std::ops::Range;
use std::slice;

use crate::bind::Bound;
use crate::execute::{Interpreter, Source};
use crate::kernels::status;
use crate::lane::pitch;
use crate::slot::{self, Slot};
use crate::space::{Extent, Space};
use crate::tiles::Tile;
use crate::{Flags, Folded, Raised};

/// What one thread needs to run an interpreted program.
pub(crate) struct Machine<'a> {
    code: &'a Interpreter,
    bound: &'a Bound<'a>,
    space: &'a Space,
    slots: Vec<Slot>,
    /// Where an input lies contiguous in its own memory, for the tile at hand.
    in_place: Vec<Option<*const u8>>,
    /// The first row and column of the block that an input's register holds.
    blocks: Vec<Option<(usize, usize)>>,
    /// How many elements of a slot hold its constant or its single element already.
    filled: Vec<usize>,
    /// Which outputs of the tile at hand a step has written directly.
    stored: Vec<bool>,
    /// What the steps have signalled so far.
    raised: Raised,
    /// Ask the CPU's flags after every step, as it has raised one before: until then, once a tile
    /// is enough.
    attentive: bool,
    /// What was raised between tiles: by whoever folds their values.
    between: Flags,
}

impl<'a> Machine<'a> {
    pub fn new(code: &'a Interpreter, bound: &'a Bound<'a>, space: &'a Space) -> Self {
        let slots = slot::take(code.slots);
        let in_place = vec![None; code.program.inputs.len()];
        let blocks = if space.deep > 1 { vec![None; in_place.len()] } else { Vec::new() };
        let filled = vec![0; code.program.first_result()];
        status::clear();
        Self {
            code,
            bound,
            space,
            slots,
            in_place,
            blocks,
            filled,
            stored: vec![false; code.outputs.len()],
            raised: Raised::default(),
            attentive: false,
            between: Flags::NONE,
        }
    }

    /// Lets a machine of its own make values for some work, and says what was signalled; of what
    /// the work itself raised, only what is in `own`.
    pub fn with<T>(
        code: &'a Interpreter,
        bound: &'a Bound<'a>,
        space: &'a Space,
        own: Flags,
        work: impl FnOnce(&mut Self) -> T,
    ) -> (T, Folded) {
        let mut machine = Self::new(code, bound, space);
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

    /// Computes a tile and stores the outputs.
    pub fn run(&mut self, mut tile: Tile) {
        self.load(tile.extent());
        let len = tile.extent().len();
        for step in 0..self.code.steps.len() {
            let direct = self.code.steps[step].direct.filter(|&output| !self.bound.shared[output]);
            let target = direct.and_then(|output| self.destination(output, &mut tile));
            self.step(step, len, target);
        }
        self.attribute(len);
        self.store(&mut tile);
    }

    /// Computes these indices and gives the bytes of the first output.
    pub fn value(&mut self, indices: Range<usize>) -> &[u8] {
        let len = indices.len();
        self.load(&self.space.extent(indices));
        if !self.code.steps.is_empty() {
            self.settle();
            (0..self.code.steps.len()).for_each(|step| self.step(step, len, None));
            self.attribute(len);
        }
        self.source(self.code.outputs[0], len)
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
            (0..self.code.steps.len()).for_each(|step| self.step(step, len, None));
        }
    }

    /// Brings inputs and constants to where kernels can read them.
    fn load(&mut self, extent: &Extent) {
        let len = extent.len();
        for at in 0..self.in_place.len() {
            let lane = self.bound.input(self.space, at);
            if extent.block.len() > 1 && lane.track.is_turned() {
                self.in_place[at] = Some(self.load_block(at, extent));
                continue;
            }
            self.in_place[at] = lane.in_place(extent).map(<*mut u8>::cast_const);
            if self.in_place[at].is_none() && self.filled[at] < len {
                self.filled[at] = if lane.track.is_single() { len } else { 0 };
                lane.gather(extent, self.slots[at].bytes_mut(len * lane.track.itemsize));
            }
        }
        for (at, constant) in self.code.program.constants.iter().enumerate() {
            let at = self.in_place.len() + at;
            if self.filled[at] < len {
                self.filled[at] = len;
                constant.fill(self.slots[at].bytes_mut(len * constant.dtype().itemsize()));
            }
        }
    }

    /// Brings an input's part of a whole block to its register, unless it is there already, and
    /// says where the extent's row begins.
    fn load_block(&mut self, at: usize, extent: &Extent) -> *const u8 {
        let lane = self.bound.input(self.space, at);
        let (len, place) = (extent.len(), (extent.block.start, extent.first.column));
        let pitch = pitch(len, lane.track.itemsize);
        let register = self.slots[at].bytes_mut(extent.block.len() * pitch);
        if self.blocks[at] != Some(place) {
            self.blocks[at] = Some(place);
            lane.gather_block(extent, register);
        }
        register[(extent.first.row - extent.block.start) * pitch..].as_ptr()
    }

    /// Runs one operation into `target`, or into the step's own register.
    fn step(&mut self, at: usize, len: usize, target: Option<&mut [u8]>) {
        let step = &self.code.steps[at];
        let mut own = std::mem::take(&mut self.slots[step.slot]);
        let out = match target {
            Some(target) => target,
            None => own.bytes_mut(len * step.itemsize),
        };
        let mut args: [&[u8]; 3] = [&[]; 3];
        for (arg, &source) in args.iter_mut().zip(&step.args) {
            *arg = self.source(source, len);
        }
        // SAFETY: `kernel` returns only what this CPU can run.
        let mut flags = unsafe { (step.kernel)(&args[..step.args.len()], out) };
        if self.attentive {
            flags |= status::take() & step.hardware;
        }
        self.slots[step.slot] = own;
        self.note(at, flags);
    }

    #[inline]
    fn note(&mut self, step: usize, flags: Flags) {
        if !flags.is_empty() {
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
        let lane = self.bound.output(self.space, output);
        let start = lane.in_place(tile.extent())?;
        let bytes = tile.extent().len() * lane.track.itemsize;
        self.stored[output] = true;
        // SAFETY: inside the claimed buffer; only the holder of the tile writes these indices,
        // outputs share no byte with each other, and one shared with an input does not come here.
        Some(unsafe { slice::from_raw_parts_mut(start, bytes) })
    }

    /// Copies the outputs that no step wrote directly from their registers.
    fn store(&mut self, tile: &mut Tile) {
        for (output, &source) in self.code.outputs.iter().enumerate() {
            if !std::mem::take(&mut self.stored[output]) {
                let from = self.source(source, tile.extent().len()).as_ptr();
                let lane = self.bound.output(self.space, output);
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
