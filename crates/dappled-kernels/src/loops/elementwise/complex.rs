//! complex64 and complex128, with NumPy's formulas.

use num_complex::Complex;

use super::arithmetic::Arithmetic;
use crate::config::DEINTERLEAVE_ELEMENTS;
use crate::loops::fp::checked::FlagRecorder;
use crate::loops::libm;
use crate::types::fp_flags::FpFlags;

macro_rules! complexes {
    ($($T:ty, $LOW:expr);*) => {$(
        impl Arithmetic for Complex<$T> {
            type Real = $T;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self::new(self.re + other.re, self.im + other.im)
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                Self::new(self.re - other.re, self.im - other.im)
            }
            /// The only operation with a fused multiply-add: NumPy's vector loop has it for every
            /// array on CPUs since 2013, so the bits agree.
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                let re = self.re.mul_add(other.re, -(self.im * other.im));
                Self::new(re, self.re.mul_add(other.im, self.im * other.re))
            }
            /// Smith's algorithm, as NumPy writes it.
            ///
            /// The two cases are selected before any division: computed side by side, each would
            /// raise flags of its own.
            #[inline(always)]
            fn divide(self, by: Self) -> Self {
                if (by.re == 0.0) & (by.im == 0.0) {
                    return divide_by_zero(self);
                }
                let real_dominates = by.re.abs() >= by.im.abs();
                let (large, small) = parts_by_magnitude(by, real_dominates);
                let (along, across) = parts_by_magnitude(self, real_dominates);
                let ratio = small / large;
                let scale = 1.0 / (large + small * ratio);
                let scaled = along * ratio;
                let (from, less) = if real_dominates { (across, scaled) } else { (scaled, across) };
                Self::new((along + across * ratio) * scale, (from - less) * scale)
            }
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                select(self, other, Arithmetic::is_nan(self) | self.less_equal(other))
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                select(self, other, Arithmetic::is_nan(self) | other.less_equal(self))
            }
            /// NumPy's vector loop: an infinity beats a NaN, and no intermediate overflows.
            #[inline(always)]
            fn absolute(self) -> $T {
                let (re, im) = (self.re.abs(), self.im.abs());
                let (larger, smaller) = if re > im { (re, im) } else { (im, re) };
                let ratio = smaller / larger;
                let length = ratio.mul_add(ratio, 1.0).sqrt() * larger;
                let is_infinite = (larger == <$T>::INFINITY) | (smaller == <$T>::INFINITY);
                let length = if is_infinite { <$T>::INFINITY } else { length };
                if (larger == 0.0) & (smaller == 0.0) { 0.0 } else { length }
            }
            /// Deinterleaves the parts first, without which the compiler does not vectorise.
            #[inline(always)]
            fn absolute_all(many: &[Self], out: &mut [$T]) {
                let (mut re, mut im) = ([0.0; DEINTERLEAVE_ELEMENTS], [0.0; DEINTERLEAVE_ELEMENTS]);
                for (out, many) in out.chunks_mut(DEINTERLEAVE_ELEMENTS).zip(many.chunks(DEINTERLEAVE_ELEMENTS)) {
                    re.iter_mut().zip(many).for_each(|(re, one)| *re = one.re);
                    im.iter_mut().zip(many).for_each(|(im, one)| *im = one.im);
                    let parts = re.iter().zip(&im);
                    out.iter_mut().zip(parts).for_each(|(out, (&re, &im))| *out = Self::new(re, im).absolute());
                }
            }
            #[inline(always)]
            fn fmin(self, other: Self) -> Self {
                select(self, other, Arithmetic::is_nan(other) | self.less_equal(other))
            }
            #[inline(always)]
            fn fmax(self, other: Self) -> Self {
                select(self, other, Arithmetic::is_nan(other) | other.less_equal(self))
            }
            /// The unit vector in the same direction; NaN for two infinities. Vectors too long to
            /// measure follow NumPy's rule.
            #[inline(always)]
            fn sign(self) -> Self {
                let length = self.re.hypot(self.im);
                let unit = |part: $T| (1.0 as $T).copysign(part);
                match length {
                    0.0 => Self::new(0.0, 0.0),
                    <$T>::INFINITY if self.re.is_infinite() && self.im.is_infinite() => Self::new(<$T>::NAN, <$T>::NAN),
                    <$T>::INFINITY if self.re.is_infinite() => Self::new(unit(self.re), 0.0),
                    <$T>::INFINITY => Self::new(0.0, unit(self.im)),
                    _ if length.is_nan() => Self::new(<$T>::NAN, <$T>::NAN),
                    _ => Self::new(self.re / length, self.im / length),
                }
            }
            /// Smith's algorithm.
            #[inline(always)]
            fn reciprocal(self) -> Self {
                let real_dominates = self.im.abs() <= self.re.abs();
                let (large, small) = parts_by_magnitude(self, real_dominates);
                let ratio = small / large;
                let scale = large + small * ratio;
                let (re, im) = if real_dominates { (1.0, -ratio) } else { (ratio, -1.0) };
                Self::new(re / scale, im / scale)
            }
            #[inline(always)]
            fn conjugate(self) -> Self {
                Self::new(self.re, -self.im)
            }
            #[inline(always)]
            fn rint(self) -> Self {
                Self::new(self.re.round_ties_even(), self.im.round_ties_even())
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                libm::sqrt_of_complex(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.re.is_nan() | self.im.is_nan()
            }
            #[inline(always)]
            fn is_infinite(self) -> bool {
                self.re.is_infinite() | self.im.is_infinite()
            }
            #[inline(always)]
            fn is_true(self) -> bool {
                (self.re != 0.0) | (self.im != 0.0)
            }
            #[inline(always)]
            fn negative(self) -> Self {
                Self::new(-self.re, -self.im)
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                (self.re == other.re) & (self.im == other.im)
            }
            /// Where no part is very large or small, no intermediate result is either.
            #[inline(always)]
            fn divides_without_flags(self, by: Self) -> bool {
                let fits = |part: $T| (part == 0.0) | ((part.abs() >= $LOW) & (part.abs() <= 1.0 / $LOW));
                let all = fits(self.re) & fits(self.im) & fits(by.re) & fits(by.im);
                all & ((by.re != 0.0) | (by.im != 0.0))
            }
            #[inline(always)]
            fn compares_without_flags(self, other: Self) -> bool {
                !Arithmetic::is_nan(self) & !Arithmetic::is_nan(other)
            }
            #[inline(always)]
            fn reciprocal_without_flags(self) -> bool {
                Self::new(1.0, 0.0).divides_without_flags(self)
            }
            // NumPy compares with instructions that signal a NaN, but not all of its loops report
            // it.
            #[inline(always)]
            fn divide_flags(self, by: Self, _: Self) -> FpFlags {
                let mut flags = FlagRecorder::default();
                if (by.re == 0.0) & (by.im == 0.0) {
                    flags.quotient(self.re, 0.0);
                    flags.quotient(self.im, 0.0);
                    return flags.0;
                }
                let real_dominates = by.re.abs() >= by.im.abs();
                let (large, small) = parts_by_magnitude(by, real_dominates);
                let (along, across) = parts_by_magnitude(self, real_dominates);
                let ratio = flags.quotient(small, large);
                let [product, scaled, cross_product] =
                    [small, along, across].map(|part| flags.product(part, ratio));
                let length = flags.sum(large, product);
                let scale = flags.quotient(1.0, length);
                let re = flags.sum(along, cross_product);
                let im = flags.sum(across, -scaled);
                flags.product(re, scale);
                flags.product(im, scale);
                flags.0 | FpFlags::INVALID.when(Arithmetic::is_nan(by))
            }
            #[inline(always)]
            fn reciprocal_flags(self, _: Self) -> FpFlags {
                let mut flags = FlagRecorder::default();
                let real_dominates = self.im.abs() <= self.re.abs();
                let (large, small) = parts_by_magnitude(self, real_dominates);
                let ratio = flags.quotient(small, large);
                let product = flags.product(small, ratio);
                let scale = flags.sum(large, product);
                flags.quotient(1.0, scale);
                flags.quotient(ratio, scale);
                flags.0 | FpFlags::INVALID.when(Arithmetic::is_nan(self))
            }
            #[inline(always)]
            fn compare_flags(self, other: Self) -> FpFlags {
                let second = (self.re == other.re) & (self.im.is_nan() | other.im.is_nan());
                FpFlags::INVALID.when(self.re.is_nan() | other.re.is_nan() | second)
            }
            #[inline(always)]
            fn sign_flags(self, out: Self) -> FpFlags {
                let finite = self.re.is_finite() & self.im.is_finite();
                let lost = |part: $T, out: $T| (out.abs() < <$T>::MIN_POSITIVE) & (part != 0.0);
                let tiny = lost(self.re, out.re) | lost(self.im, out.im);
                let too_long = finite & self.re.hypot(self.im).is_infinite();
                FpFlags::OVERFLOW.when(too_long) | FpFlags::UNDERFLOW.when(tiny & finite & !too_long)
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                let ordered = !self.im.is_nan() & !other.im.is_nan();
                (self.re < other.re) & ordered | (self.re == other.re) & (self.im < other.im)
            }
            #[inline(always)]
            fn less_equal(self, other: Self) -> bool {
                let ordered = !self.im.is_nan() & !other.im.is_nan();
                (self.re < other.re) & ordered | (self.re == other.re) & (self.im <= other.im)
            }
        }
    )*};
}
// The lower bound: its square is below all ratios, its cube below all products, whose last digit is
// the smallest possible difference; that times the bound is still a normal number.
complexes!(f32, 1.0 / 1048576.0; f64, 1e-60);

