//! Where the least or the greatest element of a small array is that is ready.

use dappled_kernels::element::typed;
use dappled_kernels::{DType, Element, Extreme};

use super::quick::with_plain;
use super::{Array, GraphError};
use crate::run::RunError;

/// Its place among all in C order; None if the array is not small, not here, or of a rarer dtype.
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
            DType::Float64 => best::<f64>(elements, extreme),
            DType::Float32 => best::<f32>(elements, extreme),
            DType::Int64 => best::<i64>(elements, extreme),
            DType::Int32 => best::<i32>(elements, extreme),
            DType::UInt8 => best::<u8>(elements, extreme),
            _ => return Ok(None),
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

/// The first of the best; the first that is no number is better than all.
fn best<T: Element + PartialOrd>(elements: &[u8], extreme: Extreme) -> usize {
    let elements = typed::<T>(elements);
    let is_nan = |value: T| value.partial_cmp(&value).is_none();
    let is_better = |value: T, than: T| match extreme {
        Extreme::Greatest => value > than,
        Extreme::Least => value < than,
    };
    let (mut place, mut found) = (0, elements[0]);
    for (at, &value) in elements.iter().enumerate() {
        if is_nan(value) {
            return at;
        }
        if is_better(value, found) {
            (place, found) = (at, value);
        }
    }
    place
}
