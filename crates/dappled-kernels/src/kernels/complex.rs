//! complex64 and complex128, by NumPy's formulas.

use num_complex::Complex;

use super::arithmetic::Arithmetic;

macro_rules! complexes {
    ($($T:ty),*) => {$(
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
            /// Smith's algorithm, as NumPy writes it.
            #[inline(always)]
            fn divide(self, by: Self) -> Self {
                if by.re.abs() >= by.im.abs() {
                    if by.re == 0.0 && by.im == 0.0 {
                        return Self::new(self.re / by.re.abs(), self.im / by.re.abs());
                    }
                    let ratio = by.im / by.re;
                    let scale = 1.0 / (by.re + by.im * ratio);
                    Self::new((self.re + self.im * ratio) * scale, (self.im - self.re * ratio) * scale)
                } else {
                    let ratio = by.re / by.im;
                    let scale = 1.0 / (by.im + by.re * ratio);
                    Self::new((self.re * ratio + self.im) * scale, (self.im * ratio - self.re) * scale)
                }
            }
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                if self.re.is_nan() || self.im.is_nan() || self.less_equal(other) { self } else { other }
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                if self.re.is_nan() || self.im.is_nan() || other.less_equal(self) { self } else { other }
            }
            /// NumPy's vector loop: an infinity beats a NaN, and nothing overflows on the way.
            #[inline(always)]
            fn absolute(self) -> $T {
                let (re, im) = (self.re.abs(), self.im.abs());
                let (larger, smaller) = if re > im { (re, im) } else { (im, re) };
                let ratio = smaller / larger;
                let length = ratio.mul_add(ratio, 1.0).sqrt() * larger;
                if re == <$T>::INFINITY || im == <$T>::INFINITY {
                    <$T>::INFINITY
                } else if larger == 0.0 && smaller == 0.0 {
                    0.0
                } else {
                    length
                }
            }
            #[inline(always)]
            fn negative(self) -> Self {
                Self::new(-self.re, -self.im)
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                (self.re == other.re) & (self.im == other.im)
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
complexes!(f32, f64);
