//! The functions that only floats have. float16 goes through float32.

use half::f16;

use super::library as c;
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
    tanh, arcsinh, arccosh, arctanh, cbrt, fabs, deg2rad, rad2deg;
    copysign, heaviside, power, hypot, arctan2, logaddexp, logaddexp2
}

macro_rules! floats {
    ($($T:ident: $asinh:path, $acosh:path, $atanh:path, $nextafter:path;)*) => {$(
        impl Function for $T {
            const TINY: f64 = <$T>::MIN_POSITIVE as f64;
            const IS_WIDE: bool = true;
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn signbit(self) -> bool {
                self.is_sign_negative()
            }
            #[inline(always)]
            fn nextafter(self, toward: Self) -> Self {
                $nextafter(self, toward)
            }
            /// To the next number away from zero.
            #[inline(always)]
            fn spacing(self) -> Self {
                match self.is_infinite() {
                    true => <$T>::NAN,
                    false if self < 0.0 => $nextafter(self, <$T>::NEG_INFINITY) - self,
                    false => $nextafter(self, <$T>::INFINITY) - self,
                }
            }
            #[inline(always)]
            fn spacing_raises(self, out: Self) -> Flags {
                let tiny = (self.abs() < <$T>::MIN_POSITIVE) & (self != 0.0);
                Flags::OVERFLOW.when(out.is_infinite()) | Flags::UNDERFLOW.when(tiny)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                <$T>::exp(self)
            }
            #[inline(always)]
            fn exp2(self) -> Self {
                <$T>::exp2(self)
            }
            #[inline(always)]
            fn expm1(self) -> Self {
                self.exp_m1()
            }
            #[inline(always)]
            fn log(self) -> Self {
                self.ln()
            }
            #[inline(always)]
            fn log2(self) -> Self {
                <$T>::log2(self)
            }
            #[inline(always)]
            fn log10(self) -> Self {
                <$T>::log10(self)
            }
            #[inline(always)]
            fn log1p(self) -> Self {
                self.ln_1p()
            }
            #[inline(always)]
            fn sin(self) -> Self {
                <$T>::sin(self)
            }
            #[inline(always)]
            fn cos(self) -> Self {
                <$T>::cos(self)
            }
            #[inline(always)]
            fn tan(self) -> Self {
                <$T>::tan(self)
            }
            #[inline(always)]
            fn arcsin(self) -> Self {
                self.asin()
            }
            #[inline(always)]
            fn arccos(self) -> Self {
                self.acos()
            }
            #[inline(always)]
            fn arctan(self) -> Self {
                self.atan()
            }
            #[inline(always)]
            fn sinh(self) -> Self {
                <$T>::sinh(self)
            }
            #[inline(always)]
            fn cosh(self) -> Self {
                <$T>::cosh(self)
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                <$T>::tanh(self)
            }
            #[inline(always)]
            fn arcsinh(self) -> Self {
                $asinh(self)
            }
            #[inline(always)]
            fn arccosh(self) -> Self {
                $acosh(self)
            }
            #[inline(always)]
            fn arctanh(self) -> Self {
                $atanh(self)
            }
            #[inline(always)]
            fn cbrt(self) -> Self {
                <$T>::cbrt(self)
            }
            #[inline(always)]
            fn fabs(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn deg2rad(self) -> Self {
                self * (std::$T::consts::PI / 180.0)
            }
            #[inline(always)]
            fn rad2deg(self) -> Self {
                self * (180.0 / std::$T::consts::PI)
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                <$T>::copysign(self, sign)
            }
            #[inline(always)]
            fn heaviside(self, at_zero: Self) -> Self {
                let side = if self == 0.0 { at_zero } else { (self > 0.0) as u8 as $T };
                if self.is_nan() { self } else { side }
            }
            #[inline(always)]
            fn power(self, exponent: Self) -> Self {
                self.powf(exponent)
            }
            #[inline(always)]
            fn hypot(self, other: Self) -> Self {
                <$T>::hypot(self, other)
            }
            #[inline(always)]
            fn arctan2(self, other: Self) -> Self {
                self.atan2(other)
            }
            #[inline(always)]
            fn logaddexp(self, other: Self) -> Self {
                let difference = self - other;
                match difference {
                    // Infinities, whose difference is none, come here too.
                    _ if self == other => self + std::$T::consts::LN_2,
                    0.0.. => self + (-difference).exp().ln_1p(),
                    _ if difference <= 0.0 => other + difference.exp().ln_1p(),
                    _ => difference,
                }
            }
            #[inline(always)]
            fn logaddexp2(self, other: Self) -> Self {
                let log2_1p = |a: $T| std::$T::consts::LOG2_E * a.ln_1p();
                let difference = self - other;
                match difference {
                    _ if self == other => self + 1.0,
                    0.0.. => self + log2_1p((-difference).exp2()),
                    _ if difference <= 0.0 => other + log2_1p(difference.exp2()),
                    _ => difference,
                }
            }
        }
    )*};
}
floats! {
    f32: c::asinhf, c::acoshf, c::atanhf, c::nextafterf;
    f64: c::asinh, c::acosh, c::atanh, c::nextafter;
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
