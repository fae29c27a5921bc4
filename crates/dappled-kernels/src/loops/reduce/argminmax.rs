//! Loops of argmin and argmax: the first of equal values, or the first NaN.

use std::marker::PhantomData;

use crate::config::SEARCH_BLOCK_ELEMENTS;
use crate::loops::elementwise::arithmetic::Arithmetic;
use crate::loops::elementwise::ops::{self, BinaryOp};
use crate::loops::multiversion::{LoopKernel, MultiversionLoop, kernel_for};
use crate::loops::variant::CpuVariant;
use crate::types::dtype::DType;
use crate::types::element::{bytes_of, bytes_of_mut, typed, typed_mut, with_element};

/// An index, and the value there in the leading bytes of the last two words.
pub(crate) type ArgRecord = [u64; 3];

/// The argmin or argmax loops of a dtype.
#[derive(Clone, Copy)]
pub(crate) struct ArgminmaxKernels {
    pub itemsize: usize,
    best: LoopKernel,
    join: LoopKernel,
    rows: LoopKernel,
}

impl ArgminmaxKernels {
    pub fn new(greatest: bool, dtype: DType, variant: CpuVariant) -> Self {
        let variant = variant.min(CpuVariant::best());
        match greatest {
            true => with_element!(dtype, T => Self::of::<ops::Maximum, T>(variant)),
            false => with_element!(dtype, T => Self::of::<ops::Minimum, T>(variant)),
        }
    }

    fn of<O: BinaryOp<T, Out = T>, T: Arithmetic>(variant: CpuVariant) -> Self {
        Self {
            itemsize: size_of::<T>(),
            best: kernel_for::<BestLoop<O, T>>(variant),
            join: kernel_for::<JoinRecordsLoop<O, T>>(CpuVariant::Plain),
            rows: kernel_for::<BestRowsLoop<O, T>>(variant),
        }
    }

    /// The best of `before` and of some values, the first of which has index `start`.
    pub fn update_best(&self, values: &[u8], start: usize, before: Option<ArgRecord>) -> ArgRecord {
        let mut record = before.unwrap_or_default();
        let known: &[u8] = if before.is_some() { &[1] } else { &[] };
        // SAFETY: compiled for a variant that this CPU supports.
        unsafe {
            (self.best)(&[values, bytes_of(&[start as u64]), known], bytes_of_mut(&mut record))
        };
        record
    }

    /// The better of two records; the first if they are equal.
    pub fn join(&self, mut left: ArgRecord, right: ArgRecord) -> ArgRecord {
        // SAFETY: as above.
        unsafe { (self.join)(&[bytes_of(&right)], bytes_of_mut(&mut left)) };
        left
    }

    /// Updates the best values and their indices where the values of index `at` are better. In
    /// `bests` the indices precede the values.
    pub fn rows(&self, bests: &mut [u8], values: &[u8], at: usize) {
        // SAFETY: as above.
        unsafe { (self.rows)(&[values, bytes_of(&[at as i64])], bests) };
    }
}

/// True if the value is strictly better. Nothing is better than a NaN.
#[inline(always)]
fn is_better<O: BinaryOp<T, Out = T>, T: Arithmetic>(value: T, best: T) -> bool {
    let is_number = best.equal(best);
    is_number & !best.equal(value) & !O::apply(best, value).equal(best)
}

struct BestLoop<O, T>(PhantomData<(O, T)>);

impl<O: BinaryOp<T, Out = T>, T: Arithmetic> MultiversionLoop for BestLoop<O, T> {
    /// Two passes over a tile, one for the value and one for its index if needed: both vectorise,
    /// whereas a single loop would wait for each comparison.
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let (values, start) = (typed::<T>(args[0]), typed::<u64>(args[1])[0]);
        let (at, value) = out.split_at_mut(8);
        let (best, value) = (best_of::<O, T>(values), &mut value[..size_of::<T>()]);
        if !args[2].is_empty() && !is_better::<O, T>(best, typed::<T>(value)[0]) {
            return;
        }
        let index = match best.equal(best) {
            true => position(values, |value| value.equal(best)),
            false => position(values, |value| !value.equal(value)),
        };
        typed_mut::<u64>(at)[0] = start + index as u64;
        value.copy_from_slice(bytes_of(&[best]));
    }
}

/// The index of the first value that satisfies the predicate, searched in blocks without a branch
/// per element.
#[inline(always)]
fn position<T: Copy>(values: &[T], predicate: impl Fn(T) -> bool) -> usize {
    let has = |block: &&[T]| block.iter().fold(false, |found, &value| found | predicate(value));
    let before = values.chunks(SEARCH_BLOCK_ELEMENTS).take_while(|block| !has(block)).count()
        * SEARCH_BLOCK_ELEMENTS;
    let within = values[before..].iter().position(|&value| predicate(value));
    before + within.expect("one of the values")
}

/// The best of some values, in eight lanes if there are enough.
#[inline(always)]
fn best_of<O: BinaryOp<T, Out = T>, T: Arithmetic>(values: &[T]) -> T {
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

struct JoinRecordsLoop<O, T>(PhantomData<(O, T)>);

impl<O: BinaryOp<T, Out = T>, T: Arithmetic> MultiversionLoop for JoinRecordsLoop<O, T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let [left, right] = [&out[8..], &args[0][8..]].map(|value| typed::<T>(value)[0]);
        if is_better::<O, T>(right, left) {
            out.copy_from_slice(args[0]);
        }
    }
}

struct BestRowsLoop<O, T>(PhantomData<(O, T)>);

impl<O: BinaryOp<T, Out = T>, T: Arithmetic> MultiversionLoop for BestRowsLoop<O, T> {
    #[inline(always)]
    fn run(args: &[&[u8]], out: &mut [u8]) {
        let (values, now) = (typed::<T>(args[0]), typed::<i64>(args[1])[0]);
        let (indices, bests) = out.split_at_mut(8 * values.len());
        let (indices, bests) = (typed_mut::<i64>(indices), typed_mut::<T>(bests));
        for ((index, best), &value) in indices.iter_mut().zip(bests).zip(values) {
            let better = is_better::<O, T>(value, *best);
            *index = if better { now } else { *index };
            *best = if better { value } else { *best };
        }
    }
}
