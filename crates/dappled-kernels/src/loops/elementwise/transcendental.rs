//! Functions that only real floats have. float16 is computed via float32.

use half::f16;

use crate::types::element::Element;
use crate::types::fp_flags::FpFlags;

/// Defines the trait from one list of functions, and implements it for float16 via float32.
macro_rules! functions {
    ($($one:ident),*; $($two:ident),*) => {
        /// The functions of a real float.
        pub(crate) trait Transcendental: Element {
            /// The smallest normal number.
            const TINY: f64;
            /// True for float32 and float64.
            const IS_WIDE: bool;
            fn wide(self) -> f64;
            fn signbit(self) -> bool;
            fn is_large_angle(self) -> bool;
            fn is_special_log(self) -> bool;
            fn is_special_power(self, exponent: Self) -> bool;
            fn copysign(self, sign: Self) -> Self;
            fn nextafter(self, toward: Self) -> Self;
            fn spacing(self) -> Self;
            fn spacing_flags(self, out: Self) -> FpFlags;
            $(fn $one(self) -> Self;)*
            $(fn $two(self, other: Self) -> Self;)*
        }

        impl Transcendental for f16 {
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
            fn is_large_angle(self) -> bool {
                self.to_f32().is_large_angle()
            }
            #[inline(always)]
            fn is_special_log(self) -> bool {
                self.to_f32().is_special_log()
            }
            #[inline(always)]
            fn is_special_power(self, exponent: Self) -> bool {
                self.to_f32().is_special_power(exponent.to_f32())
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
            fn spacing_flags(self, out: Self) -> FpFlags {
                FpFlags::INVALID.when(out.is_nan()) | FpFlags::OVERFLOW.when(out.is_infinite())
            }
            $(#[inline(always)]
            fn $one(self) -> Self {
                f16::from_f32(Transcendental::$one(self.to_f32()))
            })*
            $(#[inline(always)]
            fn $two(self, other: Self) -> Self {
                f16::from_f32(Transcendental::$two(self.to_f32(), other.to_f32()))
            })*
        }
    };
}
functions! {
    exp, exp2, expm1, log, log2, log10, log1p, sin, cos, tan, arcsin, arccos, arctan, sinh, cosh,
    tanh, arcsinh, arccosh, arctanh, cbrt, fabs, deg2rad, rad2deg, special_log, special_log2, special_log10, large_angle_sin, large_angle_cos, large_angle_tan;
    heaviside, power, special_power, hypot, arctan2, logaddexp, logaddexp2
}

/// The next float16 toward a value: one step of the bits, which are ordered as the magnitudes.
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

/// NumPy's spacing of float16, which unlike that of wider floats is always positive and toward
/// infinity.
fn half_spacing(a: f16) -> f16 {
    let (sign, exponent, digits) =
        (a.to_bits() >> 15, a.to_bits() >> 10 & 0x1f, a.to_bits() & 0x3ff);
    // Below a power of two, on the negative side, values are closer.
    let exponent = if sign == 1 && digits == 0 { exponent.max(1) - 1 } else { exponent };
    match exponent {
        _ if !a.is_finite() => f16::NAN,
        _ if a.to_bits() == 0x7bff => f16::INFINITY,
        11.. => f16::from_bits((exponent - 10) << 10),
        1.. => f16::from_bits(1 << (exponent - 1)),
        0 => f16::from_bits(1),
    }
}
