//! Eager selection from small arrays by masks and index arrays. The result is a copy.

use dappled_kernels::element::typed;
use dappled_kernels::{Axes, Buffer, DType, View};

use super::elementwise::{with_contiguous, with_contiguous_pair};
use crate::array::Array;
use crate::error::Result;
use crate::error::RunError;
use crate::session::buffer_pool::take_small_buffer;

/// Takes rows by an index array, or elements by a mask of the array's shape.
///
/// None if an operand is not small and local, or an index is out of bounds.
pub fn eager_take(array: &Array, key: &Array) -> Result<Option<Array>> {
    let (view, indices, limits) = (array.view(), key.view(), array.session().limits());
    let is_small = |view: &View| (1..=limits.eager_max).contains(&view.len());
    let masks = indices.dtype == DType::Bool && indices.shape == view.shape;
    let counts = indices.dtype == DType::Int64 && !indices.shape.is_empty();
    let is_eager = is_small(view) && is_small(indices) && indices.is_contiguous();
    if view.shape.is_empty() || !is_eager || !(masks || counts) {
        return Ok(None);
    }
    with_contiguous_pair(
        array,
        key,
        (indices.dtype, &indices.shape),
        |(memory, offset), (keys, at)| {
            let (memory, keys) = (memory.read()?, keys.read());
            let keys = keys?;
            let memory = &memory[offset..offset + view.len() * view.dtype.itemsize()];
            let keys = &keys[at..at + indices.len() * indices.dtype.itemsize()];
            let (shape, bytes) = match masks {
                true => take_mask(view, memory, keys)?,
                false => {
                    match take_rows(view, memory, (&indices.shape, typed(keys)), limits.eager_max)?
                    {
                        Some(taken) => taken,
                        None => return Ok(None),
                    }
                }
            };
            // Large results may have to be distributed.
            let is_replicated =
                array.session().fabric().size() == 1 || bytes.len() < limits.replicate_below;
            let base = View::c_order(view.dtype, &shape);
            Ok(is_replicated.then(|| Array::replicated(array.session(), base, bytes)))
        },
    )
}

/// The elements of a small local array in C order, as bytes; None for other arrays.
pub fn eager_elements(array: &Array) -> Result<Option<Vec<u8>>> {
    let view = array.view();
    if !(1..=array.session().limits().eager_max).contains(&view.len()) {
        return Ok(None);
    }
    with_contiguous(array, |(memory, offset)| {
        let memory = memory.read()?;
        Ok(Some(memory[offset..offset + view.len() * view.dtype.itemsize()].to_vec()))
    })
}

type TakenElements = (Axes<usize>, Buffer);

/// The elements that a mask selects.
fn take_mask(view: &View, memory: &[u8], mask: &[u8]) -> Result<TakenElements, RunError> {
    let count = mask.iter().filter(|&&selected| selected != 0).count();
    let out = take_small_buffer(count * view.dtype.itemsize());
    let mut elements = out.write()?;
    match view.dtype.itemsize() {
        1 => compact::<1>(memory, mask, &mut elements),
        2 => compact::<2>(memory, mask, &mut elements),
        4 => compact::<4>(memory, mask, &mut elements),
        8 => compact::<8>(memory, mask, &mut elements),
        _ => compact::<16>(memory, mask, &mut elements),
    }
    drop(elements);
    Ok((Axes::from_slice(&[count]), out))
}

/// Branch-free compaction: every element is written at the next free position, and kept if
/// selected.
fn compact<const SIZE: usize>(from: &[u8], mask: &[u8], to: &mut [u8]) {
    let (from, to) = (from.as_chunks::<SIZE>().0, to.as_chunks_mut::<SIZE>().0);
    let mut next = 0;
    for (item, &selected) in from.iter().zip(mask) {
        if let Some(index) = to.get_mut(next) {
            *index = *item;
        }
        next += usize::from(selected != 0);
    }
}

/// The rows at these indices, which may be negative.
fn take_rows(
    view: &View,
    memory: &[u8],
    (shape, indices): (&[usize], &[i64]),
    limit: usize,
) -> Result<Option<TakenElements>, RunError> {
    let row = memory.len() / view.shape[0];
    let out_shape: Axes<usize> = shape.iter().chain(&view.shape[1..]).copied().collect();
    if out_shape.iter().product::<usize>() > limit {
        return Ok(None);
    }
    let out = take_small_buffer(indices.len() * row);
    let mut elements = out.write()?;
    let taken = match row {
        8 => take_elements(memory.as_chunks::<8>().0, indices, elements.as_chunks_mut::<8>().0),
        _ => {
            let outputs = elements.chunks_exact_mut(row).zip(indices);
            outputs.into_iter().try_for_each(|(to, &index)| {
                let from = wrap_index(index, view.shape[0])? * row;
                to.copy_from_slice(&memory[from..from + row]);
                Some(())
            })
        }
    };
    drop(elements);
    Ok(taken.map(|()| (out_shape, out)))
}

fn take_elements<T: Copy>(from: &[T], indices: &[i64], to: &mut [T]) -> Option<()> {
    for (to, &index) in to.iter_mut().zip(indices) {
        *to = from[wrap_index(index, from.len())?];
    }
    Some(())
}

fn wrap_index(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index + length as i64 } else { index };
    usize::try_from(index).ok().filter(|&index| index < length)
}
