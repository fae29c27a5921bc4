//! Transforms of single lines: complex to complex, real to complex, complex to real.

use std::ops::Mul;
use std::sync::Arc;

use dappled_base::memory::filled;
use num_complex::Complex;
use realfft::{ComplexToReal, RealToComplex};
use rustfft::Fft;

use crate::Direction;
use crate::config::LINE_PADDING_ELEMENTS;
use crate::plan_cache::Float;

/// A transform of lines of one length.
pub trait LineTransform: Sync + Sized {
    type Real: Float;
    type In: Copy + Default + Send;
    type Out: Copy + Default + Send + Mul<Self::Real, Output = Self::Out>;
    /// Number of input elements of a line.
    fn input_len(&self) -> usize;
    /// Number of output elements of a line.
    fn output_len(&self) -> usize;
    /// Number of scratch elements.
    fn scratch_len(&self) -> usize;
    /// Whether the output overwrites the input.
    fn is_in_place(&self) -> bool {
        false
    }
    /// Transforms one line.
    fn transform<'a>(
        &self,
        buffers: &'a mut BatchBuffers<Self>,
        line: usize,
    ) -> &'a mut [Self::Out];
    /// Returns the output of all lines.
    fn results<'a>(&self, buffers: &'a BatchBuffers<Self>) -> &'a [Self::Out] {
        &buffers.output
    }

    fn input_stride(&self) -> usize {
        self.input_len() + LINE_PADDING_ELEMENTS
    }

    fn output_stride(&self) -> usize {
        self.output_len() + LINE_PADDING_ELEMENTS
    }

    fn scale(&self, values: &mut [Self::Out], scale: Self::Real) {
        if scale != Self::Real::nearest(1.0) {
            values.iter_mut().for_each(|value| *value = *value * scale);
        }
    }
}

/// Buffers of one thread: input and output of a batch, and scratch.
pub struct BatchBuffers<K: LineTransform> {
    pub input: Vec<K::In>,
    pub output: Vec<K::Out>,
    scratch: Vec<Complex<K::Real>>,
}

impl<K: LineTransform> BatchBuffers<K> {
    pub fn new(kernel: &K, width: usize) -> Self {
        let output = if kernel.is_in_place() { 0 } else { width * kernel.output_stride() };
        Self {
            input: filled(K::In::default(), width * kernel.input_stride()),
            output: filled(K::Out::default(), output),
            scratch: filled(Complex::default(), kernel.scratch_len()),
        }
    }
}

/// Complex to complex transform.
pub struct ComplexTransform<T>(Arc<dyn Fft<T>>);

impl<T: Float> ComplexTransform<T> {
    pub fn new(length: usize, direction: Direction) -> Self {
        Self(T::plans().complex(length, direction))
    }
}

impl<T: Float> LineTransform for ComplexTransform<T> {
    type Real = T;
    type In = Complex<T>;
    type Out = Complex<T>;

    fn input_len(&self) -> usize {
        self.0.len()
    }

    fn output_len(&self) -> usize {
        self.0.len()
    }

    fn scratch_len(&self) -> usize {
        self.0.get_inplace_scratch_len()
    }

    fn is_in_place(&self) -> bool {
        true
    }

    fn transform<'a>(
        &self,
        buffers: &'a mut BatchBuffers<Self>,
        line: usize,
    ) -> &'a mut [Complex<T>] {
        let values = &mut buffers.input[line * self.input_stride()..][..self.0.len()];
        self.0.process_with_scratch(values, &mut buffers.scratch);
        values
    }

    fn results<'a>(&self, buffers: &'a BatchBuffers<Self>) -> &'a [Complex<T>] {
        &buffers.input
    }
}

/// Real to complex transform: the first half of the spectrum.
pub struct RealToComplexTransform<T>(Arc<dyn RealToComplex<T>>);

impl<T: Float> RealToComplexTransform<T> {
    pub fn new(length: usize) -> Self {
        Self(T::plans().real_to_complex(length))
    }
}

impl<T: Float> LineTransform for RealToComplexTransform<T> {
    type Real = T;
    type In = T;
    type Out = Complex<T>;

    fn input_len(&self) -> usize {
        self.0.len()
    }

    fn output_len(&self) -> usize {
        self.0.complex_len()
    }

    fn scratch_len(&self) -> usize {
        self.0.get_scratch_len()
    }

    fn transform<'a>(
        &self,
        buffers: &'a mut BatchBuffers<Self>,
        line: usize,
    ) -> &'a mut [Complex<T>] {
        let values = &mut buffers.input[line * self.input_stride()..][..self.input_len()];
        let output = &mut buffers.output[line * self.output_stride()..][..self.output_len()];
        self.0
            .process_with_scratch(values, output, &mut buffers.scratch)
            .expect("lengths that fit");
        output
    }
}

/// Complex to real transform.
pub struct ComplexToRealTransform<T>(Arc<dyn ComplexToReal<T>>);

impl<T: Float> ComplexToRealTransform<T> {
    pub fn new(length: usize) -> Self {
        Self(T::plans().complex_to_real(length))
    }
}

impl<T: Float> LineTransform for ComplexToRealTransform<T> {
    type Real = T;
    type In = Complex<T>;
    type Out = T;

    fn input_len(&self) -> usize {
        self.0.complex_len()
    }

    fn output_len(&self) -> usize {
        self.0.len()
    }

    fn scratch_len(&self) -> usize {
        self.0.get_scratch_len()
    }

    fn transform<'a>(&self, buffers: &'a mut BatchBuffers<Self>, line: usize) -> &'a mut [T] {
        let values = &mut buffers.input[line * self.input_stride()..][..self.input_len()];
        // These are zero for real values. realfft rejects other values; NumPy ignores them.
        values[0].im = T::zero();
        if self.output_len().is_multiple_of(2) {
            values[self.input_len() - 1].im = T::zero();
        }
        let output = &mut buffers.output[line * self.output_stride()..][..self.output_len()];
        self.0
            .process_with_scratch(values, output, &mut buffers.scratch)
            .expect("lengths that fit");
        output
    }
}
