//! Integer division via floating point, since vector units divide floats only.
//!
//! Integers of up to 32 bits go through floats with more digits than dividend and divisor have
//! together, so that a quotient just below an integer is not rounded up to it.

/// Division by a nonzero integer. The one overflowing quotient wraps.
pub(crate) trait IntegerDivision: Copy {
    /// The quotient rounded down.
    fn floor_quotient(self, by: Self) -> Self;
    /// The quotient rounded toward zero.
    fn trunc_quotient(self, by: Self) -> Self;
}

macro_rules! through_floats {
    ($($Float:ty, $Bits:ty: $($T:ty),*;)*) => {$($(
        impl IntegerDivision for $T {
            #[inline(always)]
            fn floor_quotient(self, by: Self) -> Self {
                whole_digits((self as $Float / by as $Float).floor()) as $T
            }
            #[inline(always)]
            fn trunc_quotient(self, by: Self) -> Self {
                whole_digits((self as $Float / by as $Float).trunc()) as $T
            }
        }
    )*
        /// Converts an integral float to an integer, by adding a number so large that its last
        /// digit is the units digit.
        #[inline(always)]
        fn whole_digits(number: $Float) -> $Bits {
            const LARGE: $Float = (3_u64 << (<$Float>::MANTISSA_DIGITS - 2)) as $Float;
            (number + LARGE).to_bits().wrapping_sub(LARGE.to_bits()) as $Bits
        }
    )*};
}

mod single {
    use super::IntegerDivision;
    through_floats!(f32, i32: i8, i16, u8, u16;);
}

mod double {
    use super::IntegerDivision;
    through_floats!(f64, i64: i32, u32;);
}

impl IntegerDivision for i64 {
    #[inline(always)]
    fn floor_quotient(self, by: Self) -> Self {
        let quotient = self.wrapping_div(by);
        let rest = self.wrapping_sub(quotient.wrapping_mul(by));
        quotient.wrapping_sub(((rest != 0) & ((rest ^ by) < 0)) as i64)
    }
    #[inline(always)]
    fn trunc_quotient(self, by: Self) -> Self {
        self.wrapping_div(by)
    }
}

impl IntegerDivision for u64 {
    #[inline(always)]
    fn floor_quotient(self, by: Self) -> Self {
        self / by
    }
    #[inline(always)]
    fn trunc_quotient(self, by: Self) -> Self {
        self / by
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotients_of_all_bytes_agree_with_division() {
        for (a, by) in (i8::MIN..=i8::MAX).flat_map(|a| (i8::MIN..=i8::MAX).map(move |by| (a, by)))
        {
            if by != 0 {
                let exact = (f64::from(a) / f64::from(by)).floor();
                assert_eq!(a.floor_quotient(by), exact as i32 as i8, "{a} // {by}");
                assert_eq!(a.trunc_quotient(by), a.wrapping_div(by), "{a} / {by}");
            }
        }
    }

    /// Values near multiples, and at the ends of the range.
    fn near<T: Copy + std::fmt::Debug + 'static>(
        ends: Vec<T>,
        any: BoxedStrategy<T>,
    ) -> BoxedStrategy<T> {
        prop_oneof![prop::sample::select(ends), any].boxed()
    }

    macro_rules! quotients {
        ($($name:ident: $T:ty as $Wide:ty;)*) => {
            proptest! {
                #![proptest_config(ProptestConfig::with_cases(20_000))]
                $(#[test]
                fn $name(
                    by in near(vec![1, 2, 3, <$T>::MAX, <$T>::MIN, !0], any::<$T>().boxed()),
                    times in any::<$T>(),
                    more in near(vec![0, 1, !0], any::<$T>().boxed()),
                ) {
                    let by = if by == 0 { 1 } else { by };
                    let a = times.wrapping_mul(by).wrapping_add(more);
                    let (wide, wide_by) = (a as $Wide, by as $Wide);
                    let floor = wide.div_euclid(wide_by) - (wide_by < 0 && wide.rem_euclid(wide_by) != 0) as $Wide;
                    prop_assert_eq!(a.floor_quotient(by), floor as $T, "{} // {}", a, by);
                    prop_assert_eq!(a.trunc_quotient(by), (wide / wide_by) as $T, "{} / {}", a, by);
                })*
            }
        };
    }
    quotients! {
        of_int16: i16 as i64;
        of_uint16: u16 as i64;
        of_int32: i32 as i64;
        of_uint32: u32 as i64;
        of_int64: i64 as i128;
        of_uint64: u64 as i128;
    }
}
