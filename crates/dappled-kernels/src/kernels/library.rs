//! The C library's mathematical functions, which NumPy calls as well: where ours are not faster,
//! they are these, and have the same bits.

use num_complex::Complex;

/// Declares C functions of floats and makes them safe functions of the same name.
macro_rules! of_c {
    ($($name:ident($($arg:ident),+): $Float:ty;)*) => {
        mod c {
            unsafe extern "C" {
                $(pub fn $name($($arg: $Float),+) -> $Float;)*
            }
        }
        $(#[inline(always)]
        pub(crate) fn $name($($arg: $Float),+) -> $Float {
            // SAFETY: a function of numbers that touches no memory but `errno`.
            unsafe { c::$name($($arg),+) }
        })*
    };
}

// Those that the standard library has not, or computes by formulas of its own.
of_c! {
    asinh(a): f64; asinhf(a): f32;
    acosh(a): f64; acoshf(a): f32;
    atanh(a): f64; atanhf(a): f32;
    nextafter(a, b): f64; nextafterf(a, b): f32;
}

unsafe extern "C" {
    // A `double complex` is passed and returned as a struct of its parts is, on all our systems.
    #[allow(improper_ctypes)]
    fn csqrt(a: Complex<f64>) -> Complex<f64>;
    #[allow(improper_ctypes)]
    fn csqrtf(a: Complex<f32>) -> Complex<f32>;
}

/// Floats whose complex root C has.
pub(crate) trait Root: Sized {
    fn root(a: Complex<Self>) -> Complex<Self>;
}

impl Root for f64 {
    fn root(a: Complex<f64>) -> Complex<f64> {
        // SAFETY: a function of numbers.
        unsafe { csqrt(a) }
    }
}

impl Root for f32 {
    fn root(a: Complex<f32>) -> Complex<f32> {
        // SAFETY: as above.
        unsafe { csqrtf(a) }
    }
}

/// The square root with a real part that is not negative.
pub(crate) fn sqrt_of_complex<T: Root>(a: Complex<T>) -> Complex<T> {
    T::root(a)
}
