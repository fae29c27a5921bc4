//! Bools and integers. Integers wrap; division by zero gives 0, as in NumPy.

use super::arithmetic::Arithmetic;
use crate::element::Bool;

impl Arithmetic for Bool {
    type Real = Bool;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.or(other)
    }
    #[inline(always)]
    fn multiply(self, other: Self) -> Self {
        self.and(other)
    }
    #[inline(always)]
    fn minimum(self, other: Self) -> Self {
        self.and(other)
    }
    #[inline(always)]
    fn maximum(self, other: Self) -> Self {
        self.or(other)
    }
    #[inline(always)]
    fn absolute(self) -> Self {
        self
    }
    #[inline(always)]
    fn equal(self, other: Self) -> bool {
        self.is_true() == other.is_true()
    }
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        !self.is_true() & other.is_true()
    }
    #[inline(always)]
    fn less_equal(self, other: Self) -> bool {
        !self.is_true() | other.is_true()
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        (self.is_true() & other.is_true()).into()
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        (self.is_true() | other.is_true()).into()
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        (self.is_true() ^ other.is_true()).into()
    }
    #[inline(always)]
    fn not(self) -> Self {
        (!self.is_true()).into()
    }
}

macro_rules! integers {
    ($($T:ty: $absolute:expr, $below_zero:expr;)*) => {$(
        impl Arithmetic for $T {
            type Real = $T;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn floor_divide(self, other: Self) -> Self {
                if other == 0 {
                    return 0;
                }
                let (quotient, rest) = (self.wrapping_div(other), self.wrapping_rem(other));
                quotient.wrapping_sub((rest != 0 && $below_zero(rest, other)) as $T)
            }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                if other == 0 {
                    return 0;
                }
                let rest = self.wrapping_rem(other);
                if rest != 0 && $below_zero(rest, other) { rest.wrapping_add(other) } else { rest }
            }
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                self.min(other)
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                self.max(other)
            }
            #[inline(always)]
            fn absolute(self) -> Self {
                $absolute(self)
            }
            #[inline(always)]
            fn negative(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn less_equal(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
        }
    )*};
}

// The last column: does a truncated quotient lie above the floor, for this rest and divisor?
integers! {
    i8: i8::wrapping_abs, |rest, by| (rest < 0) != (by < 0);
    i16: i16::wrapping_abs, |rest, by| (rest < 0) != (by < 0);
    i32: i32::wrapping_abs, |rest, by| (rest < 0) != (by < 0);
    i64: i64::wrapping_abs, |rest, by| (rest < 0) != (by < 0);
    u8: std::convert::identity, |_, _| false;
    u16: std::convert::identity, |_, _| false;
    u32: std::convert::identity, |_, _| false;
    u64: std::convert::identity, |_, _| false;
}
