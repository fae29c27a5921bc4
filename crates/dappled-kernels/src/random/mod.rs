//! Random numbers by their place: draw number `i` of a seed is the same whoever draws it.
//!
//! Philox turns the place into 64 random bits, so that threads and ranks fill their own parts
//! without a word to each other. Where a distribution has to try again it draws from the counters
//! of its own place, and its neighbours do not move.

mod draw;
#[allow(unsafe_code)]
mod philox;
mod ziggurat;

pub use draw::{Draw, Line};
pub use philox::Stream;

use std::ops::Range;

use dappled_base::{interrupt, memory};
use rayon::prelude::*;

use crate::element::{Element, typed_mut};
use crate::{Buffer, DType, Error};

/// Words that stay in the first cache.
const WORDS: usize = 512;

/// Elements that are worth a thread of their own.
const SHARE: usize = 1 << 15;

/// Fills memory with these draws, range after range, on all threads.
///
/// ```
/// use dappled_kernels::{Buffer, Draw, Line, Stream, draw};
/// let (all, part) = (Buffer::zeroed(80), Buffer::zeroed(16));
/// draw(Draw::Normal(Line::ITSELF), Stream::new([1, 2, 3]), &[0..10], &all)?;
/// draw(Draw::Normal(Line::ITSELF), Stream::new([1, 2, 3]), &[2..3, 7..8], &part)?;
/// let all = all.to_vec::<f64>();
/// assert_eq!(part.to_vec::<f64>(), [all[2], all[7]]);
/// # Ok::<(), dappled_kernels::Error>(())
/// ```
pub fn draw(draw: Draw, stream: Stream, ranges: &[Range<u64>], out: &Buffer) -> Result<(), Error> {
    let mut bytes = out.write()?;
    match draw {
        Draw::Uniform(line) => {
            fill(stream, ranges, &mut bytes, |word, _| line.at(draw::uniform(word)));
        }
        Draw::UniformFloat32 => fill(stream, ranges, &mut bytes, |word, _| draw::uniform_f32(word)),
        Draw::Normal(line) => fill(stream, ranges, &mut bytes, ziggurat::NORMAL.drawer(line)),
        Draw::Exponential(line) => {
            fill(stream, ranges, &mut bytes, ziggurat::EXPONENTIAL.drawer(line));
        }
        Draw::Integers { low, span } => {
            fill(stream, ranges, &mut bytes, draw::integers(low, span));
        }
    }
    Ok(())
}

impl Draw {
    /// What it gives.
    pub fn dtype(self) -> DType {
        match self {
            Draw::Uniform(_) | Draw::Normal(_) | Draw::Exponential(_) => DType::Float64,
            Draw::UniformFloat32 => DType::Float32,
            Draw::Integers { .. } => DType::Int64,
        }
    }
}

/// More random bits for one place, where the first were not enough.
type Again = philox::Again;

fn fill<T: Element>(
    stream: Stream,
    ranges: &[Range<u64>],
    bytes: &mut [u8],
    value: impl Fn(u64, Again) -> T + Sync,
) {
    let elements = bytes.len() / size_of::<T>();
    let shares = shared_out(ranges, typed_mut::<T>(bytes));
    let draw = |(first, out): (u64, &mut [T])| {
        interrupt::check();
        let mut words = [0; WORDS];
        for (at, out) in out.chunks_mut(WORDS).enumerate() {
            let first = first + (at * WORDS) as u64;
            let words = &mut words[..out.len()];
            stream.words(first, words);
            for (place, (out, &word)) in (first..).zip(out.iter_mut().zip(&*words)) {
                *out = value(word, stream.again(place));
            }
        }
    };
    interrupt::pooled(elements, || shares.into_par_iter().for_each(draw));
}

/// The memory of each range in parts that threads take, each with its first place.
fn shared_out<'a, T>(ranges: &[Range<u64>], mut out: &'a mut [T]) -> Vec<(u64, &'a mut [T])> {
    let mut shares = memory::with_room(out.len().div_ceil(SHARE));
    for range in ranges {
        for first in range.clone().step_by(SHARE) {
            let len = (range.end - first).min(SHARE as u64) as usize;
            let (share, rest) = std::mem::take(&mut out).split_at_mut(len);
            memory::reserve(&mut shares, 1);
            shares.push((first, share));
            out = rest;
        }
    }
    assert!(out.is_empty(), "memory for the draws and no more");
    shares
}

#[cfg(test)]
mod tests;
