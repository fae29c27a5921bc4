//! What an array of truths or of places selects of a small array, both being ready: always a copy.

use dappled_kernels::element::typed;
use dappled_kernels::{Axes, Buffer, DType, View};

use super::memory::small_memory;
use super::quick::{with_both, with_plain};
use super::{Array, GraphError};
use crate::run::RunError;

/// What a key selects along the first axis, or of all where it is a mask of the array's shape. None if
/// it is not small, not here, or if a place is outside.
pub fn quick_take(array: &Array, key: &Array) -> Result<Option<Array>, GraphError> {
    let (own, places, limits) = (array.view(), key.view(), array.session().limits());
    let is_small = |view: &View| (1..=limits.at_once).contains(&view.len());
    let masks = places.dtype == DType::Bool && places.shape == own.shape;
    let counts = places.dtype == DType::Int64 && !places.shape.is_empty();
    let plain = is_small(own) && is_small(places) && places.is_contiguous();
    if own.shape.is_empty() || !plain || !(masks || counts) {
        return Ok(None);
    }
    with_both(array, key, (places.dtype, &places.shape), |(memory, offset), (keys, at)| {
        let (memory, keys) = (memory.read().map_err(RunError::from)?, keys.read());
        let keys = keys.map_err(RunError::from)?;
        let memory = &memory[offset..offset + own.len() * own.dtype.itemsize()];
        let keys = &keys[at..at + places.len() * places.dtype.itemsize()];
        let (shape, bytes) = match masks {
            true => chosen(own, memory, keys)?,
            false => match rows(own, memory, (&places.shape, typed(keys)), limits.at_once)? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        // What is large may be in pieces.
        let whole = array.session().fabric().size() == 1 || bytes.len() < limits.whole_below;
        let base = View::c_order(own.dtype, &shape);
        Ok(whole.then(|| Array::whole(array.session(), base, bytes)))
    })
}

/// The elements of a small array that is ready, in C order; None of others.
pub fn elements(array: &Array) -> Result<Option<Vec<u8>>, GraphError> {
    let view = array.view();
    if !(1..=array.session().limits().at_once).contains(&view.len()) {
        return Ok(None);
    }
    with_plain(array, |(memory, offset)| {
        let memory = memory.read().map_err(RunError::from)?;
        Ok(Some(memory[offset..offset + view.len() * view.dtype.itemsize()].to_vec()))
    })
}

type Found = (Axes<usize>, Buffer);

/// The elements that a mask chooses.
fn chosen(own: &View, memory: &[u8], mask: &[u8]) -> Result<Found, RunError> {
    let count = mask.iter().filter(|&&truth| truth != 0).count();
    let out = small_memory(count * own.dtype.itemsize());
    let mut elements = out.write()?;
    match own.dtype.itemsize() {
        1 => choose::<1>(memory, mask, &mut elements),
        2 => choose::<2>(memory, mask, &mut elements),
        4 => choose::<4>(memory, mask, &mut elements),
        8 => choose::<8>(memory, mask, &mut elements),
        _ => choose::<16>(memory, mask, &mut elements),
    }
    drop(elements);
    Ok((Axes::from_slice(&[count]), out))
}

/// Every element is written where the next one belongs, and stays there if it is chosen: no jump
/// that a CPU could guess wrong.
fn choose<const SIZE: usize>(from: &[u8], mask: &[u8], to: &mut [u8]) {
    let (from, to) = (from.as_chunks::<SIZE>().0, to.as_chunks_mut::<SIZE>().0);
    let mut next = 0;
    for (item, &truth) in from.iter().zip(mask) {
        if let Some(place) = to.get_mut(next) {
            *place = *item;
        }
        next += usize::from(truth != 0);
    }
}

/// The rows at these places, counted from the end where they are negative.
fn rows(
    own: &View,
    memory: &[u8],
    (shape, places): (&[usize], &[i64]),
    most: usize,
) -> Result<Option<Found>, RunError> {
    let row = memory.len() / own.shape[0];
    let out_shape: Axes<usize> = shape.iter().chain(&own.shape[1..]).copied().collect();
    if out_shape.iter().product::<usize>() > most {
        return Ok(None);
    }
    let out = small_memory(places.len() * row);
    let mut elements = out.write()?;
    let found = match row {
        8 => fetch(memory.as_chunks::<8>().0, places, elements.as_chunks_mut::<8>().0),
        _ => {
            let parts = elements.chunks_exact_mut(row).zip(places);
            parts.into_iter().try_for_each(|(to, &place)| {
                let from = at(place, own.shape[0])? * row;
                to.copy_from_slice(&memory[from..from + row]);
                Some(())
            })
        }
    };
    drop(elements);
    Ok(found.map(|()| (out_shape, out)))
}

fn fetch<T: Copy>(from: &[T], places: &[i64], to: &mut [T]) -> Option<()> {
    for (to, &place) in to.iter_mut().zip(places) {
        *to = from[at(place, from.len())?];
    }
    Some(())
}

fn at(place: i64, length: usize) -> Option<usize> {
    let place = if place < 0 { place + length as i64 } else { place };
    usize::try_from(place).ok().filter(|&place| place < length)
}
