//! Random arrays that do not depend on the number of ranks.

use std::ops::Range;

use dappled_kernels::{AffineMap, Draw, RandomStream};

use super::context::Context;
use super::element::ArrayElement;
use super::{Array, expect_valid};
use crate::array::Array as DynArray;
use crate::session::Session;

/// A counter-based generator of random arrays.
///
/// Each rank draws its own elements, without messages; the values depend on the seed and on the
/// draws before, not on the number of ranks.
///
/// ```
/// use dappled::prelude::*;
///
/// let cx = Context::init()?;
/// let mut random = ParallelGenerator::new(&cx, 42);
/// let a = random.uniform([1000]);
/// assert!(a.min()? >= 0.0 && a.max()? < 1.0);
/// assert_eq!(ParallelGenerator::new(&cx, 42).uniform([1000]).to_vec()?, a.to_vec()?);
/// # Ok::<(), dappled::Error>(())
/// ```
pub struct ParallelGenerator {
    session: Session,
    stream: RandomStream,
    /// The index of the next draw.
    next: u64,
}

impl ParallelGenerator {
    /// Creates the generator of a seed, which must be equal on all ranks.
    pub fn new(cx: &Context, seed: u64) -> Self {
        let stream = RandomStream::new([seed as u32, (seed >> 32) as u32, 0]);
        Self { session: cx.session().clone(), stream, next: 0 }
    }

    /// Draws uniform numbers from 0, included, to 1, excluded.
    pub fn uniform(&mut self, shape: impl AsRef<[usize]>) -> Array<f64> {
        self.draw(shape.as_ref(), Draw::Uniform(AffineMap::IDENTITY))
    }

    /// Draws uniform float32 numbers from 0, included, to 1, excluded.
    pub fn uniform_f32(&mut self, shape: impl AsRef<[usize]>) -> Array<f32> {
        self.draw(shape.as_ref(), Draw::UniformFloat32)
    }

    /// Draws from the normal distribution with this mean and standard deviation.
    pub fn normal(&mut self, mean: f64, std: f64, shape: impl AsRef<[usize]>) -> Array<f64> {
        self.draw(shape.as_ref(), Draw::Normal(AffineMap::new(mean, std)))
    }

    /// Draws from the exponential distribution with this mean.
    pub fn exponential(&mut self, mean: f64, shape: impl AsRef<[usize]>) -> Array<f64> {
        self.draw(shape.as_ref(), Draw::Exponential(AffineMap::new(0.0, mean)))
    }

    /// Draws uniform integers from a range, which must not be empty.
    pub fn integers(&mut self, range: Range<i64>, shape: impl AsRef<[usize]>) -> Array<i64> {
        assert!(range.start < range.end, "low >= high");
        let span = range.end.wrapping_sub(range.start) as u64;
        self.draw(shape.as_ref(), Draw::Integers { low: range.start, span })
    }

    fn draw<T: ArrayElement>(&mut self, shape: &[usize], kind: Draw) -> Array<T> {
        let drawn = DynArray::random(&self.session, shape, kind, self.stream, self.next);
        self.next += shape.iter().product::<usize>() as u64;
        Array::from_dynamic(expect_valid(drawn))
    }
}
