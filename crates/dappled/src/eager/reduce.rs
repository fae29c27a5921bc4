//! Eager reductions of small arrays, without a program.

use std::sync::Arc;

use dappled_kernels::{
    Buffer, BufferView as Memory, DType, Interpreter, Program, ReduceLayout, Reduction, View,
    reduce, reduce_contiguous,
};

use super::elementwise::with_contiguous;
use crate::array::Array;
use crate::error::Result;
use crate::graph::reduce_request::ReduceRequest;
use crate::session::Session;
use crate::session::buffer_pool::take_small_buffer;

impl Array {
    /// Reduces the leading or trailing axes of a small contiguous array; None for other arrays.
    pub(crate) fn reduce_contiguous(
        &self,
        folding: &ReduceRequest,
        base: &View,
    ) -> Result<Option<Buffer>> {
        let Some(along) = ReduceLayout::of(self.shape(), &folding.axes) else { return Ok(None) };
        if !is_eager_reducible(self, folding.dtype, along) {
            return Ok(None);
        }
        let out = take_small_buffer(base.len() * folding.dtype.itemsize());
        let mut bytes = out.write()?;
        let done = self.reduce_contiguous_into(folding, along, &mut bytes)?;
        drop(bytes);
        Ok(done.then_some(out))
    }

    /// Reduces into accumulators; false if the elements are not contiguous or not local.
    pub(crate) fn reduce_contiguous_into(
        &self,
        folding: &ReduceRequest,
        along: ReduceLayout,
        accs: &mut [u8],
    ) -> Result<bool> {
        if !is_eager_reducible(self, folding.dtype, along) {
            return Ok(false);
        }
        let (dtype, bytes) = (folding.dtype, self.view().len() * folding.dtype.itemsize());
        let flags = with_contiguous(self, |(memory, offset)| {
            let values = &memory.read()?[offset..offset + bytes];
            Ok(Some(reduce_contiguous(folding.fold, dtype, along, values, accs, folding.initial)))
        })?;
        flags.iter().for_each(|&flags| self.session().fp_warnings().add("reduce", flags, None));
        Ok(flags.is_some())
    }
}

/// Returns true if the array is small, contiguous and of this dtype.
pub(crate) fn is_small_contiguous(array: &Array, dtype: DType) -> bool {
    is_small(array, dtype) && array.view().is_contiguous()
}

/// Returns true if the array can be reduced eagerly.
///
/// The limit for reductions along the leading axes is higher, since these gain nothing from
/// threads.
fn is_eager_reducible(array: &Array, dtype: DType, along: ReduceLayout) -> bool {
    let limit = match along {
        ReduceLayout::Rows => array.session().limits().eager_copy_max(),
        ReduceLayout::Runs => array.session().limits().eager_max,
    };
    (1..=limit).contains(&array.view().len())
        && array.dtype() == dtype
        && array.view().is_contiguous()
}

/// Returns true if the array is small and of this dtype.
pub(crate) fn is_small(array: &Array, dtype: DType) -> bool {
    let limit = array.session().limits().eager_max;
    (1..=limit).contains(&array.view().len()) && array.dtype() == dtype
}

/// Reduces small local memory of any strides.
pub(crate) fn reduce_strided(
    array: &Array,
    folding: &ReduceRequest,
    memory: &Buffer,
    (out, base): (&Buffer, &View),
) -> Result<()> {
    let (session, view) = (array.session(), array.view());
    let reduction = Reduction {
        op: folding.fold,
        axes: &folding.axes,
        strides: &view.strides,
        full_shape: None,
        initial: folding.initial,
        continues: false,
        casts: false,
    };
    let engine = session.identity_program(view.dtype)?;
    let input = Memory::new(memory, view)?;
    let output = Memory::new(out, base)?;
    let folded = reduce(&engine, &[input], &reduction, &output)?;
    session.fp_warnings().add("reduce", folded.reduction, None);
    Ok(())
}

impl Session {
    /// The program that copies its input.
    fn identity_program(&self, dtype: DType) -> Result<Arc<Interpreter>> {
        let cache = &self.caches().identity_programs[dtype as usize];
        if let Some(reader) = cache.get() {
            return Ok(reader.clone());
        }
        let mut program = Program::new(vec![dtype], Vec::new());
        program.outputs.push(program.input(0));
        let interpreter = Arc::new(Interpreter::new(&program)?);
        Ok(cache.get_or_init(|| interpreter).clone())
    }
}
