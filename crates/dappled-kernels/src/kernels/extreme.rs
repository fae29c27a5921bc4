//! Loops that find where the least or the greatest value is: the first of equals, or the first
//! NaN.

use std::marker::PhantomData;

use super::Variant;
use super::arithmetic::{Arithmetic, BinaryOp, ops};
use super::loops::{Kernel, Loop, choose};
use crate::DType;
use crate::element::{bytes_of, bytes_of_mut, typed, typed_mut, with_element};

/// A place, and the value there: in as many bytes of the last two words as it has.
pub(crate) type Record = [u64; 3];

/// The loops of a dtype.
#[derive(Clone, Copy)]
pub(crate) struct Finder {
    pub itemsize: usize,
    best: Kernel,
    join: Kernel,
    rows: Kernel,
}

impl Finder {
    pub fn new(greatest: bool, dtype: DType, variant: Variant) -> Self {
        let variant = variant.min(Variant::best());
        match greatest {
            true => with_element!(dtype, T => Self::of::<ops::Maximum, T>(variant)),
            false => with_element!(dtype, T => Self::of::<ops::Minimum, T>(variant)),
        }
    }

    fn of<O: BinaryOp<T, Out = T>, T: Arithmetic>(variant: Variant) -> Self {
        Self {
            itemsize: size_of::<T>(),
            best: choose::<Best<O, T>>(variant),
            join: choose::<Join<O, T>>(Variant::Plain),
            rows: choose::<Rows<O, T>>(variant),
        }
    }

    /// The best of some values, the first of which has the place `start`, and of those before.
    pub fn best(&self, values: &[u8], start: usize, before: Option<Record>) -> Record {
        let mut record = before.unwrap_or_default();
        let known: &[u8] = if before.is_some() { &[1] } else { &[] };
        // SAFETY: compiled for no newer CPU than the one at hand.
        unsafe {
            (self.best)(&[values, bytes_of(&[start as u64]), known], bytes_of_mut(&mut record))
        };
        record
    }

    /// The better of two, the first if they are equal.
    pub fn join(&self, mut left: Record, right: Record) -> Record {
        // SAFETY: as above.
        unsafe { (self.join)(&[bytes_of(&right)], bytes_of_mut(&mut left)) };
        left
    }

    /// Replaces the best values and their places, both of the same number, where those of place
    /// `at` are better: the values come after the places.
    pub fn rows(&self, bests: &mut [u8], values: &[u8], at: usize) {
        // SAFETY: as above.
        unsafe { (self.rows)(&[values, bytes_of(&[at as i64])], bests) };
    }
}

/// Is it better, not only as good? Nothing is better than a NaN.
#[inline(always)]
fn is_better<O: BinaryOp<T, Out = T>, T: Arithmetic>(value: T, best: T) -> bool {
    let is_number = best.equal(best);
    is_number & !best.equal(value) & !O::apply(best, value).equal(best)
}

struct Best<O, T>(PhantomData<(O, T)>);

impl<O: BinaryOp<T, Out = T>, T: Arithmetic> Loop for Best<O, T> {
    /// Twice over a tile: to find the value, then its place, if that is wanted. That is two vector
    /// loops, where one loop would wait for each comparison.
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let (values, start) = (typed::<T>(args[0]), typed::<u64>(args[1])[0]);
        let (at, value) = out.split_at_mut(8);
        let (best, value) = (fold::<O, T>(values), &mut value[..size_of::<T>()]);
        if !args[2].is_empty() && !is_better::<O, T>(best, typed::<T>(value)[0]) {
            return;
        }
        let place = match best.equal(best) {
            true => place_of(values, |value| value.equal(best)),
            false => place_of(values, |value| !value.equal(value)),
        };
        typed_mut::<u64>(at)[0] = start + place as u64;
        value.copy_from_slice(bytes_of(&[best]));
    }
}

/// The first of some values that is so, where one is: looked for in blocks, without a branch in each.
#[inline(always)]
fn place_of<T: Copy>(values: &[T], is_so: impl Fn(T) -> bool) -> usize {
    let has = |block: &&[T]| block.iter().fold(false, |found, &value| found | is_so(value));
    let before = values.chunks(BLOCK).take_while(|block| !has(block)).count() * BLOCK;
    let within = values[before..].iter().position(|&value| is_so(value));
    before + within.expect("one of the values")
}

/// Values that are looked through at once.
const BLOCK: usize = 32;

/// The best of some values, in eight lanes where there are as many.
#[inline(always)]
fn fold<O: BinaryOp<T, Out = T>, T: Arithmetic>(values: &[T]) -> T {
    let (rows, tail) = values.as_chunks::<8>();
    let Some((&first, rest)) = rows.split_first() else { return in_sequence::<O, T>(values) };
    let mut lanes = first;
    for row in rest {
        for at in 0..8 {
            lanes[at] = O::apply(lanes[at], row[at]);
        }
    }
    let best = in_sequence::<O, T>(&lanes);
    tail.iter().fold(best, |best, &value| O::apply(best, value))
}

#[inline(always)]
fn in_sequence<O: BinaryOp<T, Out = T>, T: Arithmetic>(values: &[T]) -> T {
    values[1..].iter().fold(values[0], |best, &value| O::apply(best, value))
}

struct Join<O, T>(PhantomData<(O, T)>);

impl<O: BinaryOp<T, Out = T>, T: Arithmetic> Loop for Join<O, T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let [left, right] = [&out[8..], &args[0][8..]].map(|value| typed::<T>(value)[0]);
        if is_better::<O, T>(right, left) {
            out.copy_from_slice(args[0]);
        }
    }
}

struct Rows<O, T>(PhantomData<(O, T)>);

impl<O: BinaryOp<T, Out = T>, T: Arithmetic> Loop for Rows<O, T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let (values, now) = (typed::<T>(args[0]), typed::<i64>(args[1])[0]);
        let (places, bests) = out.split_at_mut(8 * values.len());
        let (places, bests) = (typed_mut::<i64>(places), typed_mut::<T>(bests));
        for ((place, best), &value) in places.iter_mut().zip(bests).zip(values) {
            let better = is_better::<O, T>(value, *best);
            *place = if better { now } else { *place };
            *best = if better { value } else { *best };
        }
    }
}
