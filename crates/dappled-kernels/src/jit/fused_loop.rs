//! The interface of the run-time compiler.

use std::any::Any;
use std::sync::Arc;

use crate::program::Program;
use crate::types::dtype::DType;
use crate::types::op::table::Op;

/// Compiles programs to loops. The interpreter runs whatever is not compiled.
pub trait Compiler: Send + Sync {
    /// True if a loop can contain this operation.
    fn supports(&self, op: Op, dtype: DType) -> bool;

    /// The total work of a program, in elements times steps over all runs, that justifies compiling
    /// it.
    fn min_work(&self) -> usize;

    /// The number of steps that justifies a loop.
    fn min_steps(&self) -> usize;

    /// Compiles a program without constants whose steps are all [supported](Self::supports).
    ///
    /// An input marked in `is_broadcast` is one element for the whole loop. Returns `None` if the
    /// loop cannot be compiled.
    fn compile(&self, program: &Program, repeated: &[bool]) -> Option<Arc<FusedLoop>>;
}

/// A program compiled to one loop over contiguous elements.
pub struct FusedLoop {
    function: LoopFunction,
    least: usize,
    _code: Box<dyn Any + Send + Sync>,
}

/// Arguments: pointers to the inputs, then to the outputs; the number of elements.
pub type LoopFunction = unsafe extern "C" fn(*const *mut u8, usize);

impl FusedLoop {
    /// Wraps a function that stays callable while `code` exists.
    ///
    /// # Safety
    /// If called with `count >= min_elements` and pointers to `count` elements of each input (one,
    /// if it is broadcast) and each output, where no output shares a byte with another operand, the
    /// function must only read the inputs, write the outputs, and return.
    pub unsafe fn new(
        function: LoopFunction,
        least: usize,
        code: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self { function, least, _code: code }
    }

    /// The smallest number of elements the loop can process.
    pub fn min_elements(&self) -> usize {
        self.least
    }

    /// Computes `count` elements.
    ///
    /// # Safety
    /// The conditions of [`FusedLoop::new`] for a call.
    pub unsafe fn call(&self, operands: &[*mut u8], count: usize) {
        debug_assert!(count >= self.least);
        // SAFETY: guaranteed by the caller; `_code` keeps the function alive.
        unsafe { (self.function)(operands.as_ptr(), count) }
    }
}
