//! The functions of float32 and float64: those of this crate where they are faster, else the C
//! library's.

use super::transcendental::Transcendental;
use crate::loops::libm;
use crate::loops::math::{self, double, single};
use crate::types::fp_flags::FpFlags;

macro_rules! floats {
    ($($T:ident: $asinh:path, $acosh:path, $atanh:path, $nextafter:path, $math:ident;)*) => {$(
        impl Transcendental for $T {
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
            fn is_large_angle(self) -> bool {
                math::is_large_angle(f64::from(self))
            }
            #[inline(always)]
            fn is_special_log(self) -> bool {
                math::is_special_log(f64::from(self))
            }
            fn special_log(self) -> Self {
                self.ln()
            }
            fn special_log2(self) -> Self {
                <$T>::log2(self)
            }
            fn special_log10(self) -> Self {
                <$T>::log10(self)
            }
            #[inline(always)]
            fn is_special_power(self, exponent: Self) -> bool {
                math::is_special_power(f64::from(self), f64::from(exponent))
            }
            fn large_angle_sin(self) -> Self {
                <$T>::sin(self)
            }
            fn large_angle_cos(self) -> Self {
                <$T>::cos(self)
            }
            fn large_angle_tan(self) -> Self {
                <$T>::tan(self)
            }
            fn special_power(self, exponent: Self) -> Self {
                self.powf(exponent)
            }
            #[inline(always)]
            fn nextafter(self, toward: Self) -> Self {
                $nextafter(self, toward)
            }
            /// The distance to the next number away from zero.
            #[inline(always)]
            fn spacing(self) -> Self {
                match self.is_infinite() {
                    true => <$T>::NAN,
                    false if self < 0.0 => $nextafter(self, <$T>::NEG_INFINITY) - self,
                    false => $nextafter(self, <$T>::INFINITY) - self,
                }
            }
            #[inline(always)]
            fn spacing_flags(self, out: Self) -> FpFlags {
                let tiny = (self.abs() < <$T>::MIN_POSITIVE) & (self != 0.0);
                FpFlags::OVERFLOW.when(out.is_infinite()) | FpFlags::UNDERFLOW.when(tiny)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $math::exp(self)
            }
            #[inline(always)]
            fn exp2(self) -> Self {
                $math::exp2(self)
            }
            #[inline(always)]
            fn expm1(self) -> Self {
                $math::expm1(self)
            }
            #[inline(always)]
            fn log(self) -> Self {
                $math::log(self)
            }
            #[inline(always)]
            fn log2(self) -> Self {
                $math::log2(self)
            }
            #[inline(always)]
            fn log10(self) -> Self {
                $math::log10(self)
            }
            #[inline(always)]
            fn log1p(self) -> Self {
                self.ln_1p()
            }
            #[inline(always)]
            fn sin(self) -> Self {
                $math::sin(self)
            }
            #[inline(always)]
            fn cos(self) -> Self {
                $math::cos(self)
            }
            #[inline(always)]
            fn tan(self) -> Self {
                $math::tan(self)
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
                $math::tanh(self)
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
                $math::power(self, exponent)
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
                    // Equal infinities, whose difference is NaN, take this branch too.
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
    f32: libm::asinhf, libm::acoshf, libm::atanhf, libm::nextafterf, single;
    f64: libm::asinh, libm::acosh, libm::atanh, libm::nextafter, double;
}
