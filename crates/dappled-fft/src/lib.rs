//! This crate computes Fourier transforms along one axis of a dense array.
//!
//! The transforms run on all threads of rayon's current pool.
//!
//! Input: an array in C order as three axes: `groups` times lines of a length times `inner`
//! neighbours; the middle axis is transformed. Output: the transformed lines, multiplied by the
//! given factor and otherwise not normalised. Guarantees: the error grows only with the logarithm of
//! the length; memory is allocated fallibly.
//!
//! ```text
//! config                       thresholds
//! transforms, plan_cache       transforms of one line by rustfft and realfft, and their plans
//! batched, disjoint_slice      gathers batches of lines into the cache and scatters the results
//! four_step, twiddles, real_packing
//!                              long lines as matrices of short ones
//! non_finite                   NaN and infinities, for floating-point flags
//! parts                        the passes of a transform that is distributed over ranks
//! ```
//!
//! ```
//! use dappled_fft::{Direction, Lines, TransformInput, complex};
//!
//! let mut result = vec![Default::default(); 4];
//! let lines = Lines { groups: 1, input_length: 4, length: 4, inner: 1 };
//! let input = TransformInput::Real(&[1.0, 0.0, 0.0, 0.0]);
//! complex(input, &mut result, lines, Direction::Forward, 1.0, &mut []);
//! assert!(result.iter().all(|value| value.re == 1.0 && value.im == 0.0));
//! ```

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod batched;
mod config;
#[allow(unsafe_code)]
mod disjoint_slice;
#[allow(unsafe_code)]
mod four_step;
mod non_finite;
pub mod parts;
mod plan_cache;
mod real_packing;
mod transforms;
mod twiddles;

use num_complex::Complex;

use crate::batched::{LineGrid, LineStrides, transform_batches};
use crate::config::{MIN_FOUR_STEP_LENGTH, MIN_FOUR_STEP_LENGTH_FEW_LINES};
use crate::disjoint_slice::DisjointSlice;
pub use crate::non_finite::NonFinite;
pub use crate::plan_cache::Float;
use crate::transforms::{
    ComplexToRealTransform, ComplexTransform, LineTransform, RealToComplexTransform,
};

/// The direction of a transform: the sign of its exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// exp(-2πi jk/n)
    Forward,
    /// exp(+2πi jk/n)
    Inverse,
}

/// The shape of the array: the lines to transform, and the axes around them.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// Product of the lengths of the axes before the transformed one.
    pub groups: usize,
    /// Number of input elements of a line; missing elements are zeros.
    pub input_length: usize,
    /// Length of the transform.
    pub length: usize,
    /// Product of the lengths of the axes after the transformed one.
    pub inner: usize,
}

