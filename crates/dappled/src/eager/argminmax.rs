//! Eager argmin and argmax of small arrays.

use dappled_kernels::{ArgReduceOp, DType, arg_reduce_contiguous};

use super::elementwise::with_contiguous;
use crate::array::Array;
use crate::config::{BOOL_SCAN_BLOCK, MAX_SERIAL_SCAN_ELEMENTS};
use crate::error::Result;

/// The flat index of the least or greatest element; None if the array is not small or not local.
pub fn eager_argminmax(array: &Array, extreme: ArgReduceOp) -> Result<Option<i64>> {
    let (view, most) = (array.view(), array.session().limits().eager_max);
    if view.is_empty() || (view.len() > most && view.dtype != DType::Bool) {
        return Ok(None);
    }
    with_contiguous(array, |(memory, offset)| {
        let memory = memory.read()?;
        let elements = &memory[offset..offset + view.len() * view.dtype.itemsize()];
        let index = match view.dtype {
            DType::Bool => match find_first(elements, extreme) {
                None if elements.len() > MAX_SERIAL_SCAN_ELEMENTS => return Ok(None),
                index => index.unwrap_or(0),
            },
            dtype => arg_reduce_contiguous(elements, dtype, extreme),
        };
        Ok(Some(index as i64))
    })
}

/// The index of the first true or first false element, if it is among the first elements.
fn find_first(elements: &[u8], extreme: ArgReduceOp) -> Option<usize> {
    let is_wanted = |element: &u8| (*element != 0) == (extreme == ArgReduceOp::ArgMax);
    let mut blocks =
        elements[..elements.len().min(MAX_SERIAL_SCAN_ELEMENTS)].chunks(BOOL_SCAN_BLOCK);
    let block =
        blocks.position(|block| block.iter().fold(false, |any, one| any | is_wanted(one)))?;
    let start = block * BOOL_SCAN_BLOCK;
    elements[start..].iter().position(is_wanted).map(|at| start + at)
}
