//! The element types of typed arrays, and the types of their results.

use dappled_kernels::element::f16;
use dappled_kernels::{Bool, Element};
use num_complex::{Complex32, Complex64};

/// An element type, with the result types that NumPy gives operations on it.
pub trait ArrayElement: Element {
    /// The type of sums, products and cumulative sums: NumPy adds integers in 64 bits.
    type Sum: ArrayElement;
    /// The type of means; the mean of integers is a float64.
    type Mean: ArrayElement;
    /// The type of `/`; integers are divided in float64.
    type Quotient: ArrayElement;
    /// The type of functions such as `sqrt`: the smallest float that holds the element type.
    type Float: ArrayElement;
    /// The type of absolute values, variances and the parts of complex numbers.
    type Real: ArrayElement;
    /// The type of Fourier transforms: complex, in double precision except for floats below it.
    type Spectrum: ArrayElement;
}

/// An element type with subtraction and a sign: every one but [`Bool`].
pub trait NumberElement: ArrayElement {}

/// A real number type: integers and floats.
pub trait RealElement: NumberElement {}

/// An integer type.
pub trait IntegerElement: RealElement + BitsElement {}

/// An element type with bitwise operations: integers and [`Bool`].
pub trait BitsElement: ArrayElement {}

/// A complex element type.
pub trait ComplexElement: ArrayElement {}

/// An element type with linear algebra: floats and complex numbers, computed in double precision.
pub trait MatrixElement: NumberElement {
    /// The value of a complex number in this type; the real part for real types.
    fn from_complex(value: Complex64) -> Self;
}

impl MatrixElement for f32 {
    fn from_complex(value: Complex64) -> Self {
        value.re as f32
    }
}

impl MatrixElement for f64 {
    fn from_complex(value: Complex64) -> Self {
        value.re
    }
}

impl MatrixElement for Complex32 {
    fn from_complex(value: Complex64) -> Self {
        Complex32::new(value.re as f32, value.im as f32)
    }
}

impl MatrixElement for Complex64 {
    fn from_complex(value: Complex64) -> Self {
        value
    }
}

/// Defines the result types of each element type, and its families.
macro_rules! element_types {
    ($($T:ty: $Sum:ty, $Mean:ty, $Float:ty, $Real:ty, $Spectrum:ty; [$($Family:ident)*])*) => {$(
        impl ArrayElement for $T {
            type Sum = $Sum;
            type Mean = $Mean;
            type Quotient = $Mean;
            type Float = $Float;
            type Real = $Real;
            type Spectrum = $Spectrum;
        }
        $(impl $Family for $T {})*
    )*};
}

// Means and quotients have one type: both are divisions.
element_types! {
    Bool: i64, f64, f16, Bool, Complex64; [BitsElement]
    i8: i64, f64, f16, i8, Complex64; [NumberElement RealElement BitsElement IntegerElement]
    i16: i64, f64, f32, i16, Complex64; [NumberElement RealElement BitsElement IntegerElement]
    i32: i64, f64, f64, i32, Complex64; [NumberElement RealElement BitsElement IntegerElement]
    i64: i64, f64, f64, i64, Complex64; [NumberElement RealElement BitsElement IntegerElement]
    u8: u64, f64, f16, u8, Complex64; [NumberElement RealElement BitsElement IntegerElement]
    u16: u64, f64, f32, u16, Complex64; [NumberElement RealElement BitsElement IntegerElement]
    u32: u64, f64, f64, u32, Complex64; [NumberElement RealElement BitsElement IntegerElement]
    u64: u64, f64, f64, u64, Complex64; [NumberElement RealElement BitsElement IntegerElement]
    f16: f16, f16, f16, f16, Complex32; [NumberElement RealElement]
    f32: f32, f32, f32, f32, Complex32; [NumberElement RealElement]
    f64: f64, f64, f64, f64, Complex64; [NumberElement RealElement]
    Complex32: Complex32, Complex32, Complex32, f32, Complex32; [NumberElement ComplexElement]
    Complex64: Complex64, Complex64, Complex64, f64, Complex64; [NumberElement ComplexElement]
}
