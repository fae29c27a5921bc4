//! Reductions of small arrays that are ready: no program is made for them.

use std::sync::Arc;

use dappled_kernels::element::word_bytes;
use dappled_kernels::{
    Along, Buffer, DType, Interpreter, Op, Operand as Memory, Program, Reduction, Scalar, View,
    fold_at_once, reduce,
};

use super::map::cast_in_c_order;
use super::memory::small_memory;
use super::quick::with_plain;
use super::{Array, Folding, GraphError, Session};
use crate::run::RunError;
use crate::view::{is_reversed, memory_order};

impl Array {
    /// [`Array::fold`], with fewer steps for a small array that is ready.
    pub fn folded(&self, folding: &Folding) -> Result<Array, GraphError> {
        if let Some(cast) = self.cast_exactly(folding)? {
            return cast.folded(folding);
        }
        // NumPy's result lies as its argument does: here in C order.
        let turned = memory_order(&[self.view()], self.shape().len()).is_some();
        if turned {
            return self.fold(folding);
        }
        let base = View::c_order(folding.dtype, &folding.folded(self.shape()));
        if let Some(memory) = self.folded_in_order(folding, &base)? {
            return Ok(Array::whole(self.session(), base, memory));
        }
        if !is_small(self, folding.dtype) {
            return self.fold(folding);
        }
        let whole = self.versions.with_current(|node| node.whole_memory().cloned());
        let Some(memory) = whole else { return self.fold(folding) };
        let out = small_memory(base.len() * folding.dtype.itemsize());
        fold_into(self, folding, &memory, (&out, &base))?;
        Ok(Array::whole(self.session(), base, out))
    }

    /// All axes folded, at once. Collective.
    pub fn total(&self, folding: &Folding) -> Result<Scalar, GraphError> {
        let mut total = [0u64; 2];
        let bytes = &mut word_bytes(&mut total)[..folding.dtype.itemsize()];
        if self.fold_in_order(folding, Along::Runs, bytes)? {
            return Ok(Scalar::from_bytes(folding.dtype, bytes));
        }
        // In which order the axes are does not matter where all are folded.
        let turned = || self.with_view(self.view().transposed());
        if is_reversed(self.view()) && turned().fold_in_order(folding, Along::Runs, bytes)? {
            return Ok(Scalar::from_bytes(folding.dtype, bytes));
        }
        let folded = self.folded(folding)?;
        folded.element(folded.view().offset)
    }

    /// The elements in the fold's dtype, where a small array lies one element after the other, and that
    /// they were cast does not show: NumPy does it a buffer at a time.
    fn cast_exactly(&self, folding: &Folding) -> Result<Option<Array>, GraphError> {
        let (from, to) = (self.dtype(), folding.dtype);
        let exact = to == DType::Bool || from.is_integral() && to.is_integral();
        let ready = || is_in_order(self, from) && self.is_whole() && self.is_stored();
        if from == to || !exact || !ready() {
            return Ok(None);
        }
        cast_in_c_order(self, Op::Cast(to).into()).map(Some)
    }

    /// The memory of the result, where a small array's elements lie one after the other and some of
    /// its first or of its last axes are folded.
    fn folded_in_order(
        &self,
        folding: &Folding,
        base: &View,
    ) -> Result<Option<Buffer>, GraphError> {
        let Some(along) = Along::of(self.shape(), &folding.axes) else { return Ok(None) };
        if !is_foldable(self, folding.dtype, along) {
            return Ok(None);
        }
        let out = small_memory(base.len() * folding.dtype.itemsize());
        let mut bytes = out.write().map_err(RunError::from)?;
        let done = self.fold_in_order(folding, along, &mut bytes)?;
        drop(bytes);
        Ok(done.then_some(out))
    }

    /// Folds into these accumulators; false if the elements do not lie so, or are not here.
    fn fold_in_order(
        &self,
        folding: &Folding,
        along: Along,
        accs: &mut [u8],
    ) -> Result<bool, GraphError> {
        if !is_foldable(self, folding.dtype, along) {
            return Ok(false);
        }
        let (dtype, bytes) = (folding.dtype, self.view().len() * folding.dtype.itemsize());
        let flags = with_plain(self, |(memory, offset)| {
            let values = &memory.read().map_err(RunError::from)?[offset..offset + bytes];
            Ok(Some(fold_at_once(folding.fold, dtype, along, values, accs, folding.initial)))
        })?;
        flags.iter().for_each(|&flags| self.session().notices().add("reduce", flags, None));
        Ok(flags.is_some())
    }
}

/// Is it small, of this dtype, and lies one element after the other?
fn is_in_order(array: &Array, dtype: DType) -> bool {
    is_small(array, dtype) && array.view().is_contiguous()
}

/// The same, or is it a little longer and folded row by row, which gains nothing by threads?
fn is_foldable(array: &Array, dtype: DType, along: Along) -> bool {
    let most = match along {
        Along::Rows => array.session().limits().copied(),
        Along::Runs => array.session().limits().at_once,
    };
    (1..=most).contains(&array.view().len())
        && array.dtype() == dtype
        && array.view().is_contiguous()
}

fn is_small(array: &Array, dtype: DType) -> bool {
    let most = array.session().limits().at_once;
    (1..=most).contains(&array.view().len()) && array.dtype() == dtype
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