/// The parts, the real one first if `real_dominates`. Selecting before dividing avoids divisions that are not
/// requested.
#[inline(always)]
fn parts_by_magnitude<T>(a: Complex<T>, real_dominates: bool) -> (T, T) {
    if real_dominates { (a.re, a.im) } else { (a.im, a.re) }
}

/// The first number if `first`, else the second, part by part, which vectorises unlike a branch.
#[inline(always)]
fn select<T>(a: Complex<T>, b: Complex<T>, first: bool) -> Complex<T> {
    Complex { re: if first { a.re } else { b.re }, im: if first { a.im } else { b.im } }
}

/// Out of line, so that no other lane's division is computed along with it and raises flags.
#[cold]
#[inline(never)]
fn divide_by_zero<T: std::ops::Div<Output = T> + Default>(a: Complex<T>) -> Complex<T> {
    Complex { re: a.re / T::default(), im: a.im / T::default() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values near and at the bounds of the flagless range; some cancel up to the last digit.
    fn parts(low: f64) -> impl Strategy<Value = f64> {
        let ends =
            prop::sample::select(vec![0.0, low, 1.0 / low, 1.0, 3.0, f64::INFINITY, f64::NAN]);
        let near = (prop::sample::select(vec![low, 1.0 / low, 1.0]), -2..3_i32);
        let near = near.prop_map(|(end, digits)| end * (1.0 + f64::from(digits) * f64::EPSILON));
        let wide =
            (1.0..2.0_f64, -1.3..1.3_f64).prop_map(move |(one, power)| one * low.powf(power));
        (prop_oneof![ends, near, wide], any::<bool>())
            .prop_map(|(part, sign)| if sign { -part } else { part })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn flagless_arguments_raise_no_flag(one in prop::array::uniform4(parts(1e-60))) {
            let [a, b] = [Complex::new(one[0], one[1]), Complex::new(one[2], one[3])];
            if a.divides_without_flags(b) {
                prop_assert_eq!(a.divide_flags(b, a), FpFlags::NONE);
            }
            if b.reciprocal_without_flags() {
                prop_assert_eq!(b.reciprocal_flags(b), FpFlags::NONE);
            }
        }

        #[test]
        fn flagless_arguments_raise_no_flag_in_single_precision(
            one in prop::array::uniform4(parts(1.0 / 1048576.0)),
        ) {
            let one = one.map(|part| part as f32);
            let [a, b] = [Complex::new(one[0], one[1]), Complex::new(one[2], one[3])];
            if a.divides_without_flags(b) {
                prop_assert_eq!(a.divide_flags(b, a), FpFlags::NONE);
            }
            if b.reciprocal_without_flags() {
                prop_assert_eq!(b.reciprocal_flags(b), FpFlags::NONE);
            }
        }
    }
}
