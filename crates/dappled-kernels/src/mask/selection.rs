//! The elements that a mask selects: a bitmap with the number of set bits before each block.

use std::cell::Cell;
use std::ops::Range;

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use super::bitmap::MaskProgram;
use crate::config::{MAX_SPARE_BITMAP_WORDS, SELECTION_BLOCKS_PER_TASK, TILE_ELEMENTS};
use crate::error::Error;
use crate::execute::Interpreter;
use crate::execute::machine::Machine;
use crate::iter::bound_operands::{BoundOperands, BufferView, IterationOrder};
use crate::memory::buffer::Buffer;
use crate::threads::parallel_map::parallel_map;
use crate::types::dtype::DType;
use crate::types::fp_flags::{FpFlags, ReduceFlags, StepFlags};

/// Elements per entry of the rank index.
const BLOCK_ELEMENTS: usize = TILE_ELEMENTS;
/// Bitmap words per entry of the rank index.
const BLOCK_WORDS: usize = BLOCK_ELEMENTS / 64;
thread_local! {
    static SPARE: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// The elements that a mask selects, in C order.
#[derive(Debug)]
pub struct ElementSelection {
    words: Vec<u64>,
    /// The number of selected elements before each block, and in total.
    starts: Vec<usize>,
    length: usize,
}

/// The index of a task, its bitmap words, and the count of each of its blocks.
type SelectionTask<'a> = (usize, (&'a mut [u64], &'a mut [usize]));

impl ElementSelection {
    /// Selects the elements for which a program's first output is true.
    ///
    /// Also returns the flags of its steps.
    ///
    /// ```
    /// use dappled_kernels::{
    ///     Buffer, BufferView, DType, ElementSelection, Interpreter, Op, Program, Scalar, View,
    /// };
    /// let half = Scalar::new(0.5);
    /// let mut program = Program::new(vec![DType::Float64], vec![half]);
    /// let args = [program.input(0), program.constant(0)];
    /// let mask = program.push(Op::Greater, DType::Float64, &args);
    /// program.outputs.push(mask);
    /// let (a, view) = (Buffer::from_slice(&[0.1, 0.7, 0.9]), View::c_order(DType::Float64, &[3]));
    /// let interpreter = Interpreter::new(&program)?;
    /// let (selection, _) = ElementSelection::new(&interpreter, &[BufferView::new(&a, &view)?])?;
    /// assert_eq!(selection.count(), 2);
    /// # Ok::<(), dappled_kernels::Error>(())
    /// ```
    pub fn new(mask: &Interpreter, inputs: &[BufferView<'_>]) -> Result<(Self, StepFlags), Error> {
        let found = mask.program.dtype(mask.program.outputs[0]).expect("checked");
        if found != DType::Bool {
            let (place, expected) = ("a mask".into(), DType::Bool);
            return Err(Error::DTypeMismatch { place, expected, found });
        }
        let bound = BoundOperands::new(&mask.program, inputs, &[], IterationOrder::C)?;
        let length = bound.space().len();
        let mut words = SPARE.take();
        memory::resize(&mut words, length.div_ceil(64), 0);
        let mut starts: Vec<usize> = memory::zeros(length.div_ceil(BLOCK_ELEMENTS) + 1);
        let parts = words
            .chunks_mut(BLOCK_WORDS * SELECTION_BLOCKS_PER_TASK)
            .zip(starts[1..].chunks_mut(SELECTION_BLOCKS_PER_TASK));
        let mask = MaskProgram::new(mask, &bound);
        let raised = parallel_map(
            memory::collect(parts.enumerate()),
            |(share, (words, counts)): SelectionTask<'_>| {
                let raised =
                    mask.write(share * SELECTION_BLOCKS_PER_TASK * BLOCK_ELEMENTS, length, words);
                for (words, count) in words.chunks(BLOCK_WORDS).zip(counts) {
                    *count = words.iter().map(|word| word.count_ones() as usize).sum();
                }
                raised
            },
        );
        let raised = raised.into_iter().fold(StepFlags::default(), StepFlags::join);
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        Ok((Self { words, starts, length }, raised))
    }

    /// The number of selected elements.
    pub fn count(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// The number of elements of the mask.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The block that contains the selected element of rank `rank`.
    pub(crate) fn block_with(&self, rank: usize) -> usize {
        self.starts.partition_point(|&start| start <= rank).saturating_sub(1)
    }

    /// The block of the selected element of rank `rank`, searched linearly from a nearby block.
    ///
    /// The whole index is too large for the cache.
    pub(crate) fn block_from(&self, block: usize, rank: usize) -> usize {
        let after = self.starts[block + 1..].iter().position(|&start| start > rank);
        block + after.expect("the rank is less than the number of selected elements")
    }

    /// The number of selected elements before a block.
    pub(crate) fn start(&self, block: usize) -> usize {
        self.starts[block]
    }

    /// The elements of some blocks, and their bits.
    pub(crate) fn blocks(&self, blocks: Range<usize>) -> (Range<usize>, &[u64]) {
        let elements = blocks.start * BLOCK_ELEMENTS..self.length.min(blocks.end * BLOCK_ELEMENTS);
        (
            elements,
            &self.words[blocks.start * BLOCK_WORDS..self.words.len().min(blocks.end * BLOCK_WORDS)],
        )
    }

    /// Compacts the selected values of a program's first output into a buffer of exactly that
    /// length.
    ///
    /// There must be as many values as the mask has elements.
    pub fn compress(
        &self,
        code: &Interpreter,
        inputs: &[BufferView<'_>],
        out: &Buffer,
    ) -> Result<StepFlags, Error> {
        let bound = BoundOperands::new(&code.program, inputs, &[], IterationOrder::C)?
            .with_selection(Some(self))?;
        let item = code.outputs[0].itemsize;
        let mut out = out.write()?;
        let (needed, len) = (self.count() * item, out.len());
        if len != needed {
            return Err(Error::OutOfBounds { start: 0, stop: needed as i128, len });
        }
        let shares =
            out.par_chunks_mut(BLOCK_ELEMENTS * SELECTION_BLOCKS_PER_TASK * item).enumerate();
        let raised = shares.map(|(share, out)| {
            let work = |machine: &mut Machine<'_>| {
                for (at, out) in out.chunks_mut(BLOCK_ELEMENTS * item).enumerate() {
                    let start = (share * SELECTION_BLOCKS_PER_TASK + at) * BLOCK_ELEMENTS;
                    out.copy_from_slice(machine.compute(start..start + out.len() / item));
                }
            };
            let (_, ReduceFlags { steps, .. }) =
                Machine::run_with(code, &bound, FpFlags::NONE, work);
            steps
        });
        Ok(interrupt::run_in_pool(self.length, || {
            raised.reduce(StepFlags::default, StepFlags::join)
        }))
    }
}

impl Drop for ElementSelection {
    fn drop(&mut self) {
        if self.words.capacity() <= MAX_SPARE_BITMAP_WORDS {
            // Thread-local storage is gone when a thread exits.
            let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.words)));
        }
    }
}
