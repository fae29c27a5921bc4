//! The product of two matrices that are here, by a function that somebody else has.

use dappled_kernels::{DType, View, watched};

use super::{Array, GraphError};
use crate::run::RunError;

/// Multiplies matrices in C order of this dtype: rows of the first, columns of the first and rows of
/// the second, columns of the second; both, and the product.
pub type Multiply = dyn Fn(DType, [usize; 3], [&[u8]; 2], &mut [u8]) + Sync;

/// The product of two matrices of floats in C order, none of whose lengths is 1; None for others. What
/// is pending of them is computed.
pub fn product(
    left: &Array,
    right: &Array,
    multiply: &Multiply,
) -> Result<Option<Array>, GraphError> {
    let (session, dtype) = (left.session(), left.dtype());
    let Some(lengths) = lengths(left, right) else { return Ok(None) };
    let (first, second) = (left.memory()?, right.memory()?);
    let [first, second] = [first.read(), second.read()].map(|claim| claim.map_err(RunError::from));
    let (first, second) = (first?, second?);
    let [first, second] = [elements(left.view(), &first), elements(right.view(), &second)];
    let aligned = |elements: &[u8]| elements.as_ptr().addr().is_multiple_of(dtype.itemsize());
    if !aligned(first) || !aligned(second) {
        return Ok(None);
    }
    let base = View::c_order(dtype, &[lengths[0], lengths[2]]);
    let out = session.freed().array(base.len() * dtype.itemsize(), &base);
    let mut made = out.write().map_err(RunError::from)?;
    let ((), flags) = watched(|| multiply(dtype, lengths, [first, second], &mut made));
    drop(made);
    session.notices().add("matmul", flags, None);
    Ok(Some(Array::whole(session, base, out)))
}

fn lengths(left: &Array, right: &Array) -> Option<[usize; 3]> {
    let (&[rows, inner], &[again, columns]) = (left.shape(), right.shape()) else { return None };
    let floats = left.dtype() == right.dtype()
        && matches!(left.dtype(), DType::Float64 | DType::Float32)
        && left.is_whole()
        && right.is_whole();
    let in_order = left.view().is_contiguous() && right.view().is_contiguous();
    let lengths = [rows, inner, columns];
    (floats && in_order && inner == again && lengths.iter().all(|&length| length > 1))
        .then_some(lengths)
}

fn elements<'a>(view: &View, memory: &'a [u8]) -> &'a [u8] {
    &memory[view.offset..view.offset + view.len() * view.dtype.itemsize()]
}
