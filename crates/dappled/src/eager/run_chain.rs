//! Evaluation of operation chains.

use std::sync::Arc;

use dappled_kernels::{Buffer, BufferView, DType, Engine, Interpreter, StepFlags, View};
use smallvec::SmallVec;

use super::chain::{ChainInput, OpChain};
use super::chain_program::ChainCache;
use crate::array::Array;
use crate::config::MAX_CHAIN_INPUTS;
use crate::error::{Result, RunError};
use crate::session::buffer_pool::take_small_buffer;
use crate::session::build_interpreter;
use crate::session::fp_warnings::RequestContext;

impl ChainInput {
    fn buffer(&self) -> &Buffer {
        self.node.replicated_buffer().expect("inputs of a chain are local")
    }

    fn view(&self, dtype: DType, shape: &[usize]) -> View {
        let mut view = View::c_order(dtype, shape);
        view.offset = self.offset;
        if let Some(strides) = &self.strides {
            view.strides.copy_from_slice(strides);
        }
        view
    }
}

impl OpChain {
    /// Evaluates the chain, and records floating-point flags with the context of each step.
    pub fn evaluate(&self, origin: impl Fn(u32) -> Option<Arc<RequestContext>>) -> Result<Array> {
        let base = View::c_order(self.dtype(), &self.shape);
        let (memory, raised) = self.run(&base)?;
        for (at, flags) in raised.iter() {
            let name = self.program.steps[at].op.numpy_name();
            self.session.fp_warnings().add(name, flags, origin(self.call_sites[at]).as_ref());
        }
        Ok(Array::replicated(&self.session, base, memory))
    }

    fn run(&self, base: &View) -> Result<(Buffer, StepFlags)> {
        let cache = &self.session.layer::<ChainCache>().0;
        let code = cache
            .get_or_insert_with(&self.program, || build_interpreter(&self.program.program()))?;
        let out = take_small_buffer(base.len() * base.dtype.itemsize());
        if self.run_compiled(&code, &out)? {
            return Ok((out, StepFlags::default()));
        }
        let inputs = self.inputs.iter().zip(self.program.inputs.iter());
        let views: SmallVec<[View; MAX_CHAIN_INPUTS]> =
            inputs.map(|(input, &dtype)| input.view(dtype, &self.shape)).collect();
        let inputs = self.inputs.iter().zip(&views);
        let inputs: Result<SmallVec<[BufferView<'_>; MAX_CHAIN_INPUTS]>, _> =
            inputs.map(|(input, view)| BufferView::new(input.buffer(), view)).collect();
        let raised = code.run(&inputs?, &[BufferView::new(&out, base)?])?;
        Ok((out, raised))
    }

    /// Runs the compiled loop of the chain, if there is one and all inputs are contiguous.
    fn run_compiled(&self, code: &Interpreter, out: &Buffer) -> Result<bool, RunError> {
        if self.inputs.iter().any(|input| input.strides.is_some()) {
            return Ok(false);
        }
        let mut claims: SmallVec<[_; MAX_CHAIN_INPUTS]> = SmallVec::new();
        for input in &self.inputs {
            claims.push(input.buffer().read()?);
        }
        let mut slices: [&[u8]; MAX_CHAIN_INPUTS] = [&[]; MAX_CHAIN_INPUTS];
        let inputs = self.inputs.iter().zip(self.program.inputs.iter());
        for ((slice, claim), (input, dtype)) in slices.iter_mut().zip(&claims).zip(inputs) {
            *slice = &claim[input.offset..][..self.len() * dtype.itemsize()];
        }
        Ok(code.run_compiled(&slices[..self.inputs.len()], &mut out.write()?)?)
    }
}
