//! Mathematical functions of the C library, which NumPy calls too, so the bits are the same.

use num_complex::Complex;

/// Declares C functions of floats and wraps them in safe functions of the same name.
macro_rules! of_c {
    ($($name:ident($($arg:ident),+): $Float:ty;)*) => {
        mod c {
            unsafe extern "C" {
                $(pub fn $name($($arg: $Float),+) -> $Float;)*
            }
        }
        $(#[inline(always)]
        pub(crate) fn $name($($arg: $Float),+) -> $Float {
            // SAFETY: a pure function of its arguments that accesses no memory but `errno`.
            unsafe { c::$name($($arg),+) }
        })*
    };
}

// Functions that Rust's standard library lacks, or computes by formulas of its own.
of_c! {
    asinh(a): f64; asinhf(a): f32;
    acosh(a): f64; acoshf(a): f32;
    atanh(a): f64; atanhf(a): f32;
    nextafter(a, b): f64; nextafterf(a, b): f32;
}

unsafe extern "C" {
    // On all supported systems a `double complex` is passed and returned as a struct of its parts.
    #[allow(improper_ctypes)]
    fn csqrt(a: Complex<f64>) -> Complex<f64>;
    #[allow(improper_ctypes)]
    fn csqrtf(a: Complex<f32>) -> Complex<f32>;
}

/// Floats for which C has a complex square root.
pub(crate) trait ComplexSqrt: Sized {
    fn complex_sqrt(a: Complex<Self>) -> Complex<Self>;
}

impl ComplexSqrt for f64 {
    fn complex_sqrt(a: Complex<f64>) -> Complex<f64> {
        // SAFETY: a pure function of its argument.
        unsafe { csqrt(a) }
    }
}

impl ComplexSqrt for f32 {
    fn complex_sqrt(a: Complex<f32>) -> Complex<f32> {
        // SAFETY: as above.
        unsafe { csqrtf(a) }
    }
}

/// The square root with a nonnegative real part.
pub(crate) fn sqrt_of_complex<T: ComplexSqrt>(a: Complex<T>) -> Complex<T> {
    T::complex_sqrt(a)
}
