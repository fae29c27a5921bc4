//! The operations on one element, one method each, implemented per dtype family.

use crate::types::element::Element;
use crate::types::fp_flags::FpFlags;

/// The operations on one element.
///
/// Operations that NumPy lacks for a dtype are not implemented for it; `Program::check` rejects
/// them.
pub(crate) trait Arithmetic: Element {
    /// The type of the absolute value.
    type Real: Element;

    fn add(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn minimum(self, other: Self) -> Self;
    fn maximum(self, other: Self) -> Self;
    fn absolute(self) -> Self::Real;
    fn equal(self, other: Self) -> bool;
    fn less(self, other: Self) -> bool;
    fn less_equal(self, other: Self) -> bool;
    fn is_true(self) -> bool;

    /// The absolute values of a slice.
    #[inline(always)]
    fn absolute_all(many: &[Self], out: &mut [Self::Real]) {
        out.iter_mut().zip(many).for_each(|(out, one)| *out = one.absolute());
    }

    // Defaults for bools and integers.
    #[inline(always)]
    fn fmin(self, other: Self) -> Self {
        self.minimum(other)
    }
    #[inline(always)]
    fn fmax(self, other: Self) -> Self {
        self.maximum(other)
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
    #[inline(always)]
    fn is_infinite(self) -> bool {
        false
    }
    #[inline(always)]
    fn floor(self) -> Self {
        self
    }
    #[inline(always)]
    fn ceil(self) -> Self {
        self
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        self
    }
    #[inline(always)]
    fn conjugate(self) -> Self {
        self
    }

    fn subtract(self, _: Self) -> Self {
        no_loop()
    }
    fn divide(self, _: Self) -> Self {
        no_loop()
    }
    fn floor_divide(self, _: Self) -> Self {
        no_loop()
    }
    /// Divides a slice by one divisor. Returns false, with nothing done, if that is no faster than
    /// one by one.
    #[inline(always)]
    fn floor_divide_all(_values: &[Self], _by: Self, _out: &mut [Self]) -> bool {
        false
    }
    fn remainder(self, _: Self) -> Self {
        no_loop()
    }
    fn fmod(self, _: Self) -> Self {
        no_loop()
    }
    fn and(self, _: Self) -> Self {
        no_loop()
    }
    fn or(self, _: Self) -> Self {
        no_loop()
    }
    fn xor(self, _: Self) -> Self {
        no_loop()
    }
    fn negative(self) -> Self {
        no_loop()
    }
    fn sign(self) -> Self {
        no_loop()
    }
    fn reciprocal(self) -> Self {
        no_loop()
    }
    fn rint(self) -> Self {
        no_loop()
    }
    fn sqrt(self) -> Self {
        no_loop()
    }
    fn not(self) -> Self {
        no_loop()
    }

    // Flags of operations for which the CPU's flags are unusable.
    /// True if a cheap test shows that the division raises no flag.
    #[inline(always)]
    fn divides_without_flags(self, _: Self) -> bool {
        true
    }
    /// True if a cheap test shows that an ordered comparison raises no flag.
    #[inline(always)]
    fn compares_without_flags(self, _: Self) -> bool {
        true
    }
    /// True if a cheap test shows that the reciprocal raises no flag.
    #[inline(always)]
    fn reciprocal_without_flags(self) -> bool {
        false
    }
    #[inline(always)]
    fn divide_flags(self, _: Self, _: Self) -> FpFlags {
        FpFlags::NONE
    }
    #[inline(always)]
    fn compare_flags(self, _: Self) -> FpFlags {
        FpFlags::NONE
    }
    #[inline(always)]
    fn sign_flags(self, _: Self) -> FpFlags {
        FpFlags::NONE
    }
    #[inline(always)]
    fn floor_divide_flags(self, _: Self, _: Self) -> FpFlags {
        FpFlags::NONE
    }
    /// True for quotients whose floor division raised no flag, for any arguments.
    #[inline(always)]
    fn is_flagless_quotient(self) -> bool {
        false
    }
    #[inline(always)]
    fn is_flagless_remainder(self) -> bool {
        false
    }
    #[inline(always)]
    fn remainder_flags(self, _: Self, _: Self) -> FpFlags {
        FpFlags::NONE
    }
    #[inline(always)]
    fn reciprocal_flags(self, _: Self) -> FpFlags {
        FpFlags::NONE
    }
}

#[cold]
fn no_loop() -> ! {
    unreachable!("Program::check rejects steps without a loop")
}
