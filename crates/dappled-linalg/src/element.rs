//! The element types of linear algebra: real and complex floats.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use num_complex::{Complex32, Complex64};

use crate::{LocalLinalg, Routines};

/// An element type with linear algebra. Norms and angles are computed in float64.
pub trait LinalgElement:
    Copy
    + Debug
    + Default
    + PartialEq
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Div<Output = Self>
    + Mul<Output = Self>
    + MulAssign
    + Neg<Output = Self>
    + Sub<Output = Self>
    + SubAssign
    + 'static
{
    /// The largest relative rounding error is half of it.
    const EPSILON: f64;

    /// The nearest element to a real number.
    fn from_f64(value: f64) -> Self;

    /// The real part.
    fn real(self) -> f64;

    /// The imaginary part.
    fn imaginary(self) -> f64;

    /// The complex conjugate.
    fn conjugate(self) -> Self;

    /// The routines of a library for this type.
    fn routines(linalg: &dyn LocalLinalg) -> &dyn Routines<Self>;

    /// The absolute value.
    fn magnitude(self) -> f64 {
        self.real().hypot(self.imaginary())
    }

    /// The square of the absolute value.
    fn norm_squared(self) -> f64 {
        self.real() * self.real() + self.imaginary() * self.imaginary()
    }

    /// The size by which LAPACK chooses pivots: the sum of the sizes of both parts.
    fn pivot_size(self) -> f64 {
        self.real().abs() + self.imaginary().abs()
    }
}

macro_rules! real_elements {
    ($($real:ty)*) => {$(
        impl LinalgElement for $real {
            const EPSILON: f64 = <$real>::EPSILON as f64;

            fn from_f64(value: f64) -> Self {
                value as $real
            }

            fn real(self) -> f64 {
                self as f64
            }

            fn imaginary(self) -> f64 {
                0.0
            }

            fn conjugate(self) -> Self {
                self
            }

            fn magnitude(self) -> f64 {
                self.abs() as f64
            }

            fn routines(linalg: &dyn LocalLinalg) -> &dyn Routines<Self> {
                linalg
            }
        }
    )*};
}

macro_rules! complex_elements {
    ($($complex:ty: $real:ty),*) => {$(
        impl LinalgElement for $complex {
            const EPSILON: f64 = <$real>::EPSILON as f64;

            fn from_f64(value: f64) -> Self {
                <$complex>::new(value as $real, 0.0)
            }

            fn real(self) -> f64 {
                self.re as f64
            }

            fn imaginary(self) -> f64 {
                self.im as f64
            }

            fn conjugate(self) -> Self {
                self.conj()
            }

            fn routines(linalg: &dyn LocalLinalg) -> &dyn Routines<Self> {
                linalg
            }
        }
    )*};
}

real_elements! { f32 f64 }
complex_elements! { Complex32: f32, Complex64: f64 }

/// The inner product of two vectors, the first of which is conjugated.
pub(crate) fn inner_product<T: LinalgElement>(left: &[T], right: &[T]) -> T {
    let terms = left.iter().zip(right).map(|(&one, &other)| one.conjugate() * other);
    terms.fold(T::default(), |sum, term| sum + term)
}

/// Subtracts a multiple of a vector from another.
pub(crate) fn subtract_multiple<T: LinalgElement>(target: &mut [T], factor: T, vector: &[T]) {
    for (value, &other) in target.iter_mut().zip(vector) {
        *value -= factor * other;
    }
}
