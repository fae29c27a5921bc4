//! The transforms of one line: complex to complex, real to complex, and back.

use std::ops::Mul;
use std::sync::Arc;

use dappled_base::memory::filled;
use num_complex::Complex;
use realfft::{ComplexToReal, RealToComplex};
use rustfft::Fft;

use crate::Direction;
use crate::plans::Float;

/// Elements between two lines of a bundle beyond their length: where lengths are powers of two, lines
/// would otherwise share a few places of the cache.
const APART: usize = 8;

/// A transform of lines of one length.
pub trait Kernel: Sync + Sized {
    type Real: Float;
    type In: Copy + Default + Send;
    type Out: Copy + Default + Send + Mul<Self::Real, Output = Self::Out>;
    /// Elements that a line has before.
    fn taken(&self) -> usize;
    /// Elements that it has afterwards.
    fn made(&self) -> usize;
    /// Elements of memory that a transform needs beside.
    fn scratch(&self) -> usize;
    /// Whether results are made where the values were.
    fn is_in_place(&self) -> bool {
        false
    }
    /// Transforms one line.
    fn transform<'a>(&self, room: &'a mut Room<Self>, line: usize) -> &'a mut [Self::Out];
    /// The results of all lines.
    fn results<'a>(&self, room: &'a Room<Self>) -> &'a [Self::Out] {
        &room.output
    }

    fn apart_in(&self) -> usize {
        self.taken() + APART
    }

    fn apart_out(&self) -> usize {
        self.made() + APART
    }

    fn scaled(&self, values: &mut [Self::Out], scale: Self::Real) {
        if scale != Self::Real::of(1.0) {
            values.iter_mut().for_each(|value| *value = *value * scale);
        }
    }
}

/// The memory of one thread: a bundle of lines before and after, and what a transform needs.
pub struct Room<K: Kernel> {
    pub input: Vec<K::In>,
    pub output: Vec<K::Out>,
    scratch: Vec<Complex<K::Real>>,
}

impl<K: Kernel> Room<K> {
    pub fn new(kernel: &K, width: usize) -> Self {
        let made = if kernel.is_in_place() { 0 } else { width * kernel.apart_out() };
        Self {
            input: filled(K::In::default(), width * kernel.apart_in()),
            output: filled(K::Out::default(), made),
            scratch: filled(Complex::default(), kernel.scratch()),
        }
    }
}

/// Complex to complex.
pub struct Straight<T>(Arc<dyn Fft<T>>);

impl<T: Float> Straight<T> {
    pub fn new(length: usize, direction: Direction) -> Self {
        Self(T::plans().complex(length, direction))
    }
}

impl<T: Float> Kernel for Straight<T> {
    type Real = T;
    type In = Complex<T>;
    type Out = Complex<T>;

    fn taken(&self) -> usize {
        self.0.len()
    }

    fn made(&self) -> usize {
        self.0.len()
    }

    fn scratch(&self) -> usize {
        self.0.get_inplace_scratch_len()
    }

    fn is_in_place(&self) -> bool {
        true
    }

    fn transform<'a>(&self, room: &'a mut Room<Self>, line: usize) -> &'a mut [Complex<T>] {
        let values = &mut room.input[line * self.apart_in()..][..self.0.len()];
        self.0.process_with_scratch(values, &mut room.scratch);
        values
    }

    fn results<'a>(&self, room: &'a Room<Self>) -> &'a [Complex<T>] {
        &room.input
    }
}

/// Real to complex: half of the spectrum, and its middle.
pub struct FromReal<T>(Arc<dyn RealToComplex<T>>);

impl<T: Float> FromReal<T> {
    pub fn new(length: usize) -> Self {
        Self(T::plans().halving(length))
    }
}

impl<T: Float> Kernel for FromReal<T> {
    type Real = T;
    type In = T;
    type Out = Complex<T>;

    fn taken(&self) -> usize {
        self.0.len()
    }

    fn made(&self) -> usize {
        self.0.complex_len()
    }

    fn scratch(&self) -> usize {
        self.0.get_scratch_len()
    }

    fn transform<'a>(&self, room: &'a mut Room<Self>, line: usize) -> &'a mut [Complex<T>] {
        let values = &mut room.input[line * self.apart_in()..][..self.taken()];
        let made = &mut room.output[line * self.apart_out()..][..self.made()];
        self.0.process_with_scratch(values, made, &mut room.scratch).expect("lengths that fit");
        made
    }
}

/// Complex to real.
pub struct ToReal<T>(Arc<dyn ComplexToReal<T>>);

impl<T: Float> ToReal<T> {
    pub fn new(length: usize) -> Self {
        Self(T::plans().doubling(length))
    }
}

impl<T: Float> Kernel for ToReal<T> {
    type Real = T;
    type In = Complex<T>;
    type Out = T;

    fn taken(&self) -> usize {
        self.0.complex_len()
    }

    fn made(&self) -> usize {
        self.0.len()
    }

    fn scratch(&self) -> usize {
        self.0.get_scratch_len()
    }

    fn transform<'a>(&self, room: &'a mut Room<Self>, line: usize) -> &'a mut [T] {
        let values = &mut room.input[line * self.apart_in()..][..self.taken()];
        // Of real values these would be zero; realfft refuses others, NumPy does not look at them.
        values[0].im = T::zero();
        if self.made().is_multiple_of(2) {
            values[self.taken() - 1].im = T::zero();
        }
        let made = &mut room.output[line * self.apart_out()..][..self.made()];
        self.0.process_with_scratch(values, made, &mut room.scratch).expect("lengths that fit");
        made
    }
}
