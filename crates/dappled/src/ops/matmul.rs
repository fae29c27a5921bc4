//! Matrix product of replicated matrices, by a kernel that the caller provides.

use dappled_kernels::{DType, View, capture_fp_flags};

use crate::array::Array;
use crate::error::Result;
use crate::error::RunError;

/// A kernel that multiplies C-ordered matrices of a dtype.
///
/// The arguments are the dtype; the number of rows of the left matrix, its number of columns and
/// the number of columns of the right matrix; both matrices; and the result.
pub type MatmulKernel = dyn Fn(DType, [usize; 3], [&[u8]; 2], &mut [u8]) + Sync;

/// The product of two C-ordered float matrices, none of whose lengths is 1; `None` for others.
///
/// Evaluates both matrices.
pub fn matmul(left: &Array, right: &Array, multiply: &MatmulKernel) -> Result<Option<Array>> {
    let (session, dtype) = (left.session(), left.dtype());
    let Some(lengths) = matmul_lengths(left, right) else { return Ok(None) };
    let (first, second) = (left.local_buffer()?, right.local_buffer()?);
    let [first, second] = [first.read(), second.read()].map(|claim| claim.map_err(RunError::from));
    let (first, second) = (first?, second?);
    let [first, second] = [elements(left.view(), &first), elements(right.view(), &second)];
    let aligned = |elements: &[u8]| elements.as_ptr().addr().is_multiple_of(dtype.itemsize());
    if !aligned(first) || !aligned(second) {
        return Ok(None);
    }
    let base = View::c_order(dtype, &[lengths[0], lengths[2]]);
    let out = session.buffer_pool().allocate(base.len() * dtype.itemsize(), &base);
    let mut result = out.write()?;
    let ((), flags) = capture_fp_flags(|| multiply(dtype, lengths, [first, second], &mut result));
    drop(result);
    session.fp_warnings().add("matmul", flags, None);
    Ok(Some(Array::replicated(session, base, out)))
}

/// The lengths of the product `(rows, inner) @ (inner, columns)`, if the kernel supports it.
fn matmul_lengths(left: &Array, right: &Array) -> Option<[usize; 3]> {
    let (&[rows, inner], &[right_rows, columns]) = (left.shape(), right.shape()) else {
        return None;
    };
    let is_supported = left.dtype() == right.dtype()
        && matches!(left.dtype(), DType::Float64 | DType::Float32)
        && left.is_replicated()
        && right.is_replicated();
    let is_contiguous = left.view().is_contiguous() && right.view().is_contiguous();
    let lengths = [rows, inner, columns];
    (is_supported
        && is_contiguous
        && inner == right_rows
        && lengths.iter().all(|&length| length > 1))
    .then_some(lengths)
}

fn elements<'a>(view: &View, memory: &'a [u8]) -> &'a [u8] {
    &memory[view.offset..view.offset + view.len() * view.dtype.itemsize()]
}
