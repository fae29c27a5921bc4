//! Scans and searches: the pending operations below them are folded in, as into reductions.
//!
//! Both are done on memory that is whole: values in pieces are brought together first.

use dappled_kernels::{
    DType, Error, Extreme, Fold, Interpreter, Operand as Memory, View, arg_reduce, scan,
};

use super::evaluate::{buffers, operands};
use super::fold::repeated;
use super::fuse::{Fused, fused};
use super::layout::Layout;
use super::node::Arg;
use super::spread::computed;
use super::{Array, GraphError};
use crate::run::RunError;
use crate::view::{memory_order, moved};

impl Array {
    /// Each element folded with all before it along an axis, in a dtype, at once: NumPy's
    /// `ufunc.accumulate`. Collective.
    pub fn scan(&self, fold: Fold, axis: usize, dtype: DType) -> Result<Array, GraphError> {
        // NumPy's result lies as its argument does.
        let Some(order) = memory_order(&[self.view()], self.shape().len()) else {
            return self.scan_in_c_order(fold, axis, dtype);
        };
        let back = moved(&order);
        let turned = self.transposed(&order).scan_in_c_order(fold, back[axis], dtype)?;
        Ok(turned.transposed(&back))
    }

    fn scan_in_c_order(&self, fold: Fold, axis: usize, dtype: DType) -> Result<Array, GraphError> {
        let values = values(self, dtype)?;
        let out = View::c_order(dtype, self.shape());
        let (result, folded) =
            written(self, &values, out, |code, inputs, out| scan(code, inputs, fold, axis, out))?;
        self.session().notices().add_all(&values.steps, &folded.steps);
        self.session().notices().add("accumulate", folded.folding, None);
        Ok(result)
    }

    /// Where the least or the greatest element is, along an axis, which stays, with length 1; or
    /// among all of them, which are then counted in C order. Collective.
    pub fn arg_fold(&self, extreme: Extreme, axis: Option<usize>) -> Result<Array, GraphError> {
        let values = values(self, self.dtype())?;
        let counted = |at: usize| axis.is_none_or(|axis| axis == at);
        let lengths = self.shape().iter().enumerate();
        let shape = lengths.map(|(at, &length)| if counted(at) { 1 } else { length });
        let out = View::c_order(DType::Int64, &shape.collect::<Vec<usize>>());
        let (result, raised) = written(self, &values, out, |code, inputs, out| {
            arg_reduce(code, inputs, extreme, axis, out)
        })?;
        self.session().notices().add_all(&values.steps, &raised);
        Ok(result)
    }
}

/// The program of an array's values in a dtype, over memory that is all here. Collective, unless
/// the array is whole.
fn values(array: &Array, dtype: DType) -> Result<Fused, GraphError> {
    let session = array.session();
    let made = fused(session, &array.arg(), dtype)?;
    if made.inputs.is_empty() {
        return repeated(array, dtype);
    }
    if made.inputs.iter().all(|(input, _)| input.layout.is_whole()) {
        return Ok(made);
    }
    let base = View::c_order(dtype, array.shape());
    let node = computed(session, &made, base.clone(), Layout::Whole)?;
    fused(session, &Arg::Part(node, base), dtype)
}

/// Runs a kernel over the values into a new array.
fn written<T>(
    array: &Array,
    values: &Fused,
    out: View,
    run: impl FnOnce(&Interpreter, &[Memory<'_>], &Memory<'_>) -> Result<T, Error>,
) -> Result<(Array, T), GraphError> {
    let session = array.session();
    let memory = session.freed().memory(out.len() * out.dtype.itemsize());
    let engine = session.engine(&values.program)?;
    let buffers = buffers(session, &values.inputs)?;
    let inputs = operands(&buffers, &values.inputs)?;
    let target = Memory::new(&memory, &out).map_err(RunError::from)?;
    let told = run(&engine, &inputs, &target).map_err(RunError::from)?;
    Ok((Array::whole(session, out, memory), told))
}
