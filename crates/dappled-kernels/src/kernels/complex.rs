//! complex64 and complex128, by NumPy's formulas.

use num_complex::Complex;

use super::arithmetic::Arithmetic;
use super::library;
use super::watch::Watch;
use crate::Flags;

/// Numbers whose parts are put one beside the other at a time.
const BESIDE: usize = 64;

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
            /// The one place with a fused multiply-add: NumPy's own vector loop has it, for
            /// every array on every CPU since 2013, so its bits are these.
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                let re = self.re.mul_add(other.re, -(self.im * other.im));
                Self::new(re, self.re.mul_add(other.im, self.im * other.re))
            }
            /// Smith's algorithm, as NumPy writes it. Its two cases are chosen before anything
            /// is divided: computed side by side, each would raise flags that are not its own.
            #[inline(always)]
            fn divide(self, by: Self) -> Self {
                if (by.re == 0.0) & (by.im == 0.0) {
                    return divided_by_zero(self);
                }
                let flat = by.re.abs() >= by.im.abs();
                let (large, small) = in_order(by, flat);
                let (along, across) = in_order(self, flat);
                let ratio = small / large;
                let scale = 1.0 / (large + small * ratio);
                let turned = along * ratio;
                let (from, less) = if flat { (across, turned) } else { (turned, across) };
                Self::new((along + across * ratio) * scale, (from - less) * scale)
            }
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                one_of(self, other, Arithmetic::is_nan(self) | self.less_equal(other))
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                one_of(self, other, Arithmetic::is_nan(self) | other.less_equal(self))
            }
            /// NumPy's vector loop: an infinity beats a NaN, and nothing overflows on the way.
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
            /// Their parts one beside the other first: else the compiler makes no vectors of them.
            #[inline(always)]
            fn absolutes(many: &[Self], out: &mut [$T]) {
                let (mut re, mut im) = ([0.0; BESIDE], [0.0; BESIDE]);
                for (out, many) in out.chunks_mut(BESIDE).zip(many.chunks(BESIDE)) {
                    re.iter_mut().zip(many).for_each(|(re, one)| *re = one.re);
                    im.iter_mut().zip(many).for_each(|(im, one)| *im = one.im);
                    let parts = re.iter().zip(&im);
                    out.iter_mut().zip(parts).for_each(|(out, (&re, &im))| *out = Self::new(re, im).absolute());
                }
            }
            #[inline(always)]
            fn fmin(self, other: Self) -> Self {
                one_of(self, other, Arithmetic::is_nan(other) | self.less_equal(other))
            }
            #[inline(always)]
            fn fmax(self, other: Self) -> Self {
                one_of(self, other, Arithmetic::is_nan(other) | other.less_equal(self))
            }
            /// The point of the unit circle in its direction; of two infinities, none. What is too long
            /// to be measured goes up or down, as NumPy says.
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
            /// Smith's algorithm again.
            #[inline(always)]
            fn reciprocal(self) -> Self {
                let flat = self.im.abs() <= self.re.abs();
                let (large, small) = in_order(self, flat);
                let ratio = small / large;
                let scale = large + small * ratio;
                let (re, im) = if flat { (1.0, -ratio) } else { (ratio, -1.0) };
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
                library::sqrt_of_complex(self)
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
            /// Where no part is very large or small, nothing that is divided, multiplied or
            /// taken away is either.
            #[inline(always)]
            fn divides_quietly(self, by: Self) -> bool {
                let fits = |part: $T| (part == 0.0) | ((part.abs() >= $LOW) & (part.abs() <= 1.0 / $LOW));
                let all = fits(self.re) & fits(self.im) & fits(by.re) & fits(by.im);
                all & ((by.re != 0.0) | (by.im != 0.0))
            }
            #[inline(always)]
            fn orders_quietly(self, other: Self) -> bool {
                !Arithmetic::is_nan(self) & !Arithmetic::is_nan(other)
            }
            #[inline(always)]
            fn inverts_quietly(self) -> bool {
                Self::new(1.0, 0.0).divides_quietly(self)
            }
            // NumPy compares with instructions that signal a NaN; not all its loops tell of it.
            #[inline(always)]
            fn divide_raises(self, by: Self, _: Self) -> Flags {
                let mut watch = Watch::default();
                if (by.re == 0.0) & (by.im == 0.0) {
                    watch.quotient(self.re, 0.0);
                    watch.quotient(self.im, 0.0);
                    return watch.0;
                }
                let flat = by.re.abs() >= by.im.abs();
                let (large, small) = in_order(by, flat);
                let (along, across) = in_order(self, flat);
                let ratio = watch.quotient(small, large);
                let [product, turned, turned_across] =
                    [small, along, across].map(|part| watch.product(part, ratio));
                let length = watch.sum(large, product);
                let scale = watch.quotient(1.0, length);
                let re = watch.sum(along, turned_across);
                let im = watch.sum(across, -turned);
                watch.product(re, scale);
                watch.product(im, scale);
                watch.0 | Flags::INVALID.when(Arithmetic::is_nan(by))
            }
            #[inline(always)]
            fn reciprocal_raises(self, _: Self) -> Flags {
                let mut watch = Watch::default();
                let flat = self.im.abs() <= self.re.abs();
                let (large, small) = in_order(self, flat);
                let ratio = watch.quotient(small, large);
                let product = watch.product(small, ratio);
                let scale = watch.sum(large, product);
                watch.quotient(1.0, scale);
                watch.quotient(ratio, scale);
                watch.0 | Flags::INVALID.when(Arithmetic::is_nan(self))
            }
            #[inline(always)]
            fn order_raises(self, other: Self) -> Flags {
                let second = (self.re == other.re) & (self.im.is_nan() | other.im.is_nan());
                Flags::INVALID.when(self.re.is_nan() | other.re.is_nan() | second)
            }
            #[inline(always)]
            fn sign_raises(self, out: Self) -> Flags {
                let finite = self.re.is_finite() & self.im.is_finite();
                let lost = |part: $T, out: $T| (out.abs() < <$T>::MIN_POSITIVE) & (part != 0.0);
                let tiny = lost(self.re, out.re) | lost(self.im, out.im);
                let too_long = finite & self.re.hypot(self.im).is_infinite();
                Flags::OVERFLOW.when(too_long) | Flags::UNDERFLOW.when(tiny & finite & !too_long)
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
// The low end: its square is below all ratios, its cube below all products, the last digit of which is
// the least that a difference has; that times the low end is a number with all its digits.
complexes!(f32, 1.0 / 1048576.0; f64, 1e-60);

/// Its parts, the real one first if it is flat. So chosen, nothing is divided but what is asked.
#[inline(always)]
fn in_order<T>(a: Complex<T>, flat: bool) -> (T, T) {
    if flat { (a.re, a.im) } else { (a.im, a.re) }
}

/// The first if it is so, else the second, part by part: a branch would not be a vector's.
#[inline(always)]
fn one_of<T>(a: Complex<T>, b: Complex<T>, first: bool) -> Complex<T> {
    Complex { re: if first { a.re } else { b.re }, im: if first { a.im } else { b.im } }
}

/// Apart, so that no other lane's division is computed along with it: its flags would show.
#[cold]
#[inline(never)]
fn divided_by_zero<T: std::ops::Div<Output = T> + Default>(a: Complex<T>) -> Complex<T> {
    Complex { re: a.re / T::default(), im: a.im / T::default() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// About the ends of what is quiet, and at them; parts of which two cancel, but for the last digit.
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
        fn what_is_quiet_signals_nothing(one in prop::array::uniform4(parts(1e-60))) {
            let [a, b] = [Complex::new(one[0], one[1]), Complex::new(one[2], one[3])];
            if a.divides_quietly(b) {
                prop_assert_eq!(a.divide_raises(b, a), Flags::NONE);
            }
            if b.inverts_quietly() {
                prop_assert_eq!(b.reciprocal_raises(b), Flags::NONE);
            }
        }

        #[test]
        fn what_is_quiet_in_single_precision_signals_nothing(
            one in prop::array::uniform4(parts(1.0 / 1048576.0)),
        ) {
            let one = one.map(|part| part as f32);
            let [a, b] = [Complex::new(one[0], one[1]), Complex::new(one[2], one[3])];
            if a.divides_quietly(b) {
                prop_assert_eq!(a.divide_raises(b, a), Flags::NONE);
            }
            if b.inverts_quietly() {
                prop_assert_eq!(b.reciprocal_raises(b), Flags::NONE);
            }
        }
    }
}
