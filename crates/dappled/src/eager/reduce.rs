//! Eager reductions of small arrays, without a program.

use std::sync::Arc;

use dappled_kernels::element::word_bytes;
use dappled_kernels::{
    Buffer, BufferView as Memory, DType, Interpreter, Op, Program, ReduceLayout, Reduction, Scalar,
    View, reduce, reduce_contiguous,
};

use super::elementwise::with_contiguous;
use crate::array::Array;
use crate::error::Result;
use crate::graph::elementwise::cast_in_c_order;
use crate::ops::reduce::ReduceRequest;
use crate::session::Session;
use crate::session::buffer_pool::take_small_buffer;
use crate::view::memory_order::{is_f_ordered, memory_order};

impl Array {
    /// Reduces over axes, in a few steps if the array is small and local.
    pub fn reduce_eager_first(&self, folding: &ReduceRequest) -> Result<Array> {
        if let Some(cast) = self.cast_if_exact(folding)? {
            return cast.reduce_eager_first(folding);
        }
        // The memory order of NumPy's result follows the array: here C order.
        let permuted = memory_order(&[self.view()], self.shape().len()).is_some();
        if permuted {
            return self.reduce(folding);
        }
        let base = View::c_order(folding.dtype, &folding.reduced_shape(self.shape()));
        if let Some(memory) = self.reduce_contiguous(folding, &base)? {
            return Ok(Array::replicated(self.session(), base, memory));
        }
        if !is_small(self, folding.dtype) {
            return self.reduce(folding);
        }
        let buffer = self.storage.with_current(|node| node.replicated_buffer().cloned());
        let Some(memory) = buffer else { return self.reduce(folding) };
        let out = take_small_buffer(base.len() * folding.dtype.itemsize());
        reduce_into(self, folding, &memory, (&out, &base))?;
        Ok(Array::replicated(self.session(), base, out))
    }

    /// Reduces over all axes to a scalar. Collective.
    pub fn reduce_all(&self, folding: &ReduceRequest) -> Result<Scalar> {
        let mut total = [0u64; 2];
        let bytes = &mut word_bytes(&mut total)[..folding.dtype.itemsize()];
        if self.reduce_contiguous_into(folding, ReduceLayout::Runs, bytes)? {
            return Ok(Scalar::from_bytes(folding.dtype, bytes));
        }
        // The order of the axes has no effect if all are reduced.
        let permuted = || self.with_view(self.view().transposed());
        if is_f_ordered(self.view())
            && permuted().reduce_contiguous_into(folding, ReduceLayout::Runs, bytes)?
        {
            return Ok(Scalar::from_bytes(folding.dtype, bytes));
        }
        let folded = self.reduce_eager_first(folding)?;
        folded.element(folded.view().offset)
    }

    /// Casts a small contiguous array to the dtype of the reduction, if the cast is exact.
    ///
    /// An inexact cast must happen in NumPy's buffers, since its rounding order is visible.
    fn cast_if_exact(&self, folding: &ReduceRequest) -> Result<Option<Array>> {
        let (from, to) = (self.dtype(), folding.dtype);
        let exact = to == DType::Bool || from.is_integral() && to.is_integral();
        let ready =
            || is_small_contiguous(self, from) && self.is_replicated() && self.is_materialized();
        if from == to || !exact || !ready() {
            return Ok(None);
        }
        cast_in_c_order(self, Op::Cast(to).into()).map(Some)
    }

    /// Reduces the leading or trailing axes of a small contiguous array; None for other arrays.
    fn reduce_contiguous(&self, folding: &ReduceRequest, base: &View) -> Result<Option<Buffer>> {
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
    fn reduce_contiguous_into(
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
fn is_small_contiguous(array: &Array, dtype: DType) -> bool {
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

fn is_small(array: &Array, dtype: DType) -> bool {
    let limit = array.session().limits().eager_max;
    (1..=limit).contains(&array.view().len()) && array.dtype() == dtype
}

fn reduce_into(
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
