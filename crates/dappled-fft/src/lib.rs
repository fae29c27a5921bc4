//! Fourier transforms along one axis of a dense array, on all threads of rayon's current pool.
//!
//! An array is `groups` times lines of a length times `inner` neighbours, in C order: the axis that
//! is transformed is the middle one. Lines are taken in bundles: copied together into memory that
//! stays in the cache, transformed by `rustfft` or `realfft`, and put where they belong. A single
//! long line is cut into many short ones ([`long`]).
//!
//! Nothing is normalised but by the factor that is given.
//!
//! ```
//! use dappled_fft::{Direction, Given, Lines, complex};
//!
//! let mut result = vec![Default::default(); 4];
//! let lines = Lines { groups: 1, given: 4, length: 4, inner: 1 };
//! complex(Given::Real(&[1.0, 0.0, 0.0, 0.0]), &mut result, lines, Direction::Forward, 1.0, &mut []);
//! assert!(result.iter().all(|value| value.re == 1.0 && value.im == 0.0));
//! ```

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod bundles;
#[allow(unsafe_code)]
mod disjoint;
mod halves;
mod kernels;
#[allow(unsafe_code)]
mod long;
pub mod parts;
mod plans;
mod twiddles;

use num_complex::Complex;

use crate::bundles::{Strides, Walk, bundles};
use crate::disjoint::Disjoint;
use crate::kernels::{FromReal, Kernel, Straight, ToReal};
pub use crate::plans::Float;

/// Which way a transform goes: the sign of its exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// exp(-2πi jk/n)
    Forward,
    /// exp(+2πi jk/n)
    Inverse,
}

/// The lines that are transformed.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// The product of the lengths of the axes before the transformed one.
    pub groups: usize,
    /// How many elements of a line are given; if fewer than needed, the others are zeros.
    pub given: usize,
    /// The length of the transform.
    pub length: usize,
    /// The product of the lengths of the axes after it.
    pub inner: usize,
}

/// The values to be transformed.
#[derive(Clone, Copy)]
pub enum Given<'a, T> {
    /// Those in the target.
    Target,
    /// Complex numbers.
    Complex(&'a [Complex<T>]),
    /// Real numbers.
    Real(&'a [T]),
}

/// Complex values from complex or real ones.
///
/// # Panics
/// If the sizes of the arrays are not those of the lines, or `between` is shorter than they say.
#[allow(unsafe_code)]
pub fn complex<T: Float>(
    given: Given<'_, T>,
    target: &mut [Complex<T>],
    lines: Lines,
    direction: Direction,
    scale: T,
    between: &mut [Complex<T>],
) {
    assert_eq!(target.len(), lines.size(lines.length), "the target's size");
    if let Given::Complex(source) = given {
        assert_eq!(source.len(), lines.size(lines.given), "the source's size");
    } else if let Given::Real(source) = given {
        assert_eq!(source.len(), lines.size(lines.given), "the source's size");
    } else {
        assert_eq!(lines.given, lines.length, "a transform in place keeps its length");
    }
    if lines.is_long(lines.length) {
        return long::complex(given, target, lines, direction, scale, between);
    }
    let kernel = Straight::new(lines.length, direction);
    let shared = Disjoint::new(target);
    match given {
        Given::Complex(source) => pass(&kernel, lines, copied(source), shared, scale),
        Given::Real(source) => pass(&kernel, lines, widened(source), shared, scale),
        Given::Target => {
            // SAFETY: a place is read by the task that owns its line, before that task writes it.
            let read = |at, values: &mut [_]| unsafe { shared.read(at, values) };
            pass(&kernel, lines, read, shared, scale);
        }
    }
}

/// Reads from a slice.
fn copied<V: Copy + Sync>(source: &[V]) -> impl Fn(usize, &mut [V]) + Sync {
    |at, values| values.copy_from_slice(&source[at..at + values.len()])
}

/// Reads real numbers as complex ones.
fn widened<T: Float>(source: &[T]) -> impl Fn(usize, &mut [Complex<T>]) + Sync {
    |at, values| {
        let pairs = values.iter_mut().zip(&source[at..]);
        pairs.for_each(|(value, &real)| *value = Complex::new(real, T::zero()));
    }
}

/// The first half of the spectrum of real values, and its middle: `length / 2 + 1` of them.
///
/// # Panics
/// If the sizes of the arrays are not those of the lines, or `between` is shorter than they say.
pub fn real_to_complex<T: Float>(
    source: &[T],
    target: &mut [Complex<T>],
    lines: Lines,
    scale: T,
    between: &mut [Complex<T>],
) {
    assert_eq!(source.len(), lines.size(lines.given), "the source's size");
    assert_eq!(target.len(), lines.size(lines.length / 2 + 1), "the target's size");
    if lines.is_long_of_pairs() {
        return long::real_to_complex(source, target, lines, scale, between);
    }
    let kernel = FromReal::new(lines.length);
    pass(&kernel, lines, copied(source), Disjoint::new(target), scale);
}

/// Real values from the first half of their spectrum. The imaginary parts of its ends mean nothing.
///
/// # Panics
/// If the sizes of the arrays are not those of the lines, or `between` is shorter than they say.
pub fn complex_to_real<T: Float>(
    source: &[Complex<T>],
    target: &mut [T],
    lines: Lines,
    scale: T,
    between: &mut [Complex<T>],
) {
    assert_eq!(source.len(), lines.size(lines.given), "the source's size");
    assert_eq!(target.len(), lines.size(lines.length), "the target's size");
    if lines.is_long_of_pairs() {
        return long::complex_to_real(source, target, lines, scale, between);
    }
    let kernel = ToReal::new(lines.length);
    pass(&kernel, lines, copied(source), Disjoint::new(target), scale);
}

fn pass<K: Kernel>(
    kernel: &K,
    lines: Lines,
    read: impl Fn(usize, &mut [K::In]) + Sync,
    target: Disjoint<'_, K::Out>,
    scale: K::Real,
) {
    let walk = Walk {
        given: lines.given.min(kernel.taken()),
        from: lines.strides(lines.given),
        to: lines.strides(kernel.made()),
        ..lines.walk()
    };
    bundles(walk, kernel, read, target, |_, values| kernel.scaled(values, scale));
}

impl Lines {
    /// How long the memory between two passes must be for complex values: of no length but for
    /// long lines. It should be in huge pages.
    pub fn between(&self) -> usize {
        if self.is_long(self.length) { self.length } else { 0 }
    }

    /// The same for real values.
    pub fn between_real(&self) -> usize {
        if self.is_long_of_pairs() { self.length / 2 } else { 0 }
    }

    fn is_long_of_pairs(&self) -> bool {
        self.is_long(self.length / 2) && self.length.is_multiple_of(2)
    }

    fn size(&self, length: usize) -> usize {
        self.groups * length * self.inner
    }

    /// Whether few lines are so long that each is better cut into many short ones.
    fn is_long(&self, length: usize) -> bool {
        let few = self.groups < rayon::current_num_threads();
        self.inner == 1 && (length >= long::ALWAYS || few && length >= long::IF_FEW)
    }

    /// Rows are neighbours of each other as columns are, only further apart.
    fn walk(&self) -> Walk {
        let zero = Strides::default();
        let (groups, lines) =
            if self.inner == 1 { (1, self.groups) } else { (self.groups, self.inner) };
        Walk { groups, lines, given: self.given, from: zero, to: zero }
    }

    fn strides(&self, length: usize) -> Strides {
        if self.inner == 1 {
            return Strides { group: 0, line: length, step: 1 };
        }
        Strides { group: length * self.inner, line: 1, step: self.inner }
    }
}