/// The input of a complex transform.
#[derive(Clone, Copy)]
pub enum TransformInput<'a, T> {
    /// The target itself: an in-place transform.
    InPlace,
    /// Complex numbers.
    Complex(&'a [Complex<T>]),
    /// Real numbers.
    Real(&'a [T]),
}

/// Computes a complex transform of complex or real values.
///
/// # Panics
///
/// If the slices do not have the sizes that `lines` implies.
#[allow(unsafe_code)]
pub fn complex<T: Float>(
    input: TransformInput<'_, T>,
    target: &mut [Complex<T>],
    lines: Lines,
    direction: Direction,
    scale: T,
    workspace: &mut [Complex<T>],
) {
    assert_eq!(
        target.len(),
        lines.size(lines.length),
        "the target has another length than the lines"
    );
    if let TransformInput::Complex(source) = input {
        assert_eq!(
            source.len(),
            lines.size(lines.input_length),
            "the source has another length than the lines"
        );
    } else if let TransformInput::Real(source) = input {
        assert_eq!(
            source.len(),
            lines.size(lines.input_length),
            "the source has another length than the lines"
        );
    } else {
        assert_eq!(
            lines.input_length, lines.length,
            "a transform in place cannot change the length"
        );
    }
    if lines.is_long(lines.length) {
        return four_step::complex(input, target, lines, direction, scale, workspace);
    }
    let transform = ComplexTransform::new(lines.length, direction);
    let shared = DisjointSlice::new(target);
    match input {
        TransformInput::Complex(source) => {
            transform_lines(&transform, lines, read_slice(source), shared, scale)
        }
        TransformInput::Real(source) => {
            transform_lines(&transform, lines, read_real(source), shared, scale)
        }
        TransformInput::InPlace => {
            // SAFETY: the task that owns a line reads its elements before it writes them.
            let read = |at, values: &mut [_]| unsafe { shared.read(at, values) };
            transform_lines(&transform, lines, read, shared, scale);
        }
    }
}

/// Returns a function that reads from a slice.
fn read_slice<V: Copy + Sync>(source: &[V]) -> impl Fn(usize, &mut [V]) + Sync {
    |at, values| values.copy_from_slice(&source[at..at + values.len()])
}

/// Returns a function that reads real numbers as complex ones.
fn read_real<T: Float>(source: &[T]) -> impl Fn(usize, &mut [Complex<T>]) + Sync {
    |at, values| {
        let pairs = values.iter_mut().zip(&source[at..]);
        pairs.for_each(|(value, &real)| *value = Complex::new(real, T::zero()));
    }
}

/// Computes the first `length / 2 + 1` elements of the spectrum of real values.
///
/// # Panics
///
/// If the slices do not have the sizes that `lines` implies.
pub fn real_to_complex<T: Float>(
    source: &[T],
    target: &mut [Complex<T>],
    lines: Lines,
    scale: T,
    workspace: &mut [Complex<T>],
) {
    assert_eq!(
        source.len(),
        lines.size(lines.input_length),
        "the source has another length than the lines"
    );
    assert_eq!(
        target.len(),
        lines.size(lines.length / 2 + 1),
        "the target has another length than the lines"
    );
    if lines.is_long_real() {
        return four_step::real_to_complex(source, target, lines, scale, workspace);
    }
    let transform = RealToComplexTransform::new(lines.length);
    transform_lines(&transform, lines, read_slice(source), DisjointSlice::new(target), scale);
}

/// Computes real values from the first half of their spectrum. The imaginary parts of its first
/// and, for an even length, last element are ignored.
///
/// # Panics
///
/// If the slices do not have the sizes that `lines` implies.
pub fn complex_to_real<T: Float>(
    source: &[Complex<T>],
    target: &mut [T],
    lines: Lines,
    scale: T,
    workspace: &mut [Complex<T>],
) {
    assert_eq!(
        source.len(),
        lines.size(lines.input_length),
        "the source has another length than the lines"
    );
    assert_eq!(
        target.len(),
        lines.size(lines.length),
        "the target has another length than the lines"
    );
    if lines.is_long_real() {
        return four_step::complex_to_real(source, target, lines, scale, workspace);
    }
    let transform = ComplexToRealTransform::new(lines.length);
    transform_lines(&transform, lines, read_slice(source), DisjointSlice::new(target), scale);
}

fn transform_lines<K: LineTransform>(
    transform: &K,
    lines: Lines,
    read: impl Fn(usize, &mut [K::In]) + Sync,
    target: DisjointSlice<'_, K::Out>,
    scale: K::Real,
) {
    let grid = LineGrid {
        input_length: lines.input_length.min(transform.input_len()),
        from: lines.strides(lines.input_length),
        to: lines.strides(transform.output_len()),
        ..lines.line_grid()
    };
    transform_batches(grid, transform, read, target, |_, values| transform.scale(values, scale));
}

impl Lines {
    /// Returns the workspace length of a complex transform; 0 except for long lines. The workspace
    /// should be in huge pages.
    pub fn workspace_len(&self) -> usize {
        if self.is_long(self.length) { self.length } else { 0 }
    }

    /// Returns the workspace length of a real transform.
    pub fn real_workspace_len(&self) -> usize {
        if self.is_long_real() { self.length / 2 } else { 0 }
    }

    fn is_long_real(&self) -> bool {
        self.is_long(self.length / 2) && self.length.is_multiple_of(2)
    }

    fn size(&self, length: usize) -> usize {
        self.groups * length * self.inner
    }

    /// Returns whether lines are long enough for the four-step algorithm.
    fn is_long(&self, length: usize) -> bool {
        let few = self.groups < rayon::current_num_threads();
        self.inner == 1
            && (length >= MIN_FOUR_STEP_LENGTH || few && length >= MIN_FOUR_STEP_LENGTH_FEW_LINES)
    }

    /// Contiguous lines are batched across groups, strided lines within a group.
    fn line_grid(&self) -> LineGrid {
        let zero = LineStrides::default();
        let (groups, lines) =
            if self.inner == 1 { (1, self.groups) } else { (self.groups, self.inner) };
        LineGrid { groups, lines, input_length: self.input_length, from: zero, to: zero }
    }

    fn strides(&self, length: usize) -> LineStrides {
        if self.inner == 1 {
            return LineStrides { group: 0, line: length, step: 1 };
        }
        LineStrides { group: length * self.inner, line: 1, step: self.inner }
    }
}
