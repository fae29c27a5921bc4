//! Which elements a mask chooses: a bit for each, and how many there are before each block.

use std::cell::Cell;
use std::ops::Range;

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::bind::{Bound, Operand, Order};
use crate::machine::Machine;
use crate::mask::Mask;
use crate::share::share;
use crate::tiles::TILE;
use crate::{Buffer, DType, Error, Flags, Folded, Interpreter, Raised};

/// Elements whose chosen ones are counted together.
const BLOCK: usize = TILE;
/// Words of their bits.
const WORDS: usize = BLOCK / 64;
/// Blocks that one thread does before it is worth asking another.
const SHARE: usize = 64;

/// Words that are kept for the next mask, at most: 16 MB, for 134 million elements. New memory would
/// have to be cleared first, by one thread.
const KEPT: usize = 1 << 21;

thread_local! {
    static SPARE: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// The elements that a mask chooses, in C order.
#[derive(Debug)]
pub struct Chosen {
    words: Vec<u64>,
    /// How many are chosen before each block, and at last in all.
    starts: Vec<usize>,
    length: usize,
}

/// The number of a share, its words, and for each block how many are chosen in it.
type Part<'a> = (usize, (&'a mut [u64], &'a mut [usize]));

impl Chosen {
    /// Those for which a program's first output is true; and what its steps signalled.
    ///
    /// ```
    /// use dappled_kernels::{Buffer, Chosen, DType, Interpreter, Op, Operand, Program, Scalar, View};
    /// let half = Scalar::new(0.5);
    /// let mut program = Program::new(vec![DType::Float64], vec![half]);
    /// let args = [program.input(0), program.constant(0)];
    /// let mask = program.push(Op::Greater, DType::Float64, &args);
    /// program.outputs.push(mask);
    /// let (a, view) = (Buffer::from_slice(&[0.1, 0.7, 0.9]), View::c_order(DType::Float64, &[3]));
    /// let code = Interpreter::new(&program)?;
    /// let (chosen, _) = Chosen::new(&code, &[Operand::new(&a, &view)?])?;
    /// assert_eq!(chosen.count(), 2);
    /// # Ok::<(), dappled_kernels::Error>(())
    /// ```
    pub fn new(mask: &Interpreter, inputs: &[Operand<'_>]) -> Result<(Self, Raised), Error> {
        let found = mask.program.dtype(mask.program.outputs[0]).expect("checked");
        if found != DType::Bool {
            let (place, expected) = ("a mask".into(), DType::Bool);
            return Err(Error::DTypeMismatch { place, expected, found });
        }
        let bound = Bound::new(&mask.program, inputs, &[], Order::C)?;
        let length = bound.space().len();
        let mut words = SPARE.take();
        memory::resize(&mut words, length.div_ceil(64), 0);
        let mut starts: Vec<usize> = memory::zeros(length.div_ceil(BLOCK) + 1);
        let parts = words.chunks_mut(WORDS * SHARE).zip(starts[1..].chunks_mut(SHARE));
        let mask = Mask::new(mask, &bound);
        let raised =
            share(memory::collected(parts.enumerate()), |(share, (words, counts)): Part<'_>| {
                let raised = mask.write(share * SHARE * BLOCK, length, words);
                for (words, count) in words.chunks(WORDS).zip(counts) {
                    *count = words.iter().map(|word| word.count_ones() as usize).sum();
                }
                raised
            });
        let raised = raised.into_iter().fold(Raised::default(), Raised::join);
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        Ok((Self { words, starts, length }, raised))
    }

    /// How many are chosen.
    pub fn count(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// Of how many elements.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The block that has the chosen element of this number.
    pub(crate) fn block_with(&self, number: usize) -> usize {
        self.starts.partition_point(|&start| start <= number).saturating_sub(1)
    }

    /// The same, from a block on that comes not long before: the table of all is far from any cache.
    pub(crate) fn block_from(&self, block: usize, number: usize) -> usize {
        let after = self.starts[block + 1..].iter().position(|&start| start > number);
        block + after.expect("fewer than all are chosen before it")
    }

    /// How many are chosen before a block.
    pub(crate) fn start(&self, block: usize) -> usize {
        self.starts[block]
    }

    /// The elements of some blocks, and their bits.
    pub(crate) fn blocks(&self, blocks: Range<usize>) -> (Range<usize>, &[u64]) {
        let elements = blocks.start * BLOCK..self.length.min(blocks.end * BLOCK);
        (elements, &self.words[blocks.start * WORDS..self.words.len().min(blocks.end * WORDS)])
    }

    /// Writes what is chosen of a program's first output, into a buffer of just that length. There
    /// must be as many values as the mask has elements.
    pub fn write(
        &self,
        code: &Interpreter,
        inputs: &[Operand<'_>],
        out: &Buffer,
    ) -> Result<Raised, Error> {
        let bound = Bound::new(&code.program, inputs, &[], Order::C)?.choosing(Some(self))?;
        let item = code.outputs[0].itemsize;
        let mut out = out.write()?;
        let (needed, len) = (self.count() * item, out.len());
        if len != needed {
            return Err(Error::OutOfBounds { start: 0, stop: needed as i128, len });
        }
        let shares = out.par_chunks_mut(BLOCK * SHARE * item).enumerate();
        let raised = shares.map(|(share, out)| {
            let work = |machine: &mut Machine<'_>| {
                for (at, out) in out.chunks_mut(BLOCK * item).enumerate() {
                    let start = (share * SHARE + at) * BLOCK;
                    out.copy_from_slice(machine.value(start..start + out.len() / item));
                }
            };
            let (_, Folded { steps, .. }) = Machine::with(code, &bound, Flags::NONE, work);
            steps
        });
        Ok(interrupt::pooled(self.length, || raised.reduce(Raised::default, Raised::join)))
    }
}

impl Drop for Chosen {
    fn drop(&mut self) {
        if self.words.capacity() <= KEPT {
            // At a thread's end there is no next one.
            let _ = SPARE.try_with(|spare| spare.set(std::mem::take(&mut self.words)));
        }
    }
}
