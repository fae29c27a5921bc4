//! What was put together, computed: at once where all of it lies one element after the other, else some rows
//! at a time, of which those that do not are copied first.

use std::ops::Range;
use std::sync::Arc;

use dappled_kernels::{Axes, Buffer, DType, Interpreter, Raised, View};
use smallvec::SmallVec;

use super::memory::{keep_small, small_memory};
use super::notice::Origin;
use super::recipe::MOST;
use super::session::prepared;
use super::small::collected;
use super::soon::{Input, Soon};
use super::{Array, GraphError};
use crate::run::RunError;

/// Elements that are computed together where some have to be copied first: these stay in the first cache.
const AT_ONCE: usize = 1024;

impl Input {
    fn memory(&self) -> &Buffer {
        self.node.whole_memory().expect("found before")
    }
}

impl Soon {
    /// The array; what its operations signal is noted, with the origin of each step's mark.
    pub fn computed(
        &self,
        origin: impl Fn(u32) -> Option<Arc<Origin>>,
    ) -> Result<Array, GraphError> {
        let (memory, raised) = self.run()?;
        for (at, flags) in raised.iter() {
            let name = self.recipe.steps[at].op.numpy_name();
            self.session.notices().add(name, flags, origin(self.marks[at]).as_ref());
        }
        let base = View::c_order(self.dtype(), &self.shape);
        Ok(Array::whole(&self.session, base, memory))
    }

    /// All rows at once where elements lie one after the other; else as many as stay in the first cache.
    fn run(&self) -> Result<(Buffer, Raised), GraphError> {
        let known = &self.session.known().recipes;
        let code = known.get(&self.recipe, || prepared(&self.recipe.program()))?;
        let (rows, item) = (self.shape[0], self.dtype().itemsize());
        let row = self.len() / rows;
        let some = match self.inputs.iter().any(|input| input.strides.is_some()) {
            true => (AT_ONCE / row).clamp(1, rows),
            false => rows,
        };
        let out = small_memory(self.len() * item);
        let mut elements = out.write().map_err(RunError::from)?;
        let mut raised = Raised::default();
        for (start, part) in (0..rows).step_by(some).zip(elements.chunks_mut(some * row * item)) {
            let some = start..rows.min(start + some);
            raised = raised.join(self.run_rows(&code, some, part)?);
        }
        drop(elements);
        Ok((out, raised))
    }

    fn run_rows(
        &self,
        code: &Interpreter,
        rows: Range<usize>,
        out: &mut [u8],
    ) -> Result<Raised, RunError> {
        let row = self.len() / self.shape[0];
        let inputs = || self.inputs.iter().zip(self.recipe.inputs.iter());
        let copies = inputs().map(|(input, &dtype)| self.copy(input, dtype, &rows));
        let copies = copies.collect::<Result<SmallVec<[Option<Buffer>; MOST[0]]>, _>>()?;
        let mut memories: SmallVec<[_; MOST[0]]> = SmallVec::new();
        for (input, copy) in self.inputs.iter().zip(&copies) {
            memories.push(copy.as_ref().unwrap_or_else(|| input.memory()).read()?);
        }
        let mut parts: [&[u8]; MOST[0]] = [&[]; MOST[0]];
        for ((part, memory), (input, dtype)) in parts.iter_mut().zip(&memories).zip(inputs()) {
            let bytes = row * dtype.itemsize();
            let before = || input.offset + rows.start * bytes;
            let start = if input.strides.is_some() { 0 } else { before() };
            *part = &memory[start..start + rows.len() * bytes];
        }
        let raised = code.run_in_order(&parts[..self.inputs.len()], out)?;
        drop(memories);
        copies.into_iter().flatten().for_each(keep_small);
        Ok(raised)
    }

    /// Rows of what does not lie one element after the other, so that they do.
    fn copy(
        &self,
        input: &Input,
        dtype: DType,
        rows: &Range<usize>,
    ) -> Result<Option<Buffer>, RunError> {
        let Some(strides) = &input.strides else { return Ok(None) };
        let (shape, strides) = (self.shape.clone(), Axes::from_slice(strides));
        let view = View { dtype, offset: input.offset, shape, strides };
        collected(input.memory(), &view.region(0, rows.start, 1, rows.len())).map(Some)
    }
}
