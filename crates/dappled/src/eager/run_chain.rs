//! Evaluation of operation chains.
//!
//! Contiguous inputs are processed at once; with strided inputs, tiles of rows are packed first.

use std::ops::Range;
use std::sync::Arc;

use dappled_kernels::{Axes, Buffer, DType, Interpreter, StepFlags, View};
use smallvec::SmallVec;

use super::chain::{ChainInput, OpChain};
use super::chain_program::ChainCache;
use super::single_op::pack_view;
use crate::array::Array;
use crate::config::{CHAIN_TILE_ELEMENTS, MAX_CHAIN_INPUTS};
use crate::error::Result;
use crate::error::RunError;
use crate::session::buffer_pool::{recycle_small, take_small_buffer};
use crate::session::build_interpreter;
use crate::session::fp_warnings::RequestContext;

impl ChainInput {
    fn buffer(&self) -> &Buffer {
        self.node.replicated_buffer().expect("inputs of a chain are local")
    }
}

impl OpChain {
    /// Evaluates the chain, and records floating-point flags with the context of each step.
    pub fn evaluate(&self, origin: impl Fn(u32) -> Option<Arc<RequestContext>>) -> Result<Array> {
        let (memory, raised) = self.run()?;
        for (at, flags) in raised.iter() {
            let name = self.program.steps[at].op.numpy_name();
            self.session.fp_warnings().add(name, flags, origin(self.call_sites[at]).as_ref());
        }
        let base = View::c_order(self.dtype(), &self.shape);
        Ok(Array::replicated(&self.session, base, memory))
    }

    /// Processes all rows at once if the inputs are contiguous, otherwise tiles that fit in the L1
    /// cache.
    fn run(&self) -> Result<(Buffer, StepFlags)> {
        let cache = &self.session.layer::<ChainCache>().0;
        let code = cache
            .get_or_insert_with(&self.program, || build_interpreter(&self.program.program()))?;
        let (rows, item) = (self.shape[0], self.dtype().itemsize());
        let row = self.len() / rows;
        let tile_rows = match self.inputs.iter().any(|input| input.strides.is_some()) {
            true => (CHAIN_TILE_ELEMENTS / row).clamp(1, rows),
            false => rows,
        };
        let out = take_small_buffer(self.len() * item);
        let mut elements = out.write()?;
        let mut raised = StepFlags::default();
        for (start, slice) in
            (0..rows).step_by(tile_rows).zip(elements.chunks_mut(tile_rows * row * item))
        {
            let tile = start..rows.min(start + tile_rows);
            raised = raised.join(self.run_rows(&code, tile, slice)?);
        }
        drop(elements);
        Ok((out, raised))
    }

    fn run_rows(
        &self,
        code: &Interpreter,
        rows: Range<usize>,
        out: &mut [u8],
    ) -> Result<StepFlags, RunError> {
        let row = self.len() / self.shape[0];
        let inputs = || self.inputs.iter().zip(self.program.inputs.iter());
        let copies = inputs().map(|(input, &dtype)| self.pack_rows(input, dtype, &rows));
        let copies = copies.collect::<Result<SmallVec<[Option<Buffer>; MAX_CHAIN_INPUTS]>, _>>()?;
        let mut memories: SmallVec<[_; MAX_CHAIN_INPUTS]> = SmallVec::new();
        for (input, copy) in self.inputs.iter().zip(&copies) {
            memories.push(copy.as_ref().unwrap_or_else(|| input.buffer()).read()?);
        }
        let mut slices: [&[u8]; MAX_CHAIN_INPUTS] = [&[]; MAX_CHAIN_INPUTS];
        for ((slice, memory), (input, dtype)) in slices.iter_mut().zip(&memories).zip(inputs()) {
            let bytes = row * dtype.itemsize();
            let before = || input.offset + rows.start * bytes;
            let start = if input.strides.is_some() { 0 } else { before() };
            *slice = &memory[start..start + rows.len() * bytes];
        }
        let raised = code.run_contiguous(&slices[..self.inputs.len()], out)?;
        drop(memories);
        copies.into_iter().flatten().for_each(recycle_small);
        Ok(raised)
    }

    /// Packs rows of a strided input.
    fn pack_rows(
        &self,
        input: &ChainInput,
        dtype: DType,
        rows: &Range<usize>,
    ) -> Result<Option<Buffer>, RunError> {
        let Some(strides) = &input.strides else { return Ok(None) };
        let (shape, strides) = (self.shape.clone(), Axes::from_slice(strides));
        let view = View { dtype, offset: input.offset, shape, strides };
        pack_view(input.buffer(), &view.slice_axis(0, rows.start, 1, rows.len())).map(Some)
    }
}
