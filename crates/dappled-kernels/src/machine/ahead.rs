//! A write that goes ahead of a fold: `u[1:-1] = f(u)`, then a sum over all of `u`. Each part of the
//! array is written just before it is folded, while it is in the cache: memory is gone over once.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use smallvec::SmallVec;

use super::Machine;
use crate::bind::{Bound, Operand};
use crate::execute::Interpreter;
use crate::kernels::status;
use crate::space::Space;
use crate::tiles::{SHORT_ROW, Tile};
use crate::{Error, Raised, View};

/// Elements that are written at once, at most: what they are made of is in the first cache when they
/// are folded.
const LONGEST: usize = 1024;

/// A program and the part of an array that it is written to.
pub(crate) struct Ahead<'a> {
    code: &'a Interpreter,
    bound: Bound<'a>,
    space: Space,
    window: Window,
    /// How many elements were written.
    written: AtomicUsize,
    raised: Mutex<Raised>,
}

impl<'a> Ahead<'a> {
    /// None where the target is not a box of the array, or is not written by long rows.
    pub fn new(
        code: &'a Interpreter,
        inputs: &[Operand<'a>],
        target: &Operand<'a>,
        array: &View,
    ) -> Result<Option<Self>, Error> {
        let space = Bound::space(inputs, std::slice::from_ref(target));
        let Some(window) = Window::new(array, target.view()) else { return Ok(None) };
        if space.deep > 1 || space.across || space.row() < SHORT_ROW {
            return Ok(None);
        }
        let bound = Bound::new(&code.program, inputs, std::slice::from_ref(target))?;
        let (written, raised) = (AtomicUsize::new(0), Mutex::default());
        Ok(Some(Self { code, bound, space, window, written, raised }))
    }

    /// Was all of it written? And what the steps have signalled.
    pub fn finish(self) -> (bool, Raised) {
        let all = self.written.into_inner() == self.space.len();
        (all, self.raised.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A box of an array in C order.
struct Window {
    /// Elements of a row of the array.
    row: usize,
    /// The array's other axes: their lengths, and the part of each that is in the box.
    around: SmallVec<[(usize, Range<usize>); 4]>,
    columns: Range<usize>,
}

impl Window {
    fn new(array: &View, part: &View) -> Option<Self> {
        if !array.is_contiguous() || array.strides != part.strides {
            return None;
        }
        let mut left = part.offset.checked_sub(array.offset)?;
        let mut sides = SmallVec::new();
        for ((&size, &stride), &length) in array.shape.iter().zip(&array.strides).zip(&part.shape) {
            let start = left / stride as usize;
            left %= stride as usize;
            sides.push((size, start..start + length));
        }
        let inside = |(size, side): &(usize, Range<usize>)| side.end <= *size;
        let fits = left == 0 && part.dtype == array.dtype && sides.iter().all(inside);
        let (row, columns) = sides.pop().filter(|_| fits)?;
        Some(Self { row, around: sides, columns })
    }

    /// The row of the box that is in a row of the array.
    fn row(&self, row: usize) -> Option<usize> {
        let (mut left, mut found, mut rows) = (row, 0, 1);
        for (size, side) in self.around.iter().rev() {
            let at = left % size;
            left /= size;
            if !side.contains(&at) {
                return None;
            }
            found += (at - side.start) * rows;
            rows *= side.len();
        }
        Some(found)
    }

    /// Those of some elements of one row of the array that are in the box, by their numbers there.
    fn inside(&self, elements: Range<usize>) -> Option<Range<usize>> {
        let row = elements.start / self.row;
        let column = |at: usize| (at - row * self.row).clamp(self.columns.start, self.columns.end);
        let (start, end) = (column(elements.start), column(elements.end));
        let first = self.row(row)? * self.columns.len();
        let number = |column: usize| first + column - self.columns.start;
        (start < end).then(|| number(start)..number(end))
    }
}

/// What one thread writes.
pub(super) struct Writer<'a> {
    ahead: &'a Ahead<'a>,
    machine: Machine<'a>,
    /// The elements of the array that were written last.
    done: Range<usize>,
    /// So far it may go on: to what nobody else folds.
    until: usize,
}

impl<'a> Writer<'a> {
    pub fn new(ahead: &'a Ahead<'a>) -> Box<Self> {
        let machine = Machine::new(ahead.code, &ahead.bound, &ahead.space);
        Box::new(Self { ahead, machine, done: 0..0, until: 0 })
    }

    /// Writes these elements of the array, if they are not those that were written last.
    fn reach(&mut self, elements: &Range<usize>) {
        if !(self.done.start..=self.done.end).contains(&elements.start) {
            self.done = elements.start..elements.start;
        }
        let until = self.until.max(elements.end);
        while self.done.end < elements.end {
            let (start, row) = (self.done.end, self.ahead.window.row);
            let end = until.min((start / row + 1) * row).min(start + LONGEST);
            self.write(start..end);
            self.done.end = end;
        }
    }

    fn write(&mut self, elements: Range<usize>) {
        let Some(indices) = self.ahead.window.inside(elements) else { return };
        self.ahead.written.fetch_add(indices.len(), Ordering::Relaxed);
        // SAFETY: who folds some elements is the only one to do so, and they are written by none
        // but who folds them.
        self.machine.run(unsafe { Tile::own(&self.ahead.space, indices) });
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let mut raised = self.ahead.raised.lock().unwrap_or_else(PoisonError::into_inner);
        *raised = std::mem::take(&mut *raised).join(self.machine.take_raised());
    }
}

impl Machine<'_> {
    /// From now on it folds what comes before this index, and nobody else does.
    pub fn goes_to(&mut self, end: usize) {
        self.writer.iter_mut().for_each(|writer| writer.until = end);
    }

    /// Sees to it that what is read for these indices was written.
    pub(super) fn write_ahead(&mut self, indices: &Range<usize>) {
        if self.writer.as_ref().is_none_or(|writer| writer.done.contains(&(indices.end - 1))) {
            return;
        }
        self.settle();
        self.writer.iter_mut().for_each(|writer| writer.reach(indices));
        status::clear();
    }
}
