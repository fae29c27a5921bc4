//! Where the least or the greatest element of a small array is that is ready.

use dappled_kernels::{DType, Extreme, arg_of};

use super::quick::with_plain;
use super::{Array, GraphError};
use crate::run::RunError;

/// Its place among all in C order; None if the array is not small, or not here.
pub fn quick_arg(array: &Array, extreme: Extreme) -> Result<Option<i64>, GraphError> {
    let (view, most) = (array.view(), array.session().limits().at_once);
    if view.is_empty() || (view.len() > most && view.dtype != DType::Bool) {
        return Ok(None);
    }
    with_plain(array, |(memory, offset)| {
        let memory = memory.read().map_err(RunError::from)?;
        let elements = &memory[offset..offset + view.len() * view.dtype.itemsize()];
        let place = match view.dtype {
            DType::Bool => match first(elements, extreme) {
                None if elements.len() > LOOKED_AT => return Ok(None),
                place => place.unwrap_or(0),
            },
            dtype => arg_of(elements, dtype, extreme),
        };
        Ok(Some(place as i64))
    })
}

/// Truths that one thread looks at: where none of them is found, all threads look at all.
const LOOKED_AT: usize = 1 << 18;
/// Those that it looks at together.
const TOGETHER: usize = 256;

/// The first that is true, or the first that is not, if it is seen soon.
fn first(truths: &[u8], extreme: Extreme) -> Option<usize> {
    let is_wanted = |truth: &u8| (*truth != 0) == (extreme == Extreme::Greatest);
    let mut blocks = truths[..truths.len().min(LOOKED_AT)].chunks(TOGETHER);
    let block =
        blocks.position(|block| block.iter().fold(false, |any, one| any | is_wanted(one)))?;
    let start = block * TOGETHER;
    truths[start..].iter().position(is_wanted).map(|at| start + at)
}
