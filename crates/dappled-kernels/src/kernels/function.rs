//! The functions that only floats have. float16 goes through float32.

use half::f16;

use crate::Flags;
use crate::element::Element;

/// Lists the functions once: the trait, and float16's by way of float32.
macro_rules! functions {
    ($($one:ident),*; $($two:ident),*) => {
        /// A float.
        pub(crate) trait Function: Element {
            /// The smallest number with all its digits.
            const TINY: f64;
            /// Is it float32 or float64?
            const IS_WIDE: bool;
            fn wide(self) -> f64;
            fn signbit(self) -> bool;
            fn is_far(self) -> bool;
            fn is_rare_log(self) -> bool;
            fn is_rare_power(self, exponent: Self) -> bool;
            fn copysign(self, sign: Self) -> Self;
            fn nextafter(self, toward: Self) -> Self;
            fn spacing(self) -> Self;
            fn spacing_raises(self, out: Self) -> Flags;
            $(fn $one(self) -> Self;)*
            $(fn $two(self, other: Self) -> Self;)*
        }

        impl Function for f16 {
            const TINY: f64 = 6.103515625e-05;
            const IS_WIDE: bool = false;
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self.to_f32())
            }
            #[inline(always)]
            fn signbit(self) -> bool {
                self.to_bits() >> 15 == 1
            }
            #[inline(always)]
            fn is_far(self) -> bool {
                self.to_f32().is_far()
            }
            #[inline(always)]
            fn is_rare_log(self) -> bool {
                self.to_f32().is_rare_log()
            }
            #[inline(always)]
            fn is_rare_power(self, exponent: Self) -> bool {
                self.to_f32().is_rare_power(exponent.to_f32())
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                f16::from_bits(self.to_bits() & 0x7fff | sign.to_bits() & 0x8000)
            }
            #[inline(always)]
            fn nextafter(self, toward: Self) -> Self {
                next_half(self, toward)
            }
            #[inline(always)]
            fn spacing(self) -> Self {
                half_spacing(self)
            }
            #[inline(always)]
            fn spacing_raises(self, out: Self) -> Flags {
                Flags::INVALID.when(out.is_nan()) | Flags::OVERFLOW.when(out.is_infinite())
            }
            $(#[inline(always)]
            fn $one(self) -> Self {
                f16::from_f32(Function::$one(self.to_f32()))
            })*
            $(#[inline(always)]
            fn $two(self, other: Self) -> Self {
                f16::from_f32(Function::$two(self.to_f32(), other.to_f32()))
            })*
        }
    };
}
functions! {
    exp, exp2, expm1, log, log2, log10, log1p, sin, cos, tan, arcsin, arccos, arctan, sinh, cosh,
    tanh, arcsinh, arccosh, arctanh, cbrt, fabs, deg2rad, rad2deg, rare_log, rare_log2, rare_log10, far_sin, far_cos, far_tan;
    heaviside, power, rare_power, hypot, arctan2, logaddexp, logaddexp2
}

/// A step of the bits, which are ordered as the numbers are but for the sign.
fn next_half(from: f16, toward: f16) -> f16 {
    let bits = from.to_bits();
    if from.is_nan() || toward.is_nan() {
        return f16::NAN;
    }
    match (from.to_f32(), toward.to_f32()) {
        (from, toward) if from == toward => f16::from_bits(bits),
        (0.0, toward) => f16::from_bits(1 | (((toward < 0.0) as u16) << 15)),
        (from, toward) if (from > toward) == (from > 0.0) => f16::from_bits(bits - 1),
        _ => f16::from_bits(bits + 1),
    }
}

/// NumPy's, which is not that of the wider floats: always positive, and toward infinity.
fn half_spacing(a: f16) -> f16 {
    let (sign, exponent, digits) =
        (a.to_bits() >> 15, a.to_bits() >> 10 & 0x1f, a.to_bits() & 0x3ff);
    // Below a power of two, on the negative side, numbers lie closer.
    let exponent = if sign == 1 && digits == 0 { exponent.max(1) - 1 } else { exponent };
    match exponent {
        _ if !a.is_finite() => f16::NAN,
        _ if a.to_bits() == 0x7bff => f16::INFINITY,
        11.. => f16::from_bits((exponent - 10) << 10),
        1.. => f16::from_bits(1 << (exponent - 1)),
        0 => f16::from_bits(1),
    }
}
