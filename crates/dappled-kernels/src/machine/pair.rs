//! A write and the values that are folded, by one loop: what was just written is not read again.
//!
//! `u[1:-1] = f(u)`, then a sum over `g(u, old)`: one compiled loop does both `f` and `g`, one of
//! its two results going to `u`, the other to whoever folds.

use std::ops::Range;

use smallvec::SmallVec;

use super::Machine;
use super::ahead::Writer;
use super::straight::{Line, Operands, reads};
use super::window::Inside;
use crate::Error;
use crate::bind::{Bound, Operand};
use crate::execute::Interpreter;
use crate::kernels::status;
use crate::plan::{BLOCK, LoopStage, Stage};
use crate::space::Space;
use crate::tiles::SHORT_ROW;

/// A program of two outputs, what is written and the value, over the part that is written.
pub(super) struct Both<'a> {
    code: &'a Interpreter,
    bound: Bound<'a>,
}

impl<'a> Both<'a> {
    /// Binds operands without claiming their memory.
    ///
    /// # Safety
    /// As for [`Bound::claimed_by_others`].
    pub unsafe fn new(
        code: &'a Interpreter,
        inputs: &[Operand<'a>],
        target: &Operand<'a>,
    ) -> Result<Self, Error> {
        // SAFETY: the caller's promise.
        let bound = unsafe { Bound::claimed_by_others(&code.program, inputs, target)? };
        Ok(Self { code, bound })
    }
}

/// The loop, and where its operands lie.
pub(super) struct Pair<'a> {
    stage: &'a LoopStage,
    space: &'a Space,
    reads: SmallVec<[Line<'a>; 8]>,
    target: Line<'a>,
}

impl<'a> Pair<'a> {
    /// None where there is no such loop, or an operand does not lie straight.
    pub fn new(both: &'a Both<'a>) -> Option<Self> {
        let Both { code, bound } = both;
        let (space, plan) = (bound.space(), bound.plan(code)?);
        let [Stage::Loop(stage)] = &plan.stages[..] else { return None };
        let made = stage.writes.iter().map(|write| write.to.slot);
        let is_pair = made.eq(plan.outputs.iter().map(|output| output.slot));
        if !is_pair || stage.writes.len() != 2 || space.deep > 1 || space.row() < SHORT_ROW {
            return None;
        }
        let (reads, lane) = (reads(stage, code, bound)?, bound.output(0));
        lane.is_straight().then_some(Self { stage, space, reads, target: Line::Row(lane) })
    }

    /// Bytes of a value.
    fn itemsize(&self) -> usize {
        self.stage.writes[1].to.itemsize
    }

    /// Writes some elements and gives their values; false, with nothing done, if they are too few.
    fn run(&self, inside: &Inside, values: &mut [u8]) -> bool {
        let run = self.space.extent(inside.numbers.clone()).first;
        let len = inside.numbers.len();
        if run.len < len || len < self.stage.code.least() {
            return false;
        }
        assert_eq!(values.len(), len * self.itemsize());
        let mut operands: Operands = self.reads.iter().map(|line| line.start(run)).collect();
        operands.extend([self.target.start(run), values.as_mut_ptr()]);
        // SAFETY: pointers to as many elements of each operand, in one row of it, or to one element
        // where it is repeated: inside claimed buffers, constants, and the values. What is written is
        // no input, and who folds some elements is the only one to write them.
        unsafe { self.stage.code.call(&operands, len) };
        true
    }
}

impl Writer<'_> {
    /// Writes what is in the box of these elements, and puts its values where they belong; says which
    /// elements are left. None if something was signalled, of which nothing is known then.
    fn write_pairs(&mut self, elements: &Range<usize>, values: &mut [u8]) -> Option<Left> {
        let (window, mut left, mut start) = (self.window(), Left::new(), elements.start);
        let pair = self.pair.as_ref()?;
        let (size, mut written) = (pair.itemsize(), 0);
        while start < elements.end {
            let end = elements.end.min((start / window.row + 1) * window.row);
            let Some(inside) = window.inside(start..end) else {
                push(&mut left, start..end);
                start = end;
                continue;
            };
            let place = |at: usize| (at - elements.start) * size;
            let bytes = place(inside.elements.start)..place(inside.elements.end);
            if pair.run(&inside, &mut values[bytes]) {
                written += inside.numbers.len();
                push(&mut left, start..inside.elements.start);
                push(&mut left, inside.elements.end..end);
            } else {
                push(&mut left, start..end);
            }
            start = end;
        }
        if status::is_raised() {
            return None;
        }
        self.count(written);
        Some(left)
    }
}

/// Elements that a pair did not do.
type Left = SmallVec<[Range<usize>; 8]>;

/// Adds elements to those that come before them.
fn push(left: &mut Left, elements: Range<usize>) {
    match left.last_mut() {
        _ if elements.is_empty() => {}
        Some(last) if last.end == elements.start => last.end = elements.end,
        _ => left.push(elements),
    }
}

impl Machine<'_> {
    /// Writes what is read for these indices, and computes the first output, in one go. False, with
    /// nothing that counts done, where there is no loop for both or it has signalled something.
    pub(super) fn value_of_pairs(&mut self, indices: &Range<usize>) -> bool {
        let Some(mut writer) = self.writer.take_if(|writer| writer.pair.is_some()) else {
            return false;
        };
        self.settle();
        let mut values = std::mem::take(&mut writer.values);
        let size = writer.pair.as_ref().map_or(0, Pair::itemsize);
        let bytes = values.bytes_mut(indices.len() * size);
        let left = writer.write_pairs(indices, bytes);
        match &left {
            Some(left) => self.values_left(&mut writer, left, indices, bytes, size),
            None => {
                // From now on each is done by itself, to see whose signal it is.
                writer.pair = None;
                status::clear();
            }
        }
        writer.values = values;
        self.writer = Some(writer);
        left.is_some()
    }

    /// The values that were computed in one go.
    pub(super) fn values_of_pairs(&self, indices: &Range<usize>) -> &[u8] {
        let writer = self.writer.as_ref().expect("it was there");
        let size = writer.pair.as_ref().map_or(0, Pair::itemsize);
        writer.values.bytes(indices.len() * size)
    }

    /// The values of elements that no pair did, written before where they are to be.
    fn values_left(
        &mut self,
        writer: &mut Writer<'_>,
        left: &Left,
        all: &Range<usize>,
        values: &mut [u8],
        size: usize,
    ) {
        left.iter().for_each(|elements| writer.write_rows(elements.clone()));
        status::clear();
        for elements in left {
            // A few more, which are there by now, are sooner done than a few less than a loop needs.
            let start = elements.start.min(elements.end.saturating_sub(BLOCK)).max(all.start);
            let found = self.value_at(&self.space.extent(start..elements.end));
            let place = (start - all.start) * size;
            values[place..place + found.len()].copy_from_slice(found);
        }
    }
}
