//! A write that goes ahead of a fold: `u[1:-1] = f(u)`, then a sum over all of `u`. Each part of the
//! array is written just before it is folded, while it is in the cache: memory is gone over once.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Machine;
use super::pair::{Both, Pair};
use super::window::{Inside, Window};
use crate::bind::{Bound, Operand, Order};
use crate::execute::Interpreter;
use crate::kernels::status;
use crate::slot::{self, Slot};
use crate::tiles::{SHORT_ROW, Tile};
use crate::{Error, Raised};

/// Elements that are written at once, at most: what they are made of is in the first cache when they
/// are folded.
const LONGEST: usize = 1024;

/// A program and the part of an array that it is written to.
pub(crate) struct Ahead<'a> {
    code: &'a Interpreter,
    bound: Bound<'a>,
    window: &'a Window,
    /// The same and the values that are folded, where both are one program.
    both: Option<Both<'a>>,
    /// How many elements were written.
    written: AtomicUsize,
    raised: Mutex<Raised>,
}

impl<'a> Ahead<'a> {
    /// None where it is not written by long rows.
    pub fn new(
        code: &'a Interpreter,
        inputs: &[Operand<'a>],
        target: &Operand<'a>,
        window: &'a Window,
    ) -> Result<Option<Self>, Error> {
        let targets = std::slice::from_ref(target);
        let bound = Bound::new(&code.program, inputs, targets, Order::Output)?;
        let space = bound.space();
        if space.deep > 1 || space.across || space.row() < SHORT_ROW {
            return Ok(None);
        }
        let (written, raised) = (AtomicUsize::new(0), Mutex::default());
        Ok(Some(Self { code, bound, window, both: None, written, raised }))
    }

    /// Adds a program that has both outputs, what is written and the values, with its inputs seen
    /// through the window.
    ///
    /// # Safety
    /// `target` is that of [`Self::new`]. Whoever folds holds readers' claims on all inputs that are
    /// not inputs of this write, and no input is in the target's buffer.
    pub unsafe fn with_both(
        self,
        code: &'a Interpreter,
        inputs: &[Operand<'a>],
        target: &Operand<'a>,
    ) -> Result<Self, Error> {
        // SAFETY: `self.bound` holds the claims on its inputs and on the target, and lives as long;
        // for the others the caller's promise.
        let both = unsafe { Both::new(code, inputs, target)? };
        Ok(Self { both: Some(both), ..self })
    }

    /// Was all of it written? And what the steps have signalled.
    pub fn finish(self) -> (bool, Raised) {
        let all = self.written.into_inner() == self.bound.space().len();
        (all, self.raised.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What one thread writes.
pub(super) struct Writer<'a> {
    ahead: &'a Ahead<'a>,
    machine: Machine<'a>,
    /// What writes and makes values at once.
    pub pair: Option<Pair<'a>>,
    /// These values.
    pub values: Slot,
    /// How many elements were written.
    written: usize,
    /// The elements of the array that were written last.
    done: Range<usize>,
    /// So far it may go on: to what nobody else folds.
    until: usize,
}

impl<'a> Writer<'a> {
    pub fn new(ahead: &'a Ahead<'a>) -> Box<Self> {
        let machine = Machine::new(ahead.code, &ahead.bound);
        let pair = ahead.both.as_ref().and_then(Pair::new);
        let values = slot::take(1).pop().unwrap_or_default();
        Box::new(Self { ahead, machine, pair, values, written: 0, done: 0..0, until: 0 })
    }

    pub fn window(&self) -> &'a Window {
        self.ahead.window
    }

    /// So many elements were written.
    pub fn count(&mut self, written: usize) {
        self.written += written;
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

    /// Writes these elements of the array.
    pub fn write_rows(&mut self, elements: Range<usize>) {
        let (mut start, row) = (elements.start, self.ahead.window.row);
        while start < elements.end {
            let end = elements.end.min((start / row + 1) * row);
            self.write(start..end);
            start = end;
        }
    }

    fn write(&mut self, elements: Range<usize>) {
        let Some(Inside { numbers, .. }) = self.ahead.window.inside(elements) else { return };
        self.count(numbers.len());
        // SAFETY: who folds some elements is the only one to do so, and they are written by none
        // but who folds them.
        self.machine.run(unsafe { Tile::own(self.ahead.bound.space(), numbers) });
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let mut raised = self.ahead.raised.lock().unwrap_or_else(PoisonError::into_inner);
        *raised = std::mem::take(&mut *raised).join(self.machine.take_raised());
        self.ahead.written.fetch_add(self.written, Ordering::Relaxed);
        slot::give_back(vec![std::mem::take(&mut self.values)]);
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
