//! Where the least or the greatest element of a small array is that is ready.

use dappled_kernels::element::typed;
use dappled_kernels::{DType, Element, Extreme};

use super::quick::with_plain;
use super::{Array, GraphError};
use crate::run::RunError;

/// Its place among all in C order; None if the array is not small, not here, or of a rarer dtype.
pub fn quick_arg(array: &Array, extreme: Extreme) -> Result<Option<i64>, GraphError> {
    let view = array.view();
    if !(1..=array.session().limits().at_once).contains(&view.len()) {
        return Ok(None);
    }
    with_plain(array, |(memory, offset)| {
        let memory = memory.read().map_err(RunError::from)?;
        let elements = &memory[offset..offset + view.len() * view.dtype.itemsize()];
        let place = match view.dtype {
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
