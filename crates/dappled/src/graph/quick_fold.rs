//! Reductions of small arrays that are ready: no program is made for them.

use std::sync::Arc;

use dappled_kernels::{
    Buffer, DType, Interpreter, Operand as Memory, Program, Reduction, Scalar, View, reduce,
};

use super::memory::small_memory;
use super::{Array, Folding, GraphError, Session};
use crate::run::RunError;
use crate::view::memory_order;

impl Array {
    /// [`Array::fold`], with fewer steps for a small array that is ready.
    pub fn folded(&self, folding: &Folding) -> Result<Array, GraphError> {
        // A result lies as its argument does.
        let turned = memory_order(&[self.view()], self.shape().len()).is_some();
        let Some(memory) = ready(self, folding).filter(|_| !turned) else {
            return self.fold(folding);
        };
        let base = View::c_order(folding.dtype, &folding.folded(self.shape()));
        let out = small_memory(base.len() * folding.dtype.itemsize());
        fold_into(self, folding, &memory, (&out, &base))?;
        Ok(Array::whole(self.session(), base, out))
    }

    /// All axes folded, at once. Collective.
    pub fn total(&self, folding: &Folding) -> Result<Scalar, GraphError> {
        let Some(memory) = ready(self, folding) else {
            let folded = self.fold(folding)?;
            return folded.element(folded.view().offset);
        };
        let base = View::c_order(folding.dtype, &folding.folded(self.shape()));
        let out = small_memory(folding.dtype.itemsize());
        fold_into(self, folding, &memory, (&out, &base))?;
        let value = Scalar::from_bytes(folding.dtype, &out.read().map_err(RunError::from)?);
        super::memory::keep_small(out);
        Ok(value)
    }
}

/// The memory of a small array that is folded as it is, if that is known.
fn ready(array: &Array, folding: &Folding) -> Option<Buffer> {
    let (session, view) = (array.session(), array.view());
    let small = (1..=session.limits().at_once).contains(&view.len());
    // NumPy's result lies as its argument does: here in C order.
    if !small || view.dtype != folding.dtype || memory_order(&[view], view.shape.len()).is_some() {
        return None;
    }
    array.versions.with_current(|node| node.whole_memory().cloned())
}

fn fold_into(
    array: &Array,
    folding: &Folding,
    memory: &Buffer,
    (out, base): (&Buffer, &View),
) -> Result<(), GraphError> {
    let (session, view) = (array.session(), array.view());
    let reduction = Reduction {
        fold: folding.fold,
        axes: &folding.axes,
        order: &view.strides,
        part_of: None,
        initial: folding.initial,
        continues: false,
        casts: false,
    };
    let engine = session.reader(view.dtype)?;
    let input = Memory::new(memory, view).map_err(RunError::from)?;
    let output = Memory::new(out, base).map_err(RunError::from)?;
    let folded = reduce(&engine, &[input], &reduction, &output).map_err(RunError::from)?;
    session.notices().add("reduce", folded.folding, None);
    Ok(())
}

impl Session {
    /// The program that gives what it reads.
    fn reader(&self, dtype: DType) -> Result<Arc<Interpreter>, GraphError> {
        let known = &self.known().readers[dtype as usize];
        if let Some(reader) = known.get() {
            return Ok(reader.clone());
        }
        let mut program = Program::new(vec![dtype], Vec::new());
        program.outputs.push(program.input(0));
        let made = Arc::new(Interpreter::new(&program).map_err(RunError::from)?);
        Ok(known.get_or_init(|| made).clone())
    }
}
