//! Loops that somebody compiles while the program runs: what they promise, and who makes them.

use std::any::Any;
use std::sync::Arc;

use crate::{DType, Op, Program};

/// Makes loops of programs. What it does not make, the interpreter does.
pub trait Compiler: Send + Sync {
    /// Can this operation be a part of a loop?
    fn has(&self, op: Op, dtype: DType) -> bool;

    /// From how many elements times steps on, in all runs of a program, a loop is worth making.
    fn least_work(&self) -> usize;

    /// From how many steps on.
    fn least_steps(&self) -> usize;

    /// A loop of a program without constants, all its steps being those that it [has](Self::has).
    /// Where `repeated` says so, an input is one element for the whole loop.
    fn compile(&self, program: &Program, repeated: &[bool]) -> Option<Arc<FusedLoop>>;
}

/// A program as one loop over elements that lie one after the other.
pub struct FusedLoop {
    function: LoopFunction,
    least: usize,
    _code: Box<dyn Any + Send + Sync>,
}

/// The memory of the inputs, then of the outputs, and how many elements.
pub type LoopFunction = unsafe extern "C" fn(*const *mut u8, usize);

impl FusedLoop {
    /// A function that can be called as long as `code` lives, with at least so many elements.
    ///
    /// # Safety
    /// Called with `count >= least` and pointers to as many elements of each input (one, where it
    /// is repeated) and of each output, no output sharing a byte with another operand, it may only
    /// read the inputs and write the outputs, and must return.
    pub unsafe fn new(
        function: LoopFunction,
        least: usize,
        code: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self { function, least, _code: code }
    }

    /// The fewest elements that it can do.
    pub fn least(&self) -> usize {
        self.least
    }

    /// Computes so many elements.
    ///
    /// # Safety
    /// What [`FusedLoop::new`] says of a call.
    pub unsafe fn call(&self, operands: &[*mut u8], count: usize) {
        debug_assert!(count >= self.least);
        // SAFETY: the caller's promise; the code is alive.
        unsafe { (self.function)(operands.as_ptr(), count) }
    }
}
