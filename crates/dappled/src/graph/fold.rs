//! Reductions: the pending operations below them are folded in, so that memory is read once.

use std::sync::Arc;

use dappled_kernels::{Buffer, DType, Fold, Operand as Memory, Reduction, Scalar, View, reduce};

use super::evaluate::{buffers, operands};
use super::fuse::{Fused, fused};
use super::layout::Layout;
use super::node::{Node, State};
use super::{Array, GraphError, Session, spread_fold};
use crate::run::RunError;

/// A reduction as NumPy's `ufunc.reduce` is asked for one.
#[derive(Clone, Debug)]
pub struct Folding {
    /// The operation.
    pub fold: Fold,
    /// The axes that go away.
    pub axes: Vec<usize>,
    /// In which dtype.
    pub dtype: DType,
    /// What it starts from; None: from the first value.
    pub initial: Option<Scalar>,
}

impl Folding {
    /// The shape of the values with folded axes of length 1.
    pub(super) fn folded(&self, shape: &[usize]) -> Vec<usize> {
        let length = |(axis, &length): (usize, &usize)| {
            if self.axes.contains(&axis) { 1 } else { length }
        };
        shape.iter().enumerate().map(length).collect()
    }
}

impl Array {
    /// Folds some axes, at once; they stay, with length 1. Collective.
    pub fn fold(&self, folding: &Folding) -> Result<Array, GraphError> {
        let session = self.session();
        let fused = fused(session, &self.arg(), folding.dtype)?;
        if fused.inputs.iter().any(|(input, _)| !input.layout.is_whole()) {
            return spread_fold::folded(self, folding);
        }
        let base = View::c_order(folding.dtype, &folding.folded(self.shape()));
        let memory = session.freed().memory(base.len() * folding.dtype.itemsize());
        fold_into(session, &fused, self, folding, (&memory, &base))?;
        let node = Node::new(session, base, Layout::Whole, State::Stored(memory));
        Ok(Array::over(session, node))
    }

    /// Without the axes that were folded.
    pub fn without(&self, axes: &[usize]) -> Array {
        let kept: Vec<usize> =
            (0..self.shape().len()).filter(|axis| !axes.contains(axis)).collect();
        self.transposed(&kept)
    }
}

/// Folds memory that is all here.
fn fold_into(
    session: &Session,
    fused: &Fused,
    array: &Array,
    folding: &Folding,
    (memory, base): (&Buffer, &View),
) -> Result<(), GraphError> {
    // A value that is the same everywhere needs a place to be read from.
    let filled;
    let fused = match fused.inputs.is_empty() {
        true => {
            filled = stored(session, array, folding.dtype)?;
            &filled
        }
        false => fused,
    };
    let engine = session.engine(&fused.program)?;
    let buffers = buffers(session, &fused.inputs)?;
    let inputs = operands(&buffers, &fused.inputs)?;
    let reduction = Reduction {
        fold: folding.fold,
        axes: &folding.axes,
        order: &array.view().strides,
        initial: folding.initial,
        casts: array.dtype() != folding.dtype,
    };
    let out = Memory::new(memory, base).map_err(RunError::from)?;
    reduce(&engine, &inputs, &reduction, &out).map_err(RunError::from)?;
    Ok(())
}

/// The program that reads an array in C order from memory.
fn stored(session: &Session, array: &Array, dtype: DType) -> Result<Fused, GraphError> {
    let copy = array.cast_copy(array.dtype())?;
    let node: Arc<Node> = copy.versions.current();
    fused(session, &super::node::Arg::Part(node, copy.view().clone()), dtype)
}
