//! Counter-based random numbers: draw `i` of a seed is the same on every thread and rank.
//!
//! Philox maps the index to 64 random bits, so threads and ranks fill their parts independently. A
//! distribution that rejects a draw uses further counters of the same index, so its neighbours are
//! unaffected. Input: a seed and index ranges. Output: memory filled with draws, in parallel.

mod draw;
#[allow(unsafe_code)]
mod philox;
#[cfg(test)]
mod tests;
mod ziggurat;

pub use draw::{AffineMap, Draw};
use philox::ExtraWords;
pub use philox::RandomStream;

use std::ops::Range;

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::config::{RANDOM_TASK_ELEMENTS, RANDOM_TILE_WORDS};
use crate::error::Error;
use crate::memory::buffer::Buffer;
use crate::types::dtype::DType;
use crate::types::element::{Element, typed_mut};

/// Fills memory with the draws of some index ranges, in parallel.
///
/// ```
/// use dappled_kernels::{AffineMap, Buffer, Draw, RandomStream, draw};
/// let (all, selected) = (Buffer::zeroed(80), Buffer::zeroed(16));
/// let (normal, stream) = (Draw::Normal(AffineMap::IDENTITY), RandomStream::new([1, 2, 3]));
/// draw(normal, stream, &[0..10], &all)?;
/// draw(normal, stream, &[2..3, 7..8], &selected)?;
/// let all = all.to_vec::<f64>();
/// assert_eq!(selected.to_vec::<f64>(), [all[2], all[7]]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn draw(
    draw: Draw,
    stream: RandomStream,
    ranges: &[Range<u64>],
    out: &Buffer,
) -> Result<(), Error> {
    let mut bytes = out.write()?;
    match draw {
        Draw::Uniform(line) => {
            fill(stream, ranges, &mut bytes, |word, _| line.apply(draw::uniform(word)));
        }
        Draw::UniformFloat32 => fill(stream, ranges, &mut bytes, |word, _| draw::uniform_f32(word)),
        Draw::Normal(line) => fill(stream, ranges, &mut bytes, ziggurat::NORMAL.sampler(line)),
        Draw::Exponential(line) => {
            fill(stream, ranges, &mut bytes, ziggurat::EXPONENTIAL.sampler(line));
        }
        Draw::Integers { low, span } => {
            fill(stream, ranges, &mut bytes, draw::integers(low, span));
        }
    }
    Ok(())
}

impl Draw {
    /// The dtype of the draws.
    pub fn dtype(self) -> DType {
        match self {
            Draw::Uniform(_) | Draw::Normal(_) | Draw::Exponential(_) => DType::Float64,
            Draw::UniformFloat32 => DType::Float32,
            Draw::Integers { .. } => DType::Int64,
        }
    }
}

fn fill<T: Element>(
    stream: RandomStream,
    ranges: &[Range<u64>],
    bytes: &mut [u8],
    value: impl Fn(u64, ExtraWords) -> T + Sync,
) {
    let elements = bytes.len() / size_of::<T>();
    let shares = split_ranges(ranges, typed_mut::<T>(bytes));
    let draw = |(first, out): (u64, &mut [T])| {
        interrupt::check();
        let mut words = [0; RANDOM_TILE_WORDS];
        for (at, out) in out.chunks_mut(RANDOM_TILE_WORDS).enumerate() {
            let first = first + (at * RANDOM_TILE_WORDS) as u64;
            let words = &mut words[..out.len()];
            stream.words(first, words);
            for (index, (out, &word)) in (first..).zip(out.iter_mut().zip(&*words)) {
                *out = value(word, stream.extra_words(index));
            }
        }
    };
    interrupt::run_in_pool(elements, || shares.into_par_iter().for_each(draw));
}

/// Splits the memory of each range into tasks, each with its first index.
fn split_ranges<'a, T>(ranges: &[Range<u64>], mut out: &'a mut [T]) -> Vec<(u64, &'a mut [T])> {
    let mut shares = memory::with_capacity(out.len().div_ceil(RANDOM_TASK_ELEMENTS));
    for range in ranges {
        for first in range.clone().step_by(RANDOM_TASK_ELEMENTS) {
            let len = (range.end - first).min(RANDOM_TASK_ELEMENTS as u64) as usize;
            let (share, rest) = std::mem::take(&mut out).split_at_mut(len);
            memory::reserve(&mut shares, 1);
            shares.push((first, share));
            out = rest;
        }
    }
    assert!(out.is_empty(), "the memory must have as many elements as the ranges");
    shares
}
